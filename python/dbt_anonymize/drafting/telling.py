"""Share of the target that each column explains, from counts: what is worth generalizing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from dbt_anonymize.drafting.by_target import find_inner
from dbt_anonymize.drafting.facts import ColumnFacts, read_facts
from dbt_anonymize.drafting.proposal import Proposal, is_amount
from dbt_anonymize.drafting.refusals import check_table
from dbt_anonymize.drafting.roles import propose
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse

# Values of a column are groups; numbers and dates of more values are cut into so many groups.
_MOST_VALUES, _GROUPS = 100, 20
# That ranges of classes of so many records do not overlap is no chance.
_FEWEST_OF_A_CLASS = 10
# Numbers that equal each other in so large a share of records are no two facts.
_COPIED = 0.1
# Every column takes a pass over the table.
_MOST_RECORDS = 30_000_000


def facts_for(
    warehouse: Warehouse, relation: Any, predict: str | None, *, has_outer: bool = False
) -> list[ColumnFacts]:
    """Return the facts of a relation for a draft, with what columns tell of a target that is named.

    With outer records, inner ones alone tell of it. A relation that cannot be drafted is a
    `SpecError`.
    """
    facts = read_facts(warehouse, relation)
    check_table(relation.identifier, facts)
    if predict is None:
        return facts
    seen = relation
    if has_outer:
        seen = find_inner(warehouse, relation, propose(facts, predict)).sql
    return with_telling(warehouse, seen, facts, predict)


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
    if not is_amount(target) and target.distinct > _MOST_VALUES:
        return list(facts)
    if not is_amount(target):
        told = replace(target, follows=_with_cuts(warehouse, relation, facts, target))
        facts = [told if one is target else one for one in facts]
        target = told
    share = _share_of_number if is_amount(target) else _share_of_classes
    return [
        replace(one, tells=share(warehouse, relation, group, quote_name(target.name)))
        if one is not target and (group := _group(one))
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
        if one.facts.kind == "number" and one.facts.distinct > _MOST_VALUES and not one.mask
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


def explained(groups: Iterable[tuple[float, float]], total: float) -> float:
    """Return the share of a variance that groups explain, corrected for chance.

    Each group has its number of records and its sum of squares around its own mean; ``total`` is
    the variance of all records. A group of one record explains nothing.

    Examples
    --------
    >>> explained([(10, 0.0), (10, 0.0)], 0.25), explained([(1, 0.0), (1, 0.0)], 0.25)
    (1.0, 0.0)
    """
    found = list(groups)
    records = sum(count for count, _ in found)
    within = sum(
        count * (squares / (count - 1) if count > 1 else total) for count, squares in found
    )
    share = 1.0 - within / (records * total) if records and total > 0 else 0.0
    return share if np.isfinite(share) else 0.0


def _group(facts: ColumnFacts) -> str | None:
    """Return SQL of the group of a value; None of texts that are too many."""
    quoted = quote_name(facts.name)
    if facts.kind != "other" and facts.distinct <= _MOST_VALUES:
        return quoted
    if facts.kind in {"number", "date", "timestamp"}:
        return f"ntile({_GROUPS}) over (order by {quoted})"
    return None


def _share_of_number(warehouse: Warehouse, relation: Any, group: str, target: str) -> float:
    of = f"from (select {group} as g, {target} as y from {relation} where {target} is not null)"  # noqa: S608 (quoted)
    found = warehouse.rows(f"select count(*), var_samp(y) {of} as grouped group by g")
    ((total,),) = warehouse.rows(f"select var_samp(y) {of} as known")
    squares = ((count, (count - 1) * float(spread or 0)) for count, spread in found)
    return explained(squares, float(total or 0))


def _share_of_classes(warehouse: Warehouse, relation: Any, group: str, target: str) -> float:
    rows = warehouse.rows(
        f"select g, y, count(*) from (select {group} as g, {target} as y from {relation} "  # noqa: S608 (quoted)
        f"where {target} is not null) as grouped group by g, y"
    )
    of_group: dict[Any, list[int]] = {}
    of_class: dict[Any, int] = {}
    for value, label, count in rows:
        of_group.setdefault(value, []).append(int(count))
        of_class[label] = of_class.get(label, 0) + int(count)
    records = sum(of_class.values())
    total = _spread([*of_class.values()]) / max(records - 1, 1)
    return explained(((sum(counts), _spread(counts)) for counts in of_group.values()), total)


def _spread(counts: Sequence[int]) -> float:
    """Return the sum of squares of classes, 0 or 1 each, around their shares."""
    of = np.array(counts, dtype=float)
    return float(of.sum() - (of**2).sum() / of.sum()) if counts else 0.0
