"""The engine on which attacks run: the warehouse's own DuckDB, with releases attached to it.

The attacker's knowledge is far larger than a release, so it stays in place; releases are attached
read-only, and intermediate tables are temporary tables of the connection.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.literals import quote_name, quote_path, quote_text
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.release.audit import read_error

_PREFIX = "dbt_anonymize_attack"


@dataclass
class Session:
    """The warehouse and its DuckDB connection, as attacks use them."""

    warehouse: Warehouse
    cursor: Any
    _attached: dict[Path, str] = field(default_factory=dict)
    _numbers: int = 0

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        self.cursor.execute(sql)
        return [tuple(row) for row in self.cursor.fetchall()]

    def row(self, sql: str) -> tuple[Any, ...]:
        """Return the only row of a query."""
        (row,) = self.rows(sql)
        return row

    def table(self, name: str, select: str) -> str:
        """Create a temporary table from a select and return its name, which is unique."""
        self._numbers += 1
        table = f"temp.main.{_PREFIX}_{self._numbers}_{name}"
        self.rows(f"create temporary table {table} as {select}")
        return table

    def columns(self, relation: str) -> dict[str, str]:
        """Return the type of each column of a relation, by its name."""
        described = self.rows(f"describe select * from {relation}")
        return {str(row[0]): str(row[1]) for row in described}

    def release_of(self, name: str, file: Path | None) -> str:
        """Return the table of a release: in its file or, with none, in the warehouse."""
        table = f"{name}_anonymized"
        if file is None:
            return str(self.warehouse.relation_of_ref(table))
        return self.released_table(file, table)

    def released_table(self, file: Path, name: str) -> str:
        """Attach a release file read-only; return its table of this name, or its only table.

        A missing file, another format, or several other tables are a `VerificationError`.
        """
        if not file.is_file():
            raise VerificationError(
                f"{file}: must be a release file; there is none. Run `dbt build`, or correct the "
                "path."
            )
        database = self._database_of(file)
        tables = [
            (str(schema), str(table))
            for schema, table in self.rows(
                "select schema_name, table_name from duckdb_tables() "
                f"where database_name = {quote_text(database)}"
            )
        ]
        chosen = [entry for entry in tables if entry[1] == name] or [
            entry for entry in tables if not entry[1].endswith("_about")
        ]
        if len(chosen) != 1:
            raise VerificationError(
                f"{file}: must hold the table {name}, or one table only; it holds "
                f"{len(tables)}. Give the file of a release."
            )
        return ".".join(quote_name(part) for part in (database, *chosen[0]))

    def _database_of(self, file: Path) -> str:
        """Attach a file, once, and return the name of its database."""
        place = file.resolve()
        if place in self._attached:
            return self._attached[place]
        database = f"{_PREFIX}_release_{len(self._attached)}"
        if reason := read_error(self.cursor, place):
            raise VerificationError(
                f"{file}: must be a release file of DuckDB that nobody writes; it could not be "
                f"read ({reason}). Build the release again, or correct the path."
            )
        self.rows(f"attach {quote_path(place)} as {quote_name(database)} (read_only)")
        self._attached[place] = database
        return database

    def close(self) -> None:
        """Detach the releases, and drop all temporary tables."""
        for database in self._attached.values():
            self.rows(f"detach {quote_name(database)}")
        self.cursor.close()


@contextlib.contextmanager
def attack_session(warehouse: Warehouse) -> Iterator[Session]:
    """Yield a session on a warehouse of DuckDB; it leaves nothing behind."""
    # A connection of its own: an error would end an open transaction of dbt's. Its temporary tables
    # vanish with it.
    cursor = warehouse.cursor().cursor()
    session = Session(warehouse, cursor)
    try:
        yield session
    finally:
        session.close()
