"""Columns that are known only together with a time until an event: other times, other events.

The time until a relapse is the time until death or the last sight where there was no relapse, so
the two are equal in many records, and whether there was a relapse says in which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.proposal import PREDICTED, Proposal
from dbt_anonymize.extensions.drafting.shares import group_of, share_of_number
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

# Two times are equal in so large a share of records, and have so many different values there.
_EQUAL, _VALUES = 0.1, 20
# An event says so surely in which records they are equal; elsewhere they seldom are.
_SURE, _SELDOM = 0.9, 0.5
_MOST_VALUES_OF_EVENTS = 4
# What explains so much of a time is the same in another unit.
_COPY = 0.95
# Of more numbers, pairs are too many to count.
_MOST_NUMBERS = 15


def with_companions(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts], predict: str, time: str
) -> list[ColumnFacts]:
    """Return facts that say which columns are known only with the time until the target happens."""
    named = {one.name.lower(): one for one in facts}
    target, timed = named.get(predict.lower()), named.get(time.lower())
    if target is None or timed is None or timed.kind != "number":
        return list(facts)
    others = [one for one in facts if one not in (target, timed)]
    numbers = [one for one in others if one.kind == "number" and one.distinct > _VALUES]
    times = dict[str, str]()
    for one, (equal, values, *_) in _compared(warehouse, relation, [(n, timed) for n in numbers]):
        if equal >= _EQUAL * one.records and values > _VALUES:
            times[one.name] = f"another time, equal to {timed.name} in {equal:,} records"
    events = {
        event.name: f"it says where {name} is {timed.name}"
        for event in others
        if event.kind != "other" and 2 <= event.distinct <= _MOST_VALUES_OF_EVENTS
        for name in times
        if _says_where(warehouse, relation, event, name, timed.name)
    }
    copies = {
        one.name: f"it is {timed.name} in other numbers"
        for one in numbers
        if one.name not in times and _copies(warehouse, relation, one, timed)
    }
    known = {**times, **events, **copies}
    return [replace(one, known_with=known.get(one.name, "")) for one in facts]


def find_times(
    warehouse: Warehouse, relation: Any, proposals: Sequence[Proposal]
) -> list[tuple[str, str]]:
    """Return pairs of numbers that look like times until events, where none was named.

    The one is never more than the other, and equal to it in many records.
    """
    target = next((one.facts for one in proposals if one.is_target), None)
    numbers = [
        one.facts
        for one in proposals
        if one.role in PREDICTED
        and not one.is_target
        and one.facts.kind == "number"
        and one.facts.distinct > 5 * _VALUES
    ]
    if target is None or target.distinct > _MOST_VALUES_OF_EVENTS or len(numbers) > _MOST_NUMBERS:
        return []
    pairs = [*combinations(numbers, 2)]
    return [
        (one.name, other.name)
        for (one, other), (_, counts) in zip(
            pairs, _compared(warehouse, relation, pairs), strict=True
        )
        if counts[0] >= _EQUAL * one.records and counts[1] > _VALUES and 0 in counts[2:]
    ]


def _compared(
    warehouse: Warehouse, relation: Any, pairs: Sequence[tuple[ColumnFacts, ColumnFacts]]
) -> list[tuple[ColumnFacts, tuple[int, ...]]]:
    """Return how many records of each pair are equal, different values there, less, and more."""
    if not pairs:
        return []
    quoted = [(quote_name(one.name), quote_name(other.name)) for one, other in pairs]
    counts = ", ".join(
        f"count(case when {a} = {b} then 1 end), count(distinct case when {a} = {b} then {a} end), "
        f"count(case when {a} < {b} then 1 end), count(case when {a} > {b} then 1 end)"
        for a, b in quoted
    )
    (row,) = warehouse.rows(f"select {counts} from {relation}")  # noqa: S608 (quoted)
    found = [tuple(map(int, row[at : at + 4])) for at in range(0, len(row), 4)]
    return [(one, of) for (one, _), of in zip(pairs, found, strict=True)]


def _says_where(
    warehouse: Warehouse, relation: Any, event: ColumnFacts, one: str, other: str
) -> bool:
    """Tell whether two times are equal at one value of an event, and seldom at the others."""
    name = quote_name(event.name)
    rows = warehouse.rows(
        f"select count(*), count(case when {quote_name(one)} = {quote_name(other)} then 1 end) "  # noqa: S608 (quoted)
        f"from {relation} where {name} is not null group by {name}"
    )
    shares = sorted(equal / count for count, equal in rows)
    return bool(shares[-1] >= _SURE and shares[0] <= _SELDOM)


def _copies(warehouse: Warehouse, relation: Any, one: ColumnFacts, timed: ColumnFacts) -> bool:
    group = group_of(one)
    return (
        group is not None
        and share_of_number(warehouse, relation, group, quote_name(timed.name)) >= _COPY
    )
