"""A warehouse whose relations are copied into a DuckDB in memory, where all checks run.

Each relation is copied once, when a check asks for it, under the same name. Nothing is written to
disk, so the copies must fit into memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.engines import WRITTEN, in_memory, is_refused, server_of
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class CopiedWarehouse(Warehouse):
    """A server, and a DuckDB with copies of the requested relations.

    ``original`` is the server itself. Of a relation in ``needed`` only these columns are copied, of
    others all.
    """

    original: Warehouse
    session: duckdb.DuckDBPyConnection
    needed: Mapping[str, Collection[str]] = field(default_factory=dict)
    # The relation of the server by the name of its copy.
    _copied: dict[str, Any] = field(default_factory=dict)

    @property
    def written(self) -> str:
        """SQL of a value as text, as the server writes it, with braces for the value."""
        return WRITTEN

    def relation_of_ref(self, name: str, *, remedy: str | None = None) -> Any:
        """Copy the existing relation of a model, seed or snapshot, and return it."""
        return self._copy(self.original.relation_of_ref(name, remedy=remedy))

    def relation_of_source(self, source: str, table: str) -> Any:
        """Copy the existing relation of a dbt source, and return it."""
        return self._copy(self.original.relation_of_source(source, table))

    def find(self, relation: Any) -> Any:
        """Copy a relation, and return it; None if it does not exist."""
        original = self.original.find(relation)
        return original and self._copy(original)

    def columns(self, relation: Any) -> list[tuple[str, str]]:
        """Return name and data type of each column, as the server has them."""
        return self.original.columns(self._copied.get(str(relation), relation))

    def cursor(self) -> Any:
        """Return a connection of the DuckDB with the copies."""
        return self.session.cursor()

    def _copy(self, relation: Any) -> Any:
        copied = relation.replace(quote_character='"').quote(schema=True, identifier=True)
        name, table = str(relation), str(copied)
        if table not in self._copied:
            if copied.include_policy.database:  # not every engine has one
                database = quote_name(str(relation.database))
                self.session.execute(f"attach if not exists ':memory:' as {database}")
            schema = copied.without_identifier()
            self.session.execute(f"create schema if not exists {schema}")
            # A role without rights on a relation sees no columns.
            if not self.original.columns(relation):
                raise _unreadable(name)
            with explain_read_errors(self.original, name):
                server_of(self.original).copy_relation(
                    self.original, relation, self.session, table, only=self.needed.get(name)
                )
            self._copied[table] = relation
        return copied


@contextlib.contextmanager
def explain_read_errors(warehouse: Warehouse, name: str) -> Iterator[None]:
    """Raise missing rights on a relation as an error that names who may read it."""
    try:
        yield
    except Exception as error:
        if not is_refused(warehouse, error):
            raise
        raise _unreadable(name) from None


def _unreadable(name: str) -> VerificationError:
    return VerificationError(
        f"{name}: must be readable to whoever verifies; the server refused it. Run `verify` as the "
        "role that builds, or as a custodian who may read this relation (`grants` of dbt, and "
        "`usage` of the schema)."
    )


@contextlib.contextmanager
def copied_to_duckdb(warehouse: Warehouse, spec: Spec) -> Iterator[CopiedWarehouse]:
    """Yield a warehouse that copies relations of a server into a DuckDB in memory."""
    with in_memory() as session:
        server_of(warehouse).write_alike(warehouse, session)
        yield CopiedWarehouse(
            warehouse.adapter,
            warehouse.manifest,
            original=warehouse,
            session=session,
            needed=_needed_columns(warehouse, spec),
        )


def _needed_columns(warehouse: Warehouse, spec: Spec) -> dict[str, set[str]]:
    """Return the columns to copy of tables that a spec declares only in part."""
    identifying = {spec.record_key, spec.person_column, *spec.identifiers}
    needed = {
        str(warehouse.relation_of(spec.source)): identifying
        | {*spec.quasi_identifiers, *spec.kept_columns}
    }
    if spec.population_relation:
        population = str(warehouse.relation_of(spec.population_relation))
        needed[population] = needed.get(population, set()) | {*spec.quasi_identifiers}
    return needed
