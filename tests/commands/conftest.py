"""Projects without Python models, and the command that does what those would."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.project.generate import generate
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


@pytest.fixture
def commanded(built_consumer: Project, tmp_path: Path) -> Project:
    """Give the stranger's project, whose models are SQL now; nothing is built of it anew."""
    return without_python(built_consumer, tmp_path / "commanded")
