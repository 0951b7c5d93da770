"""Share of the target that each column explains, computed from counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import lgamma, log
from typing import Any

from dbt_anonymize.extensions.drafting.by_target import find_inner
from dbt_anonymize.extensions.drafting.companions import with_companions
from dbt_anonymize.extensions.drafting.facts import ColumnFacts, find_column, read_facts
from dbt_anonymize.extensions.drafting.families import with_families
from dbt_anonymize.extensions.drafting.proposal import Proposal, is_amount
from dbt_anonymize.extensions.drafting.redundant import NEAR_COPY
from dbt_anonymize.extensions.drafting.refusals import check_table
from dbt_anonymize.extensions.drafting.roles import propose
from dbt_anonymize.extensions.drafting.shares import (
    MOST_VALUES,
    explained_share_of_classes,
    explained_share_of_number,
    group_sql,
)
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

# Fewest records of a class for which separate ranges are no chance.
_FEWEST_OF_A_CLASS = 10
# Most values of a column that may be ranges of a number; chance that random ones seem to be.
MOST_RANGES, _CHANCE = 20, 1e-5
# Share of equal records from which on two numbers are copies.
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
    """Return the facts of a relation for a draft, with explained shares of the target, if named.

    With a ``time`` until the target happens, facts also name the columns that are known only with
    it. With outer records, shares come from inner ones alone. A relation that cannot be drafted is
    a `SpecError`.
    """
    facts = read_facts(warehouse, relation)
    check_table(relation.identifier, facts)
    facts = with_families(warehouse, relation, facts)
    if predict is None:
        return facts
    source = relation
    if has_outer:
        source = find_inner(warehouse, relation, propose(facts, predict)).sql
    facts = with_target_shares(warehouse, source, facts, predict)
    if time is None or facts[0].records > _MOST_RECORDS:
        return facts
    return with_companions(warehouse, source, facts, predict, time)


def with_target_shares(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts], predict: str
) -> list[ColumnFacts]:
    """Return facts with the share of the variance of the target that each column explains.

    Shares are those of groups with the same value, corrected for chance, so that a column unrelated
    to the target has 0 on average; None if the values of a column are no groups. Records without a
    target do not count. A number whose ranges are the classes of the target determines it, and so
    do ranges of a target that is a number; a column that is NULL in some classes alone is known
    with it, as a date of death.
    """
    target = find_column(facts, predict)
    if target is None or target.kind == "other" or target.records > _MOST_RECORDS:
        return list(facts)
    if not is_amount(target):
        if target.distinct > MOST_VALUES:
            return list(facts)
        determined = replace(
            target, follows=_determining_columns(warehouse, relation, facts, target)
        )
        facts = [determined if column is target else column for column in facts]
        target = determined
    else:
        facts = _with_ranges(warehouse, relation, facts, target)
        target = next(column for column in facts if column.name == target.name)
    share = explained_share_of_number if is_amount(target) else explained_share_of_classes
    facts = [
        replace(column, known_with=f"where it is NULL tells {target.name}")
        if column is not target
        and 0 < column.known < column.records
        and share(warehouse, relation, f"{quote_name(column.name)} is null", quote_name(predict))
        >= NEAR_COPY
        else column
        for column in facts
    ]
    return [
        replace(column, tells=share(warehouse, relation, group, quote_name(target.name)))
        if column is not target and (group := group_sql(column))
        else column
        for column in facts
    ]


def _with_ranges(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts], target: ColumnFacts
) -> list[ColumnFacts]:
    """Return facts with the columns that are ranges of a number, as `low_weight` of a weight."""
    name = quote_name(target.name)
    reason = f"each of its values has a range of {target.name} of its own"
    return [
        replace(column, known_with=reason)
        if column is not target
        and column.kind != "other"
        and 2 <= column.distinct <= MOST_RANGES
        and _are_apart(
            warehouse.rows(
                f"select min({name}), max({name}), count(*) from {relation} "  # noqa: S608 (quoted)
                f"where {name} is not null and {quote_name(column.name)} is not null "
                f"group by {quote_name(column.name)}"
            )
        )
        else column
        for column in facts
    ]


def _are_apart(ranges: Sequence[tuple[Any, Any, int]]) -> bool:
    """Tell whether ranges share no number, which chance hardly ever makes of their records.

    Examples
    --------
    >>> _are_apart([(500, 1500, 10), (1501, 5000, 990)]), _are_apart([(1, 1, 1), (2, 9, 999)])
    (True, False)
    """
    if len(ranges) < 2 or not _are_disjoint(ranges):
        return False
    # The orders of records that keep those of each range together, among all orders.
    counts = [int(count) for *_, count in ranges]
    together = lgamma(len(counts) + 1) + sum(lgamma(count + 1) for count in counts)
    return together - lgamma(sum(counts) + 1) < log(_CHANCE)


def _are_disjoint(ranges: Iterable[tuple[Any, ...]]) -> bool:
    """Tell whether no two ranges, which begin with their ends, share a value."""
    return all(lower[1] < upper[0] for lower, upper in pairwise(sorted(ranges)))


def _determining_columns(
    warehouse: Warehouse, relation: Any, facts: Sequence[ColumnFacts], target: ColumnFacts
) -> tuple[str, ...]:
    """Return the columns that determine classes, with numbers and dates whose ranges they are."""
    numbers = [
        column
        for column in facts
        if column.kind in {"number", "date", "timestamp"} and column.distinct > target.distinct > 1
    ]
    name = quote_name(target.name)
    ends = "".join(f", min({q}), max({q})" for q in (quote_name(column.name) for column in numbers))
    rows = warehouse.rows(
        f"select count(*){ends} from {relation} where {name} is not null group by {name}"  # noqa: S608 (quoted)
    )
    names = list(target.follows)
    if min((row[0] for row in rows), default=0) < _FEWEST_OF_A_CLASS:
        return target.follows
    for place, column in enumerate(numbers):
        ranges = [row[1 + 2 * place : 3 + 2 * place] for row in rows]
        if column.name in names or column is target or any(None in pair for pair in ranges):
            continue
        if _are_disjoint(ranges):
            names.append(column.name)
    return tuple(names)


def find_copies(
    warehouse: Warehouse, relation: Any, proposals: Sequence[Proposal]
) -> list[tuple[str, str, int]]:
    """Return quasi-identifiers, equal numbers that are released unchanged, and their equal records.

    Without a relapse, the time until relapse is the time until death: if one is generalized, the
    other still finds the record.
    """
    precise = [
        proposal
        for proposal in proposals
        if proposal.facts.kind == "number"
        and proposal.facts.distinct > MOST_VALUES
        and not proposal.mask
    ]
    pairs = [
        (quasi, released)
        for quasi in precise
        for released in precise
        if quasi.role == "quasi_identifier" and released.role in {"sensitive", "insensitive"}
    ]
    if not pairs or pairs[0][0].facts.records > _MOST_RECORDS:
        return []
    counts = ", ".join(
        f"count(case when {quote_name(quasi.name)} = {quote_name(released.name)} then 1 end)"
        for quasi, released in pairs
    )
    (row,) = warehouse.rows(f"select {counts} from {relation}")  # noqa: S608 (quoted)
    return [
        (quasi.name, released.name, int(count))
        for (quasi, released), count in zip(pairs, row, strict=True)
        if count >= _COPIED * quasi.facts.records
    ]
