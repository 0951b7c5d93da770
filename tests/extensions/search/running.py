"""Run searches inside the process of the tests, and let go of all database files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.extensions.search.coded_guarantees import coded_guarantees
from dbt_anonymize.extensions.search.efforts import Options, Task
from dbt_anonymize.extensions.search.load import load_table
from dbt_anonymize.project import generate
from dbt_anonymize.spec import load_specs
from tests.projects import Project, warehouse_of

SPEC = "anonymizations/customers.yml"


def with_spec(project: Project, change: Callable[[str], str]) -> None:
    """Change the spec of the customers and generate its models."""
    project.edit(SPEC, change)
    generate.generate(project.folder, ())


def run(project: Project, *arguments: str, name: str = "customers") -> Result:
    """Run `dbt-anonymize search`, which must not show a traceback."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    arguments = ("search", name, "--project-dir", str(project.folder), *arguments)
    result = CliRunner().invoke(app, list(arguments))
    DuckDBConnectionManager.close_all_connections()
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert "Traceback" not in result.output
    return result


def text_of(result: Result) -> str:
    """Return what was printed, without the line breaks of a narrow terminal."""
    return " ".join(result.output.split())


def load(project: Project, name: str = "customers", **options: Any) -> Task:
    """Load what a search of a project works on."""
    (spec,) = load_specs(project.folder, [name])
    asked = Options(**({"efforts": 3, "measure": "loss"} | options))
    with warehouse_of(project) as warehouse:
        table = load_table(warehouse, spec, measure=asked.measure)
        return Task(spec, table, coded_guarantees(warehouse, spec), asked)
