"""Projects without Python models, and the command that does what those would."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.project.generate import generate
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import closed_vaults
from tests.projects import Project

WITHOUT_PYTHON = "vars: {dbt_anonymize_python: false}\n"


def command(project: Project, *arguments: str) -> Result:
    """Run a command of the package in this process, which must not show a traceback."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    result = CliRunner().invoke(
        app,
        [*arguments, "--project-dir", str(project.folder), "--profiles-dir", str(project.folder)],
    )
    DuckDBConnectionManager.close_all_connections()
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def without_python(project: Project, folder: Path) -> Project:
    """Copy a built project and take Python out of its models."""
    copy = project.copy(folder)
    copy.edit("dbt_project.yml", lambda text: text + WITHOUT_PYTHON)
    generate(copy.folder)
    return copy


def rows_written(project: Project) -> str:
    """Return what a command says of as many rows as the evaluation of a project has."""
    ((number,),) = project.query("select count(*) from customers_evaluation")
    return f"customers_evaluation_rows: {number:,} rows."


@contextlib.contextmanager
def closed(project: Project) -> Iterator[None]:
    """Close the vault as a command does, for calls of dbt by hand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_PROFILES_DIR", str(project.folder))
        with closed_vaults(find_project(project.folder), None):
            yield


@pytest.fixture
def commanded(built_consumer: Project, tmp_path: Path) -> Project:
    """Give the stranger's project, whose models are SQL now; nothing is built of it anew."""
    return without_python(built_consumer, tmp_path / "commanded")
