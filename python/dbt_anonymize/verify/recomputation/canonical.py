"""Comparing tables to the last bit: rows as canonical text, tables as multisets of rows.

A row becomes one injective text: each value as text behind its length, NULL apart from any text, a
double whose text does not tell its bits (zeros, NaN) as its bits. A table is the number of its rows
and the sum of a keyed 64-bit hash of their texts. The key is drawn anew for every comparison, so
that nobody can choose values whose sums agree: two different tables pass with a chance of 2^-64.
That takes one pass over each table and no memory, whatever their size and order.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.verify.recomputation.tables import Tables

FLOATS = frozenset({"FLOAT", "DOUBLE"})


@dataclass(frozen=True)
class Comparison:
    """Rows that must be the same, in any order.

    Parameters
    ----------
    subject : str
        What is compared; what a finding is called.
    expected : str
        Query of the rows that must be there.
    actual : str
        Relation that must hold them.
    columns : tuple of str, optional
        Columns of ``actual`` that are compared; by default it must have those of ``expected`` and
        no other, in the same order.
    """

    subject: str
    expected: str
    actual: str
    columns: tuple[str, ...] | None = None


def normalized(expression: str, kind: str) -> str:
    """Return a value with one zero and one NaN, as the microdata hold it."""
    if kind not in FLOATS:
        return expression
    nan = f"cast('NaN' as {kind})"
    return f"case when isnan({expression}) then {nan} else cast({expression} + 0 as {kind}) end"


def row_text(types: dict[str, str]) -> str:
    """Return SQL of the canonical text of a row, injective for columns of these types."""
    return " || ".join(_cell(quote_name(name), kind) for name, kind in types.items()) or "''"


def _cell(column: str, kind: str) -> str:
    text = f"cast({column} as varchar)"
    if kind in FLOATS:
        text = (
            f"case when {column} = 0 or isnan({column}) then cast(cast({column} as bit) as varchar)"
            f" else {text} end"
        )
    return f"case when {column} is null then 'n' else strlen({text}) || ':' || {text} end"


def differences(tables: Tables, comparison: Comparison) -> str | None:
    """Say how two tables differ, in numbers; None where they are the same multiset of rows.

    Columns and their types are compared first: what differs there is named.
    """
    expected, found = (
        tables.types(f"select * from ({comparison.expected}) as rows_"),  # noqa: S608
        tables.types(f"select * from {comparison.actual}"),  # noqa: S608
    )
    if comparison.columns is not None:
        found = {name: kind for name, kind in found.items() if name in comparison.columns}
    if list(found.items()) != list(expected.items()):
        return "its columns or their types are others" + _named(expected, found)
    key = secrets.token_hex(16)
    sides = [f"({comparison.expected})", comparison.actual]
    sums = [tables.rows(_sum(side, expected, key)) for side in sides]
    if sums[0] == sums[1]:
        return None
    ((missing, surplus),) = tables.rows(_counted(sides, expected, key))
    return f"{int(missing or 0):,} rows are missing and {int(surplus or 0):,} should not be there"


def _named(expected: dict[str, str], found: dict[str, str]) -> str:
    """Name the columns of which one side has none, or of another type; none but declared ones."""
    changed = [name for name, kind in expected.items() if found.get(name) != kind]
    return f" ({', '.join(changed)})" if changed else ""


def _hash(types: dict[str, str], key: str) -> str:
    return f"md5_number_lower({quote_text(key)} || {row_text(types)})"


def _sum(relation: str, types: dict[str, str], key: str) -> str:
    return f"select count(*), sum(cast({_hash(types, key)} as hugeint)) from {relation} as rows_"  # noqa: S608


def _counted(sides: Sequence[str], types: dict[str, str], key: str) -> str:
    """Query of the rows of one side that the other lacks, by their hashes."""
    hashes = " union all ".join(
        f"select {_hash(types, key)} as hash, {sign} as sign from {side} as rows_"  # noqa: S608
        for side, sign in zip(sides, (1, -1), strict=True)
    )
    return (
        "select sum(greatest(surplus, 0)), sum(greatest(-surplus, 0)) "  # noqa: S608
        f"from (select sum(sign) as surplus from ({hashes}) as sides group by hash) as counted"
    )


def select(columns: Iterable[str], relation: str, condition: str = "true") -> str:
    """Return the query of some columns of a relation."""
    listed = ", ".join(map(quote_name, columns))
    return f"select {listed} from {relation} where {condition}"  # noqa: S608
