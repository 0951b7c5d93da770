"""Conditions and measurements that only others give away: `mi` is a heart attack or a mile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.drafting.proposal import Proposal, singling_text

# Most answers to whether somebody has a condition: yes, no, unknown.
_ANSWERS = 3
# Columns with names of conditions or measurements from which on a table is one of health.
_FEWEST = 2


def with_conditions(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Return proposals in which columns of yes and no among conditions are sensitive as they are.

    Beside two conditions or measurements an abbreviation names one too; what stands between two
    conditions is one. Beside two measurements so does the abbreviation of a number.
    """
    measured = [
        one.facts.kind == "number" and name_indicates(one.name, "clinical") for one in proposals
    ]
    if sum(measured) >= _FEWEST:
        proposals = [_as_measurement(one) for one in proposals]
    named = [_is_answer(one) and name_indicates(one.name, "condition") for one in proposals]
    if sum(named) + sum(measured) < _FEWEST:
        return list(proposals)
    unknown = [
        _is_answer(one)
        and one.role == "quasi_identifier"
        and not any(name_indicates(one.name, kind) for kind in ("quasi_identifier", "identifier"))
        for one in proposals
    ]
    coded = [
        is_unknown and name_indicates(one.name, "condition_code")
        for one, is_unknown in zip(proposals, unknown, strict=True)
    ]
    known = [False, *(a or b for a, b in zip(named, coded, strict=True)), False]
    found = []
    for place, one in enumerate(proposals):
        reason = ""
        if coded[place]:
            reason = "its name says so, among others of health"
        elif unknown[place] and known[place] and known[place + 2]:
            reason = (
                f"it stands between conditions ({proposals[place - 1].name}, "
                f"{proposals[place + 1].name}), and has as few answers"
            )
        text = f"{reason}; {singling_text(one.facts)}"
        found.append(
            replace(one, role="sensitive", reason=text, is_decided=coded[place]) if reason else one
        )
    return found


def _as_measurement(proposal: Proposal) -> Proposal:
    """Return a number with an abbreviation of a measurement as sensitive, others as they are."""
    is_coded = (
        proposal.role == "quasi_identifier"
        and proposal.facts.kind == "number"
        and proposal.facts.distinct > _ANSWERS
        and name_indicates(proposal.name, "clinical_code")
        and not name_indicates(proposal.name, "quasi_identifier")
    )
    if not is_coded:
        return proposal
    reason = f"its name says so, among other measurements; {singling_text(proposal.facts)}"
    return replace(proposal, role="sensitive", reason=reason)


def _is_answer(proposal: Proposal) -> bool:
    return 2 <= proposal.facts.distinct <= _ANSWERS
