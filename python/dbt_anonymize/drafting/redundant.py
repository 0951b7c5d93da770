"""Columns that say again what another one says, or what models predict."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from dbt_anonymize.drafting.facts import ColumnFacts
from dbt_anonymize.drafting.proposal import MOST_CATEGORIES, PREDICTED, Proposal


def without_redundant(
    found: Sequence[Proposal], keep: Collection[ColumnFacts] = ()
) -> list[Proposal]:
    """Drop what follows from another column, and what tells the target: a number of cigarettes.

    What somebody wants to ``keep`` stays.
    """
    target = next((one for one in found if one.is_target), None)
    telling = target.facts.follows if target else ()
    predicted = [one for one in found if one.role in PREDICTED]
    open_ = [one for one in predicted if one.name not in telling]
    kept: dict[str, Proposal] = {}
    dropped = {
        one.name: f"each of its values has one {target.name}, so models would learn nothing else"
        for one in predicted
        if target and one.name in telling
    }
    for one in sorted(open_, key=_detail):
        finer = next((n for n in one.facts.follows if n in kept and _replaces(kept[n], one)), None)
        if finer is None or one.is_target:
            kept[one.name] = one
        else:
            dropped[one.name] = f"it follows from {finer}: each value of that has one of these"
    return [
        replace(one, role="dropped", reason=dropped[one.name], mask=None, is_decided=True)
        if one.name in dropped and one.facts not in keep
        else one
        for one in found
    ]


def _replaces(finer: Proposal, one: Proposal) -> bool:
    """Tell whether a column is needless beside a finer one; groups of hundreds of codes are not."""
    many = finer.facts.distinct > max(MOST_CATEGORIES, one.facts.distinct)
    return finer.is_target or not many


def _detail(one: Proposal) -> tuple[bool, int, int]:
    """Order the target first, then columns of many values, of two that are alike the plain name."""
    return not one.is_target, -one.facts.distinct, len(one.name)
