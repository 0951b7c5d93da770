"""Columns that are known only together with a time until an event: other times, other events.

Without a relapse, the time until relapse is the time until death or the last visit. So the two
times are equal in many records, and the event of relapse tells which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from dbt_anonymize.extensions.drafting.facts import ColumnFacts, find_column
from dbt_anonymize.extensions.drafting.proposal import PREDICTED, Proposal
from dbt_anonymize.extensions.drafting.shares import explained_share_of_number, group_sql
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

# Least share of records in which two times are equal, and fewest values there.
_EQUAL, _VALUES = 0.1, 20
# Least share of equal times at one value of an event, and largest share at another value.
_SURE, _SELDOM = 0.9, 0.5
_MOST_VALUES_OF_EVENTS = 4
# Least explained share of a time for a copy in another unit.
_COPY = 0.95
# Most numbers whose pairs are counted.
_MOST_NUMBERS = 15


def with_companions(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts], predict: str, time: str
) -> list[ColumnFacts]:
    """Return facts with the columns that are known only with the time until the target happens."""
    target, timed = find_column(facts, predict), find_column(facts, time)
    if target is None or timed is None or timed.kind != "number":
        return list(facts)
    other_columns = [column for column in facts if column not in (target, timed)]
    numbers = [
        column for column in other_columns if column.kind == "number" and column.distinct > _VALUES
    ]
    times = dict[str, str]()
    for column, (equal, values, *_) in _compare(warehouse, relation, [(n, timed) for n in numbers]):
        if equal >= _EQUAL * column.records and values > _VALUES:
            times[column.name] = f"another time, equal to {timed.name} in {equal:,} records"
    events = {
        event.name: f"it says where {name} is {timed.name}"
        for event in other_columns
        if event.kind != "other" and 2 <= event.distinct <= _MOST_VALUES_OF_EVENTS
        for name in times
        if _tells_equality(warehouse, relation, event, name, timed.name)
    }
    copies = {
        column.name: f"it is {timed.name} in other numbers"
        for column in numbers
        if column.name not in times and _is_copy(warehouse, relation, column, timed)
    }
    reasons = {**times, **events, **copies}
    return [
        replace(column, known_with=reasons.get(column.name, column.known_with)) for column in facts
    ]


def find_times(
    warehouse: Warehouse, relation: Any, proposals: Sequence[Proposal]
) -> list[tuple[str, str]]:
    """Return pairs of numbers that look like times until events.

    One is never larger than the other, and equal to it in many records.
    """
    target = next((proposal.facts for proposal in proposals if proposal.is_target), None)
    numbers = [
        proposal.facts
        for proposal in proposals
        if proposal.role in PREDICTED
        and not proposal.is_target
        and proposal.facts.kind == "number"
        and proposal.facts.distinct > 5 * _VALUES
    ]
    if target is None or target.distinct > _MOST_VALUES_OF_EVENTS or len(numbers) > _MOST_NUMBERS:
        return []
    pairs = [*combinations(numbers, 2)]
    return [
        (proposal.name, other.name)
        for (proposal, other), (_, counts) in zip(
            pairs, _compare(warehouse, relation, pairs), strict=True
        )
        if counts[0] >= _EQUAL * proposal.records and counts[1] > _VALUES and 0 in counts[2:]
    ]


def _compare(
    warehouse: Warehouse, relation: Any, pairs: Sequence[tuple[ColumnFacts, ColumnFacts]]
) -> list[tuple[ColumnFacts, tuple[int, ...]]]:
    """Return, for each pair, the equal records, their distinct values, the lower, the higher."""
    if not pairs:
        return []
    quoted = [(quote_name(one.name), quote_name(other.name)) for one, other in pairs]
    counts = ", ".join(
        f"count(case when {a} = {b} then 1 end), count(distinct case when {a} = {b} then {a} end), "
        f"count(case when {a} < {b} then 1 end), count(case when {a} > {b} then 1 end)"
        for a, b in quoted
    )
    (row,) = warehouse.rows(f"select {counts} from {relation}")  # noqa: S608 (quoted)
    counts_of_pairs = [tuple(map(int, row[at : at + 4])) for at in range(0, len(row), 4)]
    return [(one, of) for (one, _), of in zip(pairs, counts_of_pairs, strict=True)]


def _tells_equality(
    warehouse: Warehouse, relation: Any, event: ColumnFacts, first: str, second: str
) -> bool:
    """Tell whether two times are equal at one value of an event, and rarely at another."""
    name = quote_name(event.name)
    rows = warehouse.rows(
        f"select count(*), count(case when {quote_name(first)} = {quote_name(second)} then 1 end) "  # noqa: S608 (quoted)
        f"from {relation} where {name} is not null group by {name}"
    )
    shares = sorted(equal / count for count, equal in rows)
    return bool(shares[-1] >= _SURE and shares[0] <= _SELDOM)


def _is_copy(warehouse: Warehouse, relation: Any, column: ColumnFacts, timed: ColumnFacts) -> bool:
    group = group_sql(column)
    return (
        group is not None
        and explained_share_of_number(warehouse, relation, group, quote_name(timed.name)) >= _COPY
    )
