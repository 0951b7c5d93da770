"""Re-link inside the process of the tests, and let go of all database files."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.errors import AnonymizeError
from dbt_anonymize.extensions.custody.relink.released_rows import read_given_rows
from dbt_anonymize.extensions.custody.relink.run import relink as relink_rows
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.results import release_file
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.release.publish import publish
from dbt_anonymize.spec import Spec, load_specs
from tests.projects import Project

SPEC = "anonymizations/customers.yml"
PURPOSE = "contact tracing"
POLICY = "relinking: {purposes: [contact tracing, quality review], highest_information_loss: 0.6}\n"
VAULT = "vault.main.customers_identifiers"
RELEASED = "main_release.customers_anonymized"
AUDIT = "vault.main.customers_relinkings"

Groups = dict[str, set[tuple[Any, ...]]]


def relink(
    project: Project,
    given: str | bytes,
    *arguments: str,
    purpose: str | None = PURPOSE,
    name: str = "customers",
) -> Result:
    """Run `dbt-anonymize relink` on what is given, which must not show a traceback."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    why = () if purpose is None else ("--purpose", purpose)
    command = ["relink", name, *why, "--project-dir", str(project.folder), *arguments]
    result = CliRunner().invoke(app, command, input=given)
    DuckDBConnectionManager.close_all_connections()
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert "Traceback" not in result.output
    return result


def as_csv(*values: str, column: str = "cqi") -> str:
    """Return released rows."""
    text = io.StringIO()
    csv.writer(text).writerows([["gender", column], *(["*", value] for value in values)])
    return text.getvalue()


def groups_of(project: Project) -> Groups:
    """Return who is in each released group, by the effort and the source, not by the vault."""
    found: Groups = {}
    sql = """select equivalence_class, customer_id, "full name", "e-mail"
        from customers_effort_3 join customers using (customer_id) where not is_suppressed"""
    for cqi, *person in project.query(sql):
        found.setdefault(cqi, set()).add(tuple(person))
    return found


@dataclass(frozen=True)
class Session:
    """An open warehouse in which requests are made one after the other."""

    warehouse: Warehouse
    spec: Spec
    groups: Groups

    def ask(self, *values: str, spec: Spec | None = None, purpose: str | None = PURPOSE) -> Groups:
        """Return who is shown for rows with these values."""
        spec = spec or self.spec
        link = "token" if spec.mapping == "token" else "cqi"
        given = read_given_rows(io.BytesIO(as_csv(*values, column=link).encode()), link)
        found: Groups = {}
        for batch in relink_rows(self.warehouse, spec, purpose=purpose, input_rows=given).batches:
            for value, *person in batch:
                found.setdefault(value, set()).add(tuple(person))
        return found

    def refuse(
        self, error: type[AnonymizeError], says: str, *values: str, **options: Any
    ) -> dict[str, Any]:
        """Assert that a request is refused and that the last attempt says so; return it."""
        with pytest.raises(error) as caught:
            self.ask(*values, **options)
        assert says in str(caught.value)
        last = self.audit()[-1]
        assert (last["outcome"], last["shown_groups"], last["shown_people"]) == ("refused", 0, 0)
        assert last["reason"] == str(caught.value)
        return last

    def audit(self) -> list[dict[str, Any]]:
        """Return the attempts, in their order."""
        rows = self.warehouse.rows(f"select * from {AUDIT} order by attempt")
        names = self.warehouse.rows(f"select column_name from (describe {AUDIT})")
        return [dict(zip((name for (name,) in names), row, strict=True)) for row in rows]

    def execute(self, sql: str) -> None:
        """Change the warehouse."""
        self.warehouse.rows(sql)

    def publish(self) -> None:
        """Write the released relation as it is now into the file."""
        publish(
            self.warehouse.cursor(),
            relation=RELEASED,
            table="customers_anonymized",
            folder=".",
            path=str(release_file(self.warehouse, "customers")),
        )

    @contextlib.contextmanager
    def changed(self, table: str, change: str) -> Iterator[None]:
        """Change a table and put its rows back."""
        self.execute(f"create or replace temporary table backup as from {table}")
        self.execute(change)
        yield
        self.execute(f"delete from {table}")
        self.execute(f"insert into {table} from backup")


@contextlib.contextmanager
def open_session(project: Project, groups: Groups | None = None) -> Iterator[Session]:
    """Open the warehouse of a project; no other may be open in this process meanwhile."""
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    groups = groups_of(project) if groups is None else groups
    (spec,) = load_specs(project.folder, ["customers"])
    try:
        with open_warehouse(find_project(project.folder)) as warehouse:
            yield Session(warehouse, spec, groups)
    finally:
        DuckDBConnectionManager.close_all_connections()


def audit_of(project: Project) -> list[dict[str, Any]]:
    """Return the attempts of a project that nobody has open."""
    with project.connection() as connection:
        found = connection.execute(f"select * from {AUDIT} order by attempt")
        names = [column[0] for column in found.description or []]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
