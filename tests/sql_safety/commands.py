"""Commands on a project, inside the process of the tests."""

from __future__ import annotations

from click.testing import Result
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.spec import load_specs
from tests.extensions import has
from tests.projects import Project
from tests.worlds.hostile import NAME

# What a terminal would obey, or what would turn a line round.
OBEYED = ("\x1b", "\x07", "\x9b", "\u202e")


def run(project: Project, *arguments: str) -> Result:
    """Run a command that must succeed and must show nothing that a terminal obeys."""
    result = invoke(*arguments, "--project-dir", str(project.folder))
    assert result.exit_code == 0, result.output
    return result


def invoke(*arguments: str) -> Result:
    """Run a command, which must not show a traceback or what a terminal obeys."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    result = CliRunner(env={"COLUMNS": "10000"}).invoke(app, list(arguments))
    DuckDBConnectionManager.close_all_connections()
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert "Traceback" not in result.output
    assert not any(character in result.output for character in OBEYED), result.output
    return result


def searched(project: Project) -> list[list[int]]:
    """Search if we can, and return the levels of the efforts that are then in the spec."""
    if has("search"):
        run(project, "search", NAME, "--efforts", "3")
    (spec,) = load_specs(project.folder, [NAME])
    return [list((effort.levels or {}).values()) for effort in spec.efforts]
