"""A DuckLake as warehouse: the project that `new` starts, built with its tables in a catalog."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import duckdb
import pytest

from tests.projects import run_command

pytestmark = [pytest.mark.slow, pytest.mark.dbt]

CATALOG = '- {path: "ducklake:lake.ducklake", alias: lake}'


def install_extension(home: Path) -> None:
    """Copy the extension of the package to where DuckDB looks for it; without one, skip."""
    package = find_spec("duckdb_extension_ducklake")
    if package is None or package.origin is None:
        pytest.skip("NOT TESTED: DuckLake. Run `make ducklake`.")
    (file,) = Path(package.origin).parent.rglob("*.duckdb_extension")
    platform = duckdb.sql("pragma platform").fetchall()[0][0]
    folder = home / ".duckdb" / "extensions" / file.parent.name / platform
    folder.mkdir(parents=True)
    shutil.copy(file, folder)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a project whose tables lie in a DuckLake, and its vault in a file as always."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("lake")
    install_extension(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        run_command("dbt-anonymize new --yes", folder)
        profile = folder / "profiles.yml"
        text = profile.read_text(encoding="utf-8")
        assert "      attach:\n" in text
        text = text.replace("      attach:\n", f"      attach:\n        {CATALOG}\n", 1)
        profile.write_text(text.rstrip("\n") + "\n      database: lake\n", encoding="utf-8")
        yield folder


def test_the_starter_is_built_shown_and_verified(lake: Path) -> None:
    assert "Completed successfully" in run_command("dbt build", lake)
    assert "is chosen" in run_command("dbt-anonymize results", lake)
    assert "FAILED" not in run_command("dbt-anonymize verify", lake)
    assert (lake / "lake.ducklake").exists()
