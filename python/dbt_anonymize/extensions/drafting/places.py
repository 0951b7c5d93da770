"""The limit of quasi-identifiers in a draft."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.drafting.proposal import Proposal, singling_text
from dbt_anonymize.pluralize import pluralized

# With more quasi-identifiers nearly every record is unique.
MOST_QUASI = 12
# Most kept columns of one attribute, and their least share of records: rarer ones single out, or
# tell little.
MOST_OF_FAMILY, _RARE = 5, 0.02


def keep_best_known(
    proposals: Sequence[Proposal], keep: Collection[ColumnFacts] = ()
) -> list[Proposal]:
    """Return proposals with the best known quasi-identifiers; the others are dropped.

    Columns to ``keep`` come first. With many quasi-identifiers nearly every record is unique, and
    every effort would be `*` everywhere. Exclusive columns of 0 and 1 are one attribute and count
    once; dropping the rare ones merges them, as rare categories are merged.
    """
    quasi = [
        proposal
        for proposal in proposals
        if proposal.role == "quasi_identifier" and not proposal.is_target
    ]

    def rank(proposal: Proposal) -> tuple[bool, float, int, int]:
        return proposal.facts not in keep, *_obscurity(proposal)

    attributes = _by_attribute(quasi)
    kept_names = {
        proposal.name
        for members in sorted(attributes, key=lambda members: min(map(rank, members)))[:MOST_QUASI]
        for proposal in _best_of_family(members, keep)
    }
    too_many = (
        f"too many to generalize, {MOST_QUASI} of {len(attributes)} that others could know are kept"
    )
    return [
        _with_family_reason(proposal)
        if proposal.name in kept_names or proposal not in quasi
        else replace(
            proposal,
            role="dropped",
            reason=f"{too_many}; {singling_text(proposal.facts)}",
        )
        if not proposal.facts.family
        else replace(proposal, role="dropped", reason=_merged_reason(proposal))
        for proposal in proposals
    ]


def _by_attribute(quasi: Sequence[Proposal]) -> list[list[Proposal]]:
    """Return groups of columns that are one attribute."""
    by_attribute: dict[object, list[Proposal]] = {}
    for proposal in quasi:
        by_attribute.setdefault(proposal.facts.family or proposal.name, []).append(proposal)
    return list(by_attribute.values())


def _best_of_family(
    members: Sequence[Proposal], keep: Collection[ColumnFacts]
) -> Iterator[Proposal]:
    """Yield the most informative columns of an attribute, without rare ones."""
    if not members[0].facts.family:
        yield from members
        return
    record_counts = dict(members[0].facts.family)
    ranked = sorted(
        members,
        key=lambda proposal: (-(proposal.facts.tells or 0.0), -record_counts[proposal.name]),
    )
    frequent = [
        proposal
        for proposal in ranked
        if record_counts[proposal.name] >= _RARE * proposal.facts.records
    ][:MOST_OF_FAMILY]
    yield from (p for p in ranked if p.facts in keep or p in frequent)


def _with_family_reason(proposal: Proposal) -> Proposal:
    if proposal.role != "quasi_identifier" or not proposal.facts.family:
        return proposal
    return replace(proposal, reason=f"{proposal.reason}; {_family_text(proposal)}")


def _merged_reason(proposal: Proposal) -> str:
    count = dict(proposal.facts.family)[proposal.name]
    left = "left among those that have none of the kept ones"
    return f"{left}; {pluralized(count, 'record')}, {_family_text(proposal)}"


def _family_text(proposal: Proposal) -> str:
    return f"one of {len(proposal.facts.family)} columns of which nobody has two, so one attribute"


def families_of(proposals: Sequence[Proposal]) -> list[list[str]]:
    """Return the names of kept quasi-identifiers that are one attribute."""
    quasi = [
        proposal
        for proposal in proposals
        if proposal.role == "quasi_identifier" and proposal.facts.family
    ]
    return [[proposal.name for proposal in members] for members in _by_attribute(quasi)]


def _obscurity(proposal: Proposal) -> tuple[float, int, int]:
    """Return the rank of a quasi-identifier: by explained target, its name, and few values.

    Leaving a column out is as private as generalizing it: what models learn from comes first.
    """
    kinds = ("quasi_identifier", "sensitive")
    name_rank = next(
        (rank for rank, kind in enumerate(kinds) if name_indicates(proposal.name, kind)), len(kinds)
    )
    return -round(proposal.facts.tells or 0.0, 2), name_rank, proposal.facts.distinct
