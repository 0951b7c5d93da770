"""The quasi-identifiers that a draft keeps of many."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.names import said_by
from dbt_anonymize.extensions.drafting.proposal import Proposal, alone
from dbt_anonymize.pluralize import pluralized

# More quasi-identifiers leave nobody with others alike.
MOST_QUASI = 12
# Columns of one attribute that are kept; others are of so few records that they single out, or tell
# little.
MOST_OF_FAMILY, _RARE = 5, 0.02


def limited(found: Sequence[Proposal], keep: Collection[ColumnFacts] = ()) -> list[Proposal]:
    """Return proposals with the quasi-identifiers that are known best; the others are dropped.

    What somebody wants to ``keep`` comes first. With many of them nearly everybody is alone, and
    every effort would be `*` everywhere. Columns of 0 and 1 of which nobody has two are one
    attribute and take one place; who has none that is kept has another one, as rare categories are
    merged.
    """
    quasi = [one for one in found if one.role == "quasi_identifier" and not one.is_target]

    def rank(one: Proposal) -> tuple[bool, int, float, int]:
        return one.facts not in keep, *_obscurity(one)

    places = _places(quasi)
    kept = {
        id(one)
        for members in sorted(places, key=lambda members: min(map(rank, members)))[:MOST_QUASI]
        for one in _of_family(members, keep)
    }
    more = f"{len(places)} columns others could know are too many to generalize: "
    return [
        _with_family(one)
        if id(one) in kept or one not in quasi
        else replace(one, role="dropped", reason=f"{more}{MOST_QUASI} are kept; {alone(one.facts)}")
        if not one.facts.family
        else replace(one, role="dropped", reason=_merged(one))
        for one in found
    ]


def _places(quasi: Sequence[Proposal]) -> list[list[Proposal]]:
    """Return columns by attribute."""
    found: dict[object, list[Proposal]] = {}
    for one in quasi:
        found.setdefault(one.facts.family or one.name, []).append(one)
    return list(found.values())


def _of_family(members: Sequence[Proposal], keep: Collection[ColumnFacts]) -> Iterator[Proposal]:
    """Yield the columns of an attribute that tell most, without rare ones."""
    if not members[0].facts.family:
        yield from members
        return
    ones = dict(members[0].facts.family)
    ranked = sorted(members, key=lambda one: (-(one.facts.tells or 0.0), -ones[one.name]))
    usual = [one for one in ranked if ones[one.name] >= _RARE * one.facts.records]
    yield from {
        id(one): one for one in ranked if one.facts in keep or one in usual[:MOST_OF_FAMILY]
    }.values()


def _with_family(one: Proposal) -> Proposal:
    if one.role != "quasi_identifier" or not one.facts.family:
        return one
    return replace(one, reason=f"{one.reason}; {_said(one)}")


def _merged(one: Proposal) -> str:
    count = dict(one.facts.family)[one.name]
    few = f"{pluralized(count, 'record')}, left among those that have none of the kept ones"
    return f"{few}; {_said(one)}"


def _said(one: Proposal) -> str:
    return f"one of {len(one.facts.family)} columns of which nobody has two, so one attribute"


def families_of(proposals: Sequence[Proposal]) -> list[list[str]]:
    """Return the names of kept quasi-identifiers that are one attribute."""
    quasi = [one for one in proposals if one.role == "quasi_identifier" and one.facts.family]
    return [[one.name for one in members] for members in _places(quasi)]


def _obscurity(one: Proposal) -> tuple[int, float, int]:
    """Rank a quasi-identifier: first what its name tells, what tells of the target, few values."""
    kinds = ("quasi_identifier", "sensitive")
    said = next((rank for rank, kind in enumerate(kinds) if said_by(one.name, kind)), len(kinds))
    return said, -(one.facts.tells or 0.0), one.facts.distinct
