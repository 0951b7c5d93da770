"""Bitwise comparison of tables: rows as canonical text, tables as multisets of rows.

A row becomes one injective text: texts follow their length, NULL differs from any text, and doubles
whose text is ambiguous (zeros, NaN) are written as bits. A table becomes the number of its rows and
the sum of a keyed 64-bit hash of their texts. Each comparer draws its own key, so that nobody can
choose values whose sums agree: two different tables pass with a probability of 2^-64. This takes
one pass over each table and no memory, whatever their size and order. If a column is a key, a join
compares the rows in a third of the time.
"""

from __future__ import annotations

import secrets
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
    """A query and a relation whose rows must be the same, in any order.

    ``columns`` are the compared columns of ``actual``; by default it must have exactly those of the
    query, in order. ``subject`` names the finding. ``key`` is a column whose values should be
    unique; without it many rows may be equal, so each distinct row is hashed once and counted.
    """

    subject: str
    expected: str
    actual: str
    columns: tuple[str, ...] | None = None
    key: str | None = None


def normalize(expression: str, kind: str) -> str:
    """Return a value with one zero and one NaN, as in the microdata."""
    if kind not in FLOATS:
        return expression
    nan = f"cast('NaN' as {kind})"
    return f"case when isnan({expression}) then {nan} else cast({expression} + 0 as {kind}) end"


def row_text(types: dict[str, str]) -> str:
    """Return SQL of the canonical text of a row in parts, injective for columns of these types."""
    return ", ".join(_cell(quote_name(name), kind) for name, kind in types.items())


def _cell(column: str, kind: str) -> str:
    """Return one value as self-delimiting text: after its length, or before a bar."""
    text = f"cast({column} as varchar)"
    if kind in FLOATS:
        bits = f"cast(cast({column} as bit) as varchar)"
        text = f"case when {column} = 0 or isnan({column}) then {bits} else {text} end"
    if kind.startswith("DECIMAL"):
        # Without trailing zeros, whatever the scale of the column.
        text = (
            f"case when contains({text}, '.') then rtrim(rtrim({text}, '0'), '.') else {text} end"
        )
    if kind in _WITHOUT_BARS or kind.startswith("DECIMAL"):
        return f"coalesce({text}, 'NULL'), '|'"
    return f"coalesce(cast(strlen({text}) as varchar) || ':' || {text}, 'NULL')"


def _is_exact(kind: str) -> bool:
    """Tell whether equality of values of a type is identity."""
    return kind in _WITHOUT_BARS - FLOATS or kind.startswith("DECIMAL")


def _bitwise(column: str, kind: str) -> str:
    """Return SQL that is equal only for identical values, whatever the collation."""
    if kind in FLOATS:
        return f"cast({column} as bit)"
    return column if _is_exact(kind) else f"encode({column})"


def _without_scale(kind: str) -> str:
    """Return a type without the scale of decimals, which servers may lose in expressions."""
    return "DECIMAL" if kind.startswith("DECIMAL") else kind


@dataclass(frozen=True)
class Comparer:
    """Compares tables; sums of the same query are computed once."""

    tables: Tables
    _key: str = field(default_factory=lambda: secrets.token_hex(16))
    _sums: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def differences(self, comparison: Comparison) -> str | None:
        """Return how columns or rows of two tables differ; None for the same multiset of rows."""
        expected = self.tables.types(f"select * from ({comparison.expected}) as rows_")  # noqa: S608
        actual = self.tables.types(f"select * from {comparison.actual}")  # noqa: S608
        if comparison.columns is not None:
            actual = {name: kind for name, kind in actual.items() if name in comparison.columns}
        kind = str if self.tables.has_order else _without_scale
        kinds = [[(name, kind(of)) for name, of in side.items()] for side in (expected, actual)]
        if kinds[0] != kinds[1]:
            return "its columns or their types are others" + _changed_columns(expected, actual)
        sides = (f"({comparison.expected})", comparison.actual)
        is_plain = all(
            _is_exact(kind) or kind in {*FLOATS, "VARCHAR"} for kind in expected.values()
        )
        has_key = is_plain and comparison.key and expected == actual
        if has_key and self._are_equal(sides, expected, str(comparison.key)):
            return None
        types = expected if is_plain and not comparison.key else {}
        hash_ = f"md5_number_lower(concat({quote_text(self._key)}, {row_text(expected)}))"
        if self._sum(sides[0], hash_, types) == self._sum(sides[1], hash_, types):
            return None
        ((missing, surplus),) = self.tables.rows(_difference_query(sides, hash_))
        return (
            f"{int(missing or 0):,} rows are missing and {int(surplus or 0):,} should not be there"
        )

    def _are_equal(self, sides: tuple[str, str], types: dict[str, str], key: str) -> bool:
        """Tell whether each row equals exactly one of the other side, with a unique ``key``.

        If as many keys occur in equal rows as the second side has rows, each of these has its own
        key and an equal row. If the join has no more rows, the first side has no others.
        """
        a, b = (
            {name: _bitwise(f"{side}.{quote_name(name)}", types[name]) for name in types}
            for side in "ab"
        )
        same = {name: f"{a[name]} is not distinct from {b[name]}" for name in types}
        ((rows, matched),) = self.tables.rows(
            "select count(*), "  # noqa: S608
            f"count(distinct {b[key]}) filter (where {' and '.join(same.values())}) "
            f"from {sides[0]} as a left join {sides[1]} as b on {same[key]}"
        )
        ((records,),) = self.tables.rows(f"select count(*) from {sides[1]} as b")  # noqa: S608
        return bool(rows == matched == records)

    def _sum(self, relation: str, hash_: str, repeated: dict[str, str]) -> tuple[Any, ...]:
        """Return the number of rows and the sum of their hashes; ``repeated`` rows are counted."""
        sql = f"select count(*), sum(cast({hash_} as hugeint)) from {relation} as rows_"  # noqa: S608
        if repeated:
            # A name that no column has.
            times = quote_name(f"times {self._key}")
            values = (f"any_value({quote_name(n)}) as {quote_name(n)}" for n in repeated)
            groups = (_bitwise(quote_name(n), kind) for n, kind in repeated.items())
            sql = (
                f"select sum({times}), sum(cast({hash_} as hugeint) * {times}) from "  # noqa: S608
                f"(select {', '.join(values)}, count(*) as {times} from {relation} as rows_ "
                f"group by {', '.join(groups)}) as rows_"
            )
        if sql not in self._sums:
            (self._sums[sql],) = self.tables.rows(sql)
        return self._sums[sql]


def _changed_columns(expected: dict[str, str], actual: dict[str, str]) -> str:
    """Return the expected columns that are missing or have another type, as text."""
    changed = [name for name, kind in expected.items() if actual.get(name) != kind]
    return f" ({', '.join(changed)})" if changed else ""


def _difference_query(sides: tuple[str, str], hash_: str) -> str:
    """Return the query that counts missing and surplus rows by their hashes."""
    hashes = " union all ".join(
        f"select {hash_} as hash, {sign} as sign from {side} as rows_"  # noqa: S608
        for side, sign in zip(sides, (1, -1), strict=True)
    )
    return (
        "select sum(greatest(surplus, 0)), sum(greatest(-surplus, 0)) "  # noqa: S608
        f"from (select sum(sign) as surplus from ({hashes}) as sides group by hash) as counted"
    )
