"""Comparing tables to the last bit: rows as canonical text, tables as multisets of rows.

A row becomes one injective text: texts behind their length, NULL apart from any text, a double
whose text does not tell its bits (zeros, NaN) as its bits. A table is the number of its rows
and the sum of a keyed 64-bit hash of their texts. The key is drawn anew for every comparer, so
that nobody can choose values whose sums agree: two different tables pass with a chance of 2^-64.
That takes one pass over each table and no memory, whatever their size and order. Where a column
tells rows apart, a join shows for a third of that whether each row has its equal.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.verify.recomputation.tables import Tables

FLOATS = frozenset({"FLOAT", "DOUBLE"})
# Types whose texts have no bar, nor are they ever `NULL`.
_WITHOUT_BARS = FLOATS | {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "BOOLEAN", "UUID", "TIME"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "DATE", "TIMESTAMP"),
    *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"),
}


@dataclass(frozen=True)
class Comparison:
    """Rows that must be the same, in any order: those of a query, and those of a relation.

    ``columns`` are those of ``actual`` that are compared; by default it must have those of the
    query and no other, in the same order. ``subject`` names the finding. Rows that are the same
    have the same ``key``, which others should not have; without one many rows may be the same: each
    is hashed once and counted.
    """

    subject: str
    expected: str
    actual: str
    columns: tuple[str, ...] | None = None
    key: str | None = None


def normalized(expression: str, kind: str) -> str:
    """Return a value with one zero and one NaN, as the microdata hold it."""
    if kind not in FLOATS:
        return expression
    nan = f"cast('NaN' as {kind})"
    return f"case when isnan({expression}) then {nan} else cast({expression} + 0 as {kind}) end"


def row_text(types: dict[str, str]) -> str:
    """Return SQL of the canonical text of a row in parts, injective for columns of these types."""
    return ", ".join(_cell(quote_name(name), kind) for name, kind in types.items())


def _cell(column: str, kind: str) -> str:
    """Return one value as text that ends where it says: with its length first, or with a bar."""
    text = f"cast({column} as varchar)"
    if kind in FLOATS:
        bits = f"cast(cast({column} as bit) as varchar)"
        text = f"case when {column} = 0 or isnan({column}) then {bits} else {text} end"
    if kind.startswith("DECIMAL"):
        # Of a number alone, whatever scale its column has.
        text = (
            f"case when contains({text}, '.') then rtrim(rtrim({text}, '0'), '.') else {text} end"
        )
    if kind in _WITHOUT_BARS or kind.startswith("DECIMAL"):
        return f"coalesce({text}, 'NULL'), '|'"
    return f"coalesce(cast(strlen({text}) as varchar) || ':' || {text}, 'NULL')"


def _is_exact(kind: str) -> bool:
    """Tell whether values are equal only where they are the same."""
    return kind in _WITHOUT_BARS - FLOATS or kind.startswith("DECIMAL")


def _to_the_bit(column: str, kind: str) -> str:
    """Return what is equal only where a value is the same, whatever its collation."""
    if kind in FLOATS:
        return f"cast({column} as bit)"
    return column if _is_exact(kind) else f"encode({column})"


def _without_scale(kind: str) -> str:
    """Return a type as servers may have it of an expression, where decimals forget their scale."""
    return "DECIMAL" if kind.startswith("DECIMAL") else kind


@dataclass(frozen=True)
class Comparer:
    """Compares tables; what is expected of several is computed once."""

    tables: Tables
    _key: str = field(default_factory=lambda: secrets.token_hex(16))
    _known: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def differences(self, comparison: Comparison) -> str | None:
        """Say how columns, then rows of two tables differ; None for the same multiset of rows."""
        expected = self.tables.types(f"select * from ({comparison.expected}) as rows_")  # noqa: S608
        found = self.tables.types(f"select * from {comparison.actual}")  # noqa: S608
        if comparison.columns is not None:
            found = {name: kind for name, kind in found.items() if name in comparison.columns}
        kind = str if self.tables.has_order else _without_scale
        kinds = [[(name, kind(of)) for name, of in side.items()] for side in (expected, found)]
        if kinds[0] != kinds[1]:
            return "its columns or their types are others" + _named(expected, found)
        sides = (f"({comparison.expected})", comparison.actual)
        is_plain = all(
            _is_exact(kind) or kind in {*FLOATS, "VARCHAR"} for kind in expected.values()
        )
        has_key = is_plain and comparison.key and expected == found
        if has_key and self._are_equal(sides, expected, str(comparison.key)):
            return None
        types = expected if is_plain and not comparison.key else {}
        hash_ = f"md5_number_lower(concat({quote_text(self._key)}, {row_text(expected)}))"
        if self._sum(sides[0], hash_, types) == self._sum(sides[1], hash_, types):
            return None
        ((missing, surplus),) = self.tables.rows(_counted(sides, hash_))
        return (
            f"{int(missing or 0):,} rows are missing and {int(surplus or 0):,} should not be there"
        )

    def _are_equal(self, sides: tuple[str, str], types: dict[str, str], key: str) -> bool:
        """Tell whether each row has an equal one on the other side, with a ``key`` of its own.

        If as many keys are found in equal rows as the second side has rows, each of these has a key
        of its own and an equal row. If joining makes no more rows, none of the first side is beside
        them.
        """
        a, b = (
            {name: _to_the_bit(f"{side}.{quote_name(name)}", types[name]) for name in types}
            for side in "ab"
        )
        same = {name: f"{a[name]} is not distinct from {b[name]}" for name in types}
        ((rows, found),) = self.tables.rows(
            "select count(*), "  # noqa: S608
            f"count(distinct {b[key]}) filter (where {' and '.join(same.values())}) "
            f"from {sides[0]} as a left join {sides[1]} as b on {same[key]}"
        )
        ((records,),) = self.tables.rows(f"select count(*) from {sides[1]} as b")  # noqa: S608
        return bool(rows == found == records)

    def _sum(self, relation: str, hash_: str, repeated: dict[str, str]) -> tuple[Any, ...]:
        """Return the number of rows and the sum of their hashes; ``repeated`` rows are counted."""
        sql = f"select count(*), sum(cast({hash_} as hugeint)) from {relation} as rows_"  # noqa: S608
        if repeated:
            # A name that no column has.
            times = quote_name(f"times {self._key}")
            values = (f"any_value({quote_name(n)}) as {quote_name(n)}" for n in repeated)
            alike = (_to_the_bit(quote_name(n), kind) for n, kind in repeated.items())
            sql = (
                f"select sum({times}), sum(cast({hash_} as hugeint) * {times}) from "  # noqa: S608
                f"(select {', '.join(values)}, count(*) as {times} from {relation} as rows_ "
                f"group by {', '.join(alike)}) as rows_"
            )
        if sql not in self._known:
            (self._known[sql],) = self.tables.rows(sql)
        return self._known[sql]


def _named(expected: dict[str, str], found: dict[str, str]) -> str:
    """Name the columns of which one side has none, or of another type; none but declared ones."""
    changed = [name for name, kind in expected.items() if found.get(name) != kind]
    return f" ({', '.join(changed)})" if changed else ""


def _counted(sides: tuple[str, str], hash_: str) -> str:
    """Query of the rows of one side that the other lacks, by their hashes."""
    hashes = " union all ".join(
        f"select {hash_} as hash, {sign} as sign from {side} as rows_"  # noqa: S608
        for side, sign in zip(sides, (1, -1), strict=True)
    )
    return (
        "select sum(greatest(surplus, 0)), sum(greatest(-surplus, 0)) "  # noqa: S608
        f"from (select sum(sign) as surplus from ({hashes}) as sides group by hash) as counted"
    )


def select(columns: Iterable[str], relation: str) -> str:
    """Return the query of some columns of a relation."""
    return f"select {', '.join(map(quote_name, columns))} from {relation}"  # noqa: S608
