"""Temporary tables of a check, dropped when it ends."""

from __future__ import annotations

import secrets
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.literals import quote_name


class Scratch:
    """A DuckDB connection, and the temporary tables that were made on it."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._prefix = f"linked_{secrets.token_hex(8)}"
        self._tables: list[str] = []

    def __enter__(self) -> Scratch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for table in self._tables if error is None else ():
            self._connection.execute(f"drop table if exists {table}")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return [tuple(row) for row in self._connection.execute(sql).fetchall()]

    def arrays(self, sql: str) -> dict[str, NDArray[Any]]:
        """Return the columns of a query, none of which has a NULL."""
        columns: dict[str, NDArray[Any]] = self._connection.execute(sql).fetchnumpy()
        return {name: np.ma.getdata(column) for name, column in columns.items()}

    def row(self, sql: str) -> tuple[Any, ...]:
        """Return the only row of a query."""
        (row,) = self.rows(sql)
        return row

    def table(self, name: str, select: str) -> str:
        """Create a temporary table from a select; return its name, which is unique."""
        table = f"temp.main.{quote_name(f'{self._prefix}_{len(self._tables)}_{name}')}"
        self._connection.execute(f"create temporary table {table} as {select}")
        self._tables.append(table)
        return table
