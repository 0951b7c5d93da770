"""Relations that checks read: those of the project, and the release by itself."""

from __future__ import annotations

import atexit
import contextlib
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.literals import quote_name, quote_path, quote_text
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.release.audit import about_table
from dbt_anonymize.spec import Spec


def text_of(name: str) -> str:
    """Return a column as text, as SQL of DuckDB."""
    return f"cast({quote_name(name)} as varchar)"


@dataclass(frozen=True)
class Released:
    """The release, by itself or attached to the warehouse: its table, as SQL, and data types."""

    cursor: Any
    relation: str
    columns: dict[str, str]

    @property
    def has_about(self) -> bool:
        """Tell whether the release, which was opened by itself, has a description."""
        about = quote_text(about_table(self.relation.strip('"')))
        return bool(self.rows(f"from duckdb_tables() where table_name = {about}"))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        self.cursor.execute(sql)
        return [tuple(row) for row in self.cursor.fetchall()]


@contextlib.contextmanager
def open_release(spec: Spec, release: Path) -> Iterator[Released]:
    """Open a release file alone for reading.

    A file that is missing, unreadable or lacks the released table is a `VerificationError`.
    """
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    table = f"{spec.name}_anonymized"
    if not release.is_file():
        raise VerificationError(
            f"{release}: must be the release file; there is none. Run `dbt build` first."
        )
    try:
        connection = duckdb.connect(str(release), read_only=True)
    except duckdb.Error as error:
        raise VerificationError(
            f"{release}: must be a DuckDB file that can be read ({type(error).__name__}). "
            "Run `dbt build` again."
        ) from error
    with connection:
        # Never a message of the driver: it could quote a value.
        columns = dict(
            connection.execute(
                "select column_name, data_type from duckdb_columns() where schema_name = 'main' "
                "and table_name = ? and not internal order by column_index",
                [table],
            ).fetchall()
        )
        if not columns:
            raise VerificationError(
                f"{release}: must hold the table {table}; it does not. Run `dbt build` again."
            )
        yield Released(connection, quote_name(table), columns)


@contextlib.contextmanager
def attached_release(
    warehouse: Warehouse, spec: Spec, release: Path, columns: dict[str, str]
) -> Iterator[Released]:
    """Attach a release file for reading, beside vault and source.

    Nothing else in this process may have it open. ``columns`` are those of `open_release`.
    """
    alias = f"release_{uuid.uuid4().hex}"
    # Lookups through dbt begin a transaction, in which nothing can be detached.
    connections = warehouse.adapter.connections
    connections.clear_transaction()
    cursor = warehouse.cursor()
    cursor.execute(f"attach {quote_path(release)} as {alias} (read_only)")
    try:
        table = quote_name(f"{spec.name}_anonymized")
        yield Released(cursor, f"{alias}.main.{table}", columns)
    finally:
        connections.clear_transaction()
        cursor.execute(f"detach {alias}")


def spill_in_private(warehouse: Warehouse) -> None:
    """Make DuckDB spill into a private folder, not beside the warehouse.

    The folder cannot be changed after its first use, so it stays until the process ends. Nothing is
    changed if an attached vault or the profile has set the folder.
    """
    ((current, file),) = warehouse.rows(
        "select current_setting('temp_directory'), path from duckdb_databases() "
        "where database_name = current_database()"
    )
    if current not in {f"{file}.tmp", ".tmp"}:
        return
    folder = tempfile.mkdtemp(prefix="dbt_anonymize_")  # mode 0700
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    warehouse.cursor().execute(f"set global temp_directory = {quote_text(folder)}")


def belongs_to(warehouse: Warehouse, spec: Spec, table: str) -> bool:
    """Tell whether a table belongs to an anonymization, by its name or that of its model."""
    prefix = f"{spec.name}_"
    return table.startswith(prefix) or any(
        node.alias == table and node.name.startswith(prefix)
        for node in warehouse.manifest.nodes.values()
    )


def members_relation(warehouse: Warehouse, spec: Spec) -> str:
    """Return the relation of the members that the vault remembers, where new records wait."""
    membership = warehouse.relation_of_ref(f"{spec.name}_membership")
    members = membership.incorporate(path={"identifier": f"{spec.name}_members"})
    if warehouse.find(members) is None:
        raise VerificationError(
            f"{spec.name}: the vault must remember who is released; {members} is not there. "
            "Restore it from a backup."
        )
    return str(members)


def people_of(warehouse: Warehouse, spec: Spec) -> str:
    """Return the records of the source without those that the vault withholds."""
    source = warehouse.relation_of(spec.source)
    if spec.mapping == "none":
        return str(source)
    withheld = warehouse.find_in_vault(spec.name, "withheld")
    if withheld is None:
        return str(source)
    key = text_of(spec.record_key)
    return f"(select * from {source} where {key} not in (select record_key from {withheld}))"  # noqa: S608
