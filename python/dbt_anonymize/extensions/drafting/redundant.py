"""Columns that follow from another one, or reveal the target."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.proposal import (
    MOST_CATEGORIES,
    PREDICTED,
    Proposal,
    is_amount,
)

# Explained share of the target from which on a column is a copy of it.
NEAR_COPY = 0.95


def without_redundant(
    proposals: Sequence[Proposal],
    keep: Collection[ColumnFacts] = (),
    released: Collection[ColumnFacts] = (),
) -> list[Proposal]:
    """Drop columns that follow from another one or reveal the target, except those to ``keep``.

    Those that are to be ``released`` stay, too, but are leaks where they reveal the target.
    """
    target = next((proposal for proposal in proposals if proposal.is_target), None)
    predicted = [proposal for proposal in proposals if proposal.role in PREDICTED]
    kept_by_name: dict[str, Proposal] = {}
    leaks = {
        proposal.name: prefix
        for proposal in predicted
        if target and (prefix := leak_reason(proposal, target))
    }
    dropped = dict(leaks)
    for proposal in sorted(
        (proposal for proposal in predicted if proposal.name not in leaks), key=_detail_rank
    ):
        finer = next(
            (
                n
                for n in proposal.facts.follows
                if n in kept_by_name and _replaces(kept_by_name[n], proposal)
            ),
            None,
        )
        if finer is None or proposal.is_target:
            kept_by_name[proposal.name] = proposal
        else:
            dropped[proposal.name] = f"it follows from {finer}: each value of that has one of these"
    prefix = "models would learn nothing else: "
    return [
        replace(
            proposal,
            role="sensitive" if proposal.facts in released else "dropped",
            reason=f"{prefix if proposal.name in leaks else ''}{dropped[proposal.name]}",
            mask=None,
            is_decided=True,
            is_leak=proposal.name in leaks,
        )
        if proposal.name in dropped and proposal.facts not in keep
        else proposal
        for proposal in proposals
    ]


def leak_reason(proposal: Proposal, target: Proposal) -> str:
    """Return the reason why a column reveals the target; "" if it does not."""
    if proposal.is_target or proposal.is_time:
        return ""
    if proposal.name in target.facts.follows:
        return f"each of its values has one {target.name}"
    if proposal.facts.known_with:
        return proposal.facts.known_with
    # A category of many values may well explain classes; a copy has as many values as classes.
    has_as_many = is_amount(target.facts) or proposal.facts.distinct <= target.facts.distinct + 1
    if has_as_many and (proposal.facts.tells or 0.0) >= NEAR_COPY:
        return f"it {proposal.facts.explains} of {target.name} by itself"
    return ""


def _replaces(finer: Proposal, proposal: Proposal) -> bool:
    """Tell whether a finer column makes a column redundant; it does not group hundreds of codes."""
    many = finer.facts.distinct > max(MOST_CATEGORIES, proposal.facts.distinct)
    return finer.is_target or not many


def _detail_rank(proposal: Proposal) -> tuple[bool, int, int]:
    """Return the sort key: the target first, then columns of many values, then short names."""
    return not proposal.is_target, -proposal.facts.distinct, len(proposal.name)
