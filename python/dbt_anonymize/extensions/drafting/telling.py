"""Share of the target that each column explains, from counts: what is worth generalizing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from dbt_anonymize.extensions.drafting.by_target import find_inner
from dbt_anonymize.extensions.drafting.companions import with_companions
from dbt_anonymize.extensions.drafting.facts import ColumnFacts, read_facts
from dbt_anonymize.extensions.drafting.families import with_families
from dbt_anonymize.extensions.drafting.proposal import Proposal, is_amount
from dbt_anonymize.extensions.drafting.refusals import check_table
from dbt_anonymize.extensions.drafting.roles import propose
from dbt_anonymize.extensions.drafting.shares import (
    MOST_VALUES,
    group_of,
    share_of_classes,
    share_of_number,
)
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

# That ranges of classes of so many records do not overlap is no chance.
_FEWEST_OF_A_CLASS = 10
# Numbers that equal each other in so large a share of records are no two facts.
_COPIED = 0.1
# Every column takes a pass over the table.
_MOST_RECORDS = 30_000_000


def facts_for(
    warehouse: Warehouse,
    relation: Any,
    predict: str | None,
    time: str | None = None,
    *,
    has_outer: bool = False,
) -> list[ColumnFacts]:
    """Return the facts of a relation for a draft, with what columns tell of a target that is named.

    Beside a ``time`` until it happens, they say what is known only with that. With outer records,
    inner ones alone tell of it. A relation that cannot be drafted is a `SpecError`.
    """
    facts = read_facts(warehouse, relation)
    check_table(relation.identifier, facts)
    facts = with_families(warehouse, relation, facts)
    if predict is None:
        return facts
    seen = relation
    if has_outer:
        seen = find_inner(warehouse, relation, propose(facts, predict)).sql
    facts = with_telling(warehouse, seen, facts, predict)
    if time is None or facts[0].records > _MOST_RECORDS:
        return facts
    return with_companions(warehouse, seen, facts, predict, time)


def with_telling(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts], predict: str
) -> list[ColumnFacts]:
    """Return facts that say what share of the variance of the target a column explains.

    Shares are of groups with the same value, corrected for chance, so that a column without
    relation to the target has 0 on average. None of a column whose values are no groups. Records
    without a target do not count. A number that is cut into classes, as a weight at birth into low
    and others, tells the target.
    """
    target = next((one for one in facts if one.name.lower() == predict.lower()), None)
    if target is None or target.kind == "other" or target.records > _MOST_RECORDS:
        return list(facts)
    if not is_amount(target) and target.distinct > MOST_VALUES:
        return list(facts)
    if not is_amount(target):
        told = replace(target, follows=_with_cuts(warehouse, relation, facts, target))
        facts = [told if one is target else one for one in facts]
        target = told
    share = share_of_number if is_amount(target) else share_of_classes
    return [
        replace(one, tells=share(warehouse, relation, group, quote_name(target.name)))
        if one is not target and (group := group_of(one))
        else one
        for one in facts
    ]


def _with_cuts(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts], target: ColumnFacts
) -> tuple[str, ...]:
    """Return what tells classes, with numbers and dates of which each class is a range."""
    numbers = [
        one
        for one in facts
        if one.kind in {"number", "date", "timestamp"} and one.distinct > target.distinct > 1
    ]
    name = quote_name(target.name)
    ends = "".join(f", min({q}), max({q})" for q in (quote_name(one.name) for one in numbers))
    rows = warehouse.rows(
        f"select count(*){ends} from {relation} where {name} is not null group by {name}"  # noqa: S608 (quoted)
    )
    found = list(target.follows)
    if min((row[0] for row in rows), default=0) < _FEWEST_OF_A_CLASS:
        return target.follows
    for place, one in enumerate(numbers):
        ranges = [row[1 + 2 * place : 3 + 2 * place] for row in rows]
        if one.name in found or one is target or any(None in pair for pair in ranges):
            continue
        if all(lower[1] < upper[0] for lower, upper in pairwise(sorted(ranges))):
            found.append(one.name)
    return tuple(found)


def find_copies(
    warehouse: Warehouse, relation: Any, proposals: Sequence[Proposal]
) -> list[tuple[str, str, int]]:
    """Return quasi-identifiers that a number released as it is equals, with how many records.

    A time until a relapse is that until death where there was none: generalized, it still finds
    the record by the other.
    """
    precise = [
        one
        for one in proposals
        if one.facts.kind == "number" and one.facts.distinct > MOST_VALUES and not one.mask
    ]
    pairs = [
        (quasi, kept)
        for quasi in precise
        for kept in precise
        if quasi.role == "quasi_identifier" and kept.role in {"sensitive", "insensitive"}
    ]
    if not pairs or pairs[0][0].facts.records > _MOST_RECORDS:
        return []
    counts = ", ".join(
        f"count(case when {quote_name(quasi.name)} = {quote_name(kept.name)} then 1 end)"
        for quasi, kept in pairs
    )
    (row,) = warehouse.rows(f"select {counts} from {relation}")  # noqa: S608 (quoted)
    return [
        (quasi.name, kept.name, int(count))
        for (quasi, kept), count in zip(pairs, row, strict=True)
        if count >= _COPIED * quasi.facts.records
    ]
