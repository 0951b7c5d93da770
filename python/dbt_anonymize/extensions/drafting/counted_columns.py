"""Roles of columns for a table of counts: shown as a dimension, added up, or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.drafting.proposal import KEY, Proposal
from dbt_anonymize.extensions.drafting.refusals import find_named
from dbt_anonymize.extensions.drafting.roles import propose, propose_role

# Most values that a dimension shows as they are; more need a hierarchy, so that they become fewer.
FEW = 10
_KEPT = frozenset({"sensitive", "insensitive"})


def propose_counted(
    facts: Sequence[ColumnFacts], dimensions: Sequence[str], sums: Sequence[str]
) -> tuple[list[Proposal], list[str], list[str]]:
    """Return a proposal for each column, and the names of dimensions and sums.

    Columns that are neither are dropped, but for identifiers and the record key. A column that
    cannot be shown is a `SpecError`.
    """
    shown = find_named(facts, dimensions, "--dimensions", "that the table shows")
    added = find_named(facts, sums, "--sums", "of amounts")
    for option, columns in (("--dimensions", shown), ("--sums", [*shown, *added])):
        names = [column.name for column in columns]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise SpecError(f"{option} must name each column once; {twice} is there twice.")
    proposals = []
    for proposal in propose(facts, is_guessed=False):
        if proposal.facts in shown:
            proposals.append(_as_dimension(proposal))
        elif proposal.facts in added:
            proposals.append(_as_sum(proposal))
        else:
            proposals.append(_left_out(proposal))
    names_shown, names_added = ([one.name for one in columns] for columns in (shown, added))
    return with_quasi_identifier(proposals, names_shown), names_shown, names_added


def with_quasi_identifier(
    proposals: Sequence[Proposal], dimensions: Sequence[str]
) -> list[Proposal]:
    """Give a hierarchy to the dimension with the most values if none has one: specs need one."""
    shown = [one for one in proposals if one.name in dimensions]
    if any(one.role == "quasi_identifier" for one in shown):
        return list(proposals)
    largest = max(shown, key=lambda one: one.facts.distinct)
    return [replace(one, role="quasi_identifier") if one is largest else one for one in proposals]


def check_shown(proposals: Sequence[Proposal], dimensions: Sequence[str]) -> None:
    """Raise a `SpecError` if somebody gave a dimension a role that is not shown."""
    for one in proposals:
        if one.name in dimensions and one.role not in {*_KEPT, "quasi_identifier"}:
            raise SpecError(
                f"--dimensions must name columns that are shown; {one.name} is {one.role}. Give it "
                "another role, or leave it out of --dimensions."
            )


def _as_dimension(proposal: Proposal) -> Proposal:
    """Return a proposal that is shown: as it is if it has few values, else by a hierarchy."""
    facts = proposal.facts
    # Beside others it may be dropped because it follows from them; by itself it is not.
    alone = proposal if proposal.role == KEY else propose_role(facts)
    if reason := _unshown_reason(alone):
        raise SpecError(
            f"--dimensions must name columns that a table can show; {proposal.name} {reason}."
        )
    is_kept = alone.role in _KEPT and alone.mask is None
    if alone.role == "quasi_identifier" or (is_kept and facts.distinct <= FEW):
        return alone
    role = "insensitive" if facts.distinct <= FEW else "quasi_identifier"
    return replace(alone, role=role, mask=None, reason=f"a dimension of the table; {alone.reason}")


def _as_sum(proposal: Proposal) -> Proposal:
    facts = proposal.facts
    reasons = {
        "is the record key": proposal.role == KEY,
        f"is an identifier: {proposal.reason}": proposal.role == "identifier",
        f"is of the type {facts.type}": facts.kind != "number",
    }
    if reason := next((reason for reason, holds in reasons.items() if holds), None):
        raise SpecError(
            f"--sums must name columns of amounts; {proposal.name} {reason}. Name another column, "
            "or leave it out."
        )
    # Sensitive columns would tell the rows of <n>_frequencies apart.
    reason = "added up in the table, and shown of nobody"
    return Proposal(facts, "insensitive", reason)


def _left_out(proposal: Proposal) -> Proposal:
    is_named = proposal.role == "identifier" and proposal.is_decided
    if proposal.role == KEY or is_named:
        return proposal
    return Proposal(proposal.facts, "dropped", "the table does not show it")


def _unshown_reason(proposal: Proposal) -> str:
    """Return the reason why a table cannot show a column, and a remedy; "" if it can."""
    facts = proposal.facts
    is_named_text = name_indicates(facts.name, "free_text") and facts.distinct > FEW
    is_free_text = facts.kind == "text" and (facts.is_free_text or is_named_text)
    group = "Make groups of it in a model before, or name another column"
    reasons = {
        f"is the record key: every record has another value. {group}": proposal.role == KEY,
        f"is an identifier, which is never released: {proposal.reason}. {group}": (
            proposal.role == "identifier" and proposal.is_decided
        ),
        f"is free text, which may name anybody. {group}": is_free_text,
        f"is of the type {facts.type}. Cast it in a model before": facts.kind == "other",
        "has a time zone, which each session shows otherwise. Cast it in a model before, with the "
        "zone that is meant (at time zone 'UTC')": facts.has_zone,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")
