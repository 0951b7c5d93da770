"""The target where nobody names it: a column of few classes, by its name or its place."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.drafting.proposal import PREDICTED, Proposal

# Most classes of a guessed target.
FEW = 10
# Most other columns that are named.
_MOST_NAMED = 5


def guess_target(proposals: Sequence[Proposal]) -> Proposal | None:
    """Return the guessed target: a column with such a name, else the last one of few classes.

    Columns that others could know by their names (sex, region) are rather features.
    """
    return next((group[-1] for group in _candidates(proposals) if group), None)


def _candidates(proposals: Sequence[Proposal]) -> list[list[Proposal]]:
    """Return columns of few classes: those with a name of a target, sensitive ones, and others."""
    classes = [
        proposal
        for proposal in proposals
        if proposal.role in PREDICTED
        and proposal.mask is None
        and proposal.facts.known == proposal.facts.records
        and 2 <= proposal.facts.distinct <= FEW
    ]
    by_name = [proposal for proposal in classes if name_indicates(proposal.name, "target")]
    sensitive = [proposal for proposal in classes if proposal.role == "sensitive"]
    unknown = [
        proposal for proposal in classes if not name_indicates(proposal.name, "quasi_identifier")
    ]
    return [by_name, sensitive, unknown]


def target_guess_reason(target: Proposal) -> str:
    """Return the reason for a guessed target."""
    if name_indicates(target.name, "target"):
        return "its name says so"
    if name_indicates(target.name, "sensitive"):
        return "no name says so, but it is the last sensitive column of few classes"
    return "nothing says so, but it has few classes and is the last of these"


def guess_text(target: Proposal, proposals: Sequence[Proposal]) -> str:
    """Say that a target was guessed, from what, and which of the proposals it could be instead."""
    names = dict.fromkeys(
        proposal.name
        for group in _candidates(proposals)
        for proposal in reversed(group)
        if proposal.facts != target.facts
    )
    named = [shlex.quote(name) for name in [*names][:_MOST_NAMED]]
    others = " or ".join([", ".join(named[:-1]), named[-1]] if named[1:] else named)
    more = f" (or another of {len(names)})" if len(names) > len(named) else ""
    return (
        f"{target.name} is guessed ({target_guess_reason(target)}): name it, or another column, "
        f"such as --predict {others}{more}."
        if named
        else f"{target.name} is guessed ({target_guess_reason(target)}): --predict names another."
    )
