"""Files beside the modules are in the wheel too."""

from __future__ import annotations

import subprocess
import tomllib

from tests.projects import REPOSITORY

PACKAGE = REPOSITORY / "python" / "dbt_anonymize"


def test_every_file_of_the_package_is_declared() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["dbt_anonymize"]
    declared = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PACKAGE,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    files = {PACKAGE / name for name in listed if name and not name.endswith(".py")}
    assert sorted(path for path in files if path.is_file()) == sorted(
        path for path in declared if path.is_file() and path.suffix not in {".py", ".pyc"}
    )
