"""Columns that say again what another one says, or what models predict."""

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

# What explains so much of the target by itself is the target in other words.
NEAR_COPY = 0.95


def without_redundant(
    found: Sequence[Proposal], keep: Collection[ColumnFacts] = ()
) -> list[Proposal]:
    """Drop what follows from another column, and what tells the target: a number of cigarettes.

    What somebody wants to ``keep`` stays.
    """
    target = next((one for one in found if one.is_target), None)
    predicted = [one for one in found if one.role in PREDICTED]
    kept: dict[str, Proposal] = {}
    leaks = {one.name: why for one in predicted if target and (why := _leak(one, target))}
    dropped = dict(leaks)
    for one in sorted((one for one in predicted if one.name not in leaks), key=_detail):
        finer = next((n for n in one.facts.follows if n in kept and _replaces(kept[n], one)), None)
        if finer is None or one.is_target:
            kept[one.name] = one
        else:
            dropped[one.name] = f"it follows from {finer}: each value of that has one of these"
    why = "models would learn nothing else: "
    return [
        replace(
            one,
            role="dropped",
            reason=f"{why if one.name in leaks else ''}{dropped[one.name]}",
            mask=None,
            is_decided=True,
            is_leak=one.name in leaks,
        )
        if one.name in dropped and one.facts not in keep
        else one
        for one in found
    ]


def _leak(one: Proposal, target: Proposal) -> str:
    """Say why models would learn the target from a column and nothing else; "" where not."""
    if one.is_target or one.is_time:
        return ""
    if one.name in target.facts.follows:
        return f"each of its values has one {target.name}"
    if one.facts.known_with:
        return one.facts.known_with
    # A category of many values may well explain classes; a copy of classes has as many.
    has_as_many = is_amount(target.facts) or one.facts.distinct <= target.facts.distinct + 1
    if has_as_many and (one.facts.tells or 0.0) >= NEAR_COPY:
        return f"it {one.facts.explains} of {target.name} by itself"
    return ""


def _replaces(finer: Proposal, one: Proposal) -> bool:
    """Tell whether a column is needless beside a finer one; groups of hundreds of codes are not."""
    many = finer.facts.distinct > max(MOST_CATEGORIES, one.facts.distinct)
    return finer.is_target or not many


def _detail(one: Proposal) -> tuple[bool, int, int]:
    """Order the target first, then columns of many values, of two that are alike the plain name."""
    return not one.is_target, -one.facts.distinct, len(one.name)
