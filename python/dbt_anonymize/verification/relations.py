"""What proofs read, and how: relations of the project, and the release by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.models import Source
from dbt_anonymize.warehouse import Warehouse

_ROWS_AT_ONCE = 100_000


def is_duckdb(warehouse: Warehouse) -> bool:
    """Tell whether the warehouse is a DuckDB file, so that a release is a file of its own."""
    return str(warehouse.adapter.type()) == "duckdb"


def quoted(warehouse: Warehouse, name: str) -> str:
    """Return the name of a column as SQL of the warehouse."""
    return str(warehouse.macro("_quote", name=name))


def text_of(warehouse: Warehouse, name: str) -> str:
    """Return a column as text, as SQL of the warehouse."""
    return str(warehouse.macro("_as_text", expression=quoted(warehouse, name)))


def as_text(expression: str) -> str:
    """Return the cast to text of DuckDB and PostgreSQL."""
    return f"cast({expression} as varchar)"


def source_relation(warehouse: Warehouse, source: Source) -> Any:
    """Return the relation of a table about people."""
    if source.source is not None:
        return warehouse.relation_of_source(*source.source)
    return warehouse.relation_of_ref(str(source.ref))


def stream(cursor: Any, sql: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a query in batches; nothing else may run on the cursor meanwhile."""
    cursor.execute(sql)
    while batch := cursor.fetchmany(_ROWS_AT_ONCE):
        yield [tuple(row) for row in batch]


def cursor_of(warehouse: Warehouse) -> Any:
    """Return a cursor of dbt's own connection."""
    return warehouse.adapter.connections.get_thread_connection().handle.cursor()


@dataclass(frozen=True)
class Released:
    """The release by itself: its file, or the released relation where there are no files.

    Parameters
    ----------
    cursor : DB-API cursor
        That of a connection which sees nothing but the file; elsewhere that of the warehouse.
    relation : str
        The released table, as SQL.
    columns : mapping
        Data type by column.
    is_file : bool
        Whether it is a DuckDB file.
    """

    cursor: Any
    relation: str
    columns: dict[str, str]
    is_file: bool

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        self.cursor.execute(sql)
        return [tuple(row) for row in self.cursor.fetchall()]

    def quoted(self, name: str) -> str:
        """Return the name of a column as SQL."""
        return quote_name(name)

    def bytes_of(self, name: str) -> str:
        """Return a column as the bytes that everybody sees, whatever its collation.

        A collation would make one class of texts that look different.
        """
        text = as_text(self.quoted(name))
        return f"encode({text})" if self.is_file else text


@contextlib.contextmanager
def open_release(warehouse: Warehouse, spec: Spec, release: Path) -> Iterator[Released]:
    """Open a release so that nothing else is seen.

    Parameters
    ----------
    warehouse : Warehouse
        Read only where the release is no file.
    spec : Spec
        The anonymization.
    release : Path
        The release file.

    Yields
    ------
    Released
        Open until the end of the block, for reading only.

    Raises
    ------
    VerificationError
        If the file is missing, cannot be read, or has no table of the release.
    """
    table = f"{spec.name}_anonymized"
    if not is_duckdb(warehouse):
        relation = warehouse.relation_of_ref(table)
        columns = dict(warehouse.columns(relation))
        yield Released(cursor_of(warehouse), str(relation), columns, is_file=False)
        return
    import duckdb  # noqa: PLC0415 (not every adapter has it)

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
        yield Released(connection, quote_name(table), columns, is_file=True)
