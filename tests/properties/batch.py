"""Run one compiled statement on many small tables at once.

DuckDB takes far longer to plan the SQL of a macro than to run it on a few records. So the tables
that a statement reads are kept under one name with a number, and the statement, letter for letter,
becomes a lateral subquery: for each number it sees its own tables and nothing of the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import pytest

from tests.properties.warehouse import Row, Warehouse, quote

_RELATION = re.compile(r'"memory"\."main"\.("(?:[^"]|"")+")')


class Batch(Warehouse):
    """A warehouse whose tables are loaded once for each number; other tables are found too.

    Rows come without an order, and floats may differ in their last bits from those of the
    statement by itself, because sums run in another order.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        super().__init__(warehouse.connection, warehouse.statements)
        self.size = 0
        self._columns: dict[str, dict[str, str]] = {}
        self._rows: dict[str, list[tuple[object, ...]]] = {}
        self._loaded: set[str] = set()

    def begin(self) -> None:
        """Begin the next tables; all that is loaded from now on belongs to them."""
        self.size += 1

    def load(
        self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[object]]
    ) -> None:
        """Keep the rows of a table under the present number."""
        self._columns[table] = dict(columns)
        kept = self._rows.setdefault(table, [])
        kept += [(self.size - 1, *row) for row in rows]
        self._loaded.discard(table)

    def build(self, model: str, table: str | None = None) -> None:
        """Create the tables of a compiled model, one for each number."""
        name = table or model
        self.connection.execute(f"create or replace table {_all(name)} as {self._statement(model)}")
        described = self.connection.execute(f"describe {_all(name)}").fetchall()
        self._columns[name] = {column: sql_type for column, sql_type, *_ in described[1:]}
        self._loaded.add(name)

    def rows_of_each(self, model: str) -> list[list[Row]]:
        """Return what the statement of a compiled model selects from the tables of each number."""
        cursor = self.connection.execute(self._statement(model))
        names = [column[0] for column in (cursor.description or [])[1:]]
        found: list[list[Row]] = [[] for _ in range(self.size)]
        for number, *row in cursor.fetchall():
            found[number].append(dict(zip(names, row, strict=True)))
        return found

    def _statement(self, model: str) -> str:
        statement = self.statements[model]
        read = {m[1]: m[1][1:-1].replace('""', '"') for m in _RELATION.finditer(statement)}
        ours = {quoted: name for quoted, name in read.items() if name in self._columns}
        assert ours, f"{model} reads no table of the batch"
        for name in ours.values():
            self._create(name)
        own = ", ".join(
            f"{_own(name)} as materialized (select {', '.join(map(quote, self._columns[name]))} "
            f"from {_all(name)} as every where every.table_number = batch.table_number)"
            for name in ours.values()
        )
        renamed = _RELATION.sub(
            lambda match: _own(ours[match[1]]) if match[1] in ours else match[0], statement
        )
        return (
            f"select batch.table_number, found.* "
            f"from (select range as table_number from range({self.size})) as batch, "
            f"lateral (with {own} select * from (\n{renamed}\n) as selected) as found"
        )

    def _create(self, name: str) -> None:
        if name not in self._loaded:
            every = {"table_number": "bigint", **self._columns[name]}
            Warehouse.load(self, f"all of {name}", every, self._rows[name])
            self._loaded.add(name)


def _all(name: str) -> str:
    return quote(f"all of {name}")


def _own(name: str) -> str:
    return quote(f"own {name}")


def assert_same_rows(found: list[Row], expected: list[Row]) -> None:
    """Compare rows in any order, floats up to rounding."""
    assert len(found) == len(expected)
    for row, other in zip(_sorted(found), _sorted(expected), strict=True):
        assert list(row) == list(other)
        for name, value in row.items():
            is_float = isinstance(value, float)
            assert other[name] == (pytest.approx(value, rel=1e-9, abs=1e-9) if is_float else value)


def _sorted(rows: list[Row]) -> list[Row]:
    def exact_then_rounded(row: Row) -> tuple[list[str], list[str]]:
        exact = [repr(value) for value in row.values() if not isinstance(value, float)]
        return exact, [f"{v:.6g}" for v in row.values() if isinstance(v, float)]

    return sorted(rows, key=exact_then_rounded)
