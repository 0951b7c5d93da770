"""Files beside the modules are in the wheel too."""

from __future__ import annotations

import tomllib

from tests.projects import REPOSITORY

PACKAGE = REPOSITORY / "python" / "dbt_anonymize"


def test_every_file_of_the_package_is_declared() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["dbt_anonymize"]
    declared = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    files = {path for path in PACKAGE.rglob("*") if path.is_file()}
    assert not [p for p in files - declared if p.suffix not in {".py", ".pyc"}]
