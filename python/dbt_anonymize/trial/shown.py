"""An alternative in words, and a few rows as they would be released."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from dbt_anonymize.drafting.plans import Plan
from dbt_anonymize.hierarchies.bounds import bound_text
from dbt_anonymize.hierarchies.model import ROOT, IntervalHierarchy
from dbt_anonymize.trial.alternatives import Trial
from dbt_anonymize.trial.sample import Drawn

_ROWS = 5


def in_words(plans: Sequence[Plan], node: Sequence[int]) -> str:
    """Say what levels keep of each quasi-identifier, and what they give up.

    Examples
    --------
    >>> from decimal import Decimal
    >>> tree = IntervalHierarchy(
    ...     tuple(map(Decimal, (0, 10, 20))), tuple(map(Decimal, (10, 20, 30))),
    ...     (("[00, 10)", "[10, 20)", "[20, 30)"), ("*", "*", "*")),
    ... )
    >>> age, other = Plan("age", "seed", tree, ""), Plan("height", "seed", tree, "")
    >>> in_words([age, other], (1, 2))
    'age by 10; gives up height'
    """
    kept, untouched, gone = [], [], []
    for one, level in zip(plans, node, strict=True):
        if level == 0:
            untouched.append(one.column)
        elif {*one.hierarchy.labels[level - 1]} == {ROOT}:
            gone.append(one.column)
        else:
            kept.append(f"{one.column} {_how(one, level)}")
    parts = [*kept]
    if untouched:
        parts.append(f"{', '.join(untouched)} as {'it is' if len(untouched) == 1 else 'they are'}")
    if gone:
        return "; ".join([", ".join(parts), f"gives up {', '.join(gone)}"] if parts else gone)
    return ", ".join(parts)


def _how(one: Plan, level: int) -> str:
    labels = one.hierarchy.labels[level - 1]
    distinct = list(dict.fromkeys(labels))
    if isinstance(one.hierarchy, IntervalHierarchy):
        width = _width(one.hierarchy, labels)
        return f"by {bound_text(width)}" if width else f"in {len(distinct)} intervals"
    return f"in {len(distinct)} groups"


def _width(tree: IntervalHierarchy, labels: Sequence[str]) -> Decimal | None:
    """Return the width of all intervals of numbers but the outer ones; None if they differ."""
    ends: dict[str, tuple[Any, Any]] = {}
    for lower, upper, label in zip(tree.lower_bounds, tree.upper_bounds, labels, strict=True):
        ends[label] = ends.get(label, (lower, upper))[0], upper
    widths = {upper - lower for lower, upper in ends.values()}
    width = widths.pop() if len(widths) == 1 else None
    return width if isinstance(width, Decimal) else None


def shown_places(sampled: Drawn, trial: Trial) -> list[int]:
    """Return which of the records that can be shown are: such as every alternative releases."""
    places, is_kept = sampled.shown.places, np.ones(len(sampled.shown.places), dtype=np.bool_)
    for one in trial.alternatives:
        is_kept &= ~one.suppressed[places]
    return [int(at) for at in np.flatnonzero(is_kept)[:_ROWS]]


def generalized(
    sampled: Drawn, plans: Sequence[Plan], node: Sequence[int], shown: Sequence[int]
) -> dict[str, list[str]]:
    """Return the labels of records by quasi-identifier."""
    leaves = sampled.leaves[sampled.shown.places[list(shown)]]
    return {
        plan.column: [_label(plan, leaf, level) for leaf in leaves[:, place]]
        for place, (plan, level) in enumerate(zip(plans, node, strict=True))
    }


def others(sampled: Drawn, shown: Sequence[int]) -> dict[str, list[str]]:
    """Return what is released of records beside the quasi-identifiers, by column."""
    return {name: [_text(of[at]) for at in shown] for name, of in sampled.shown.values.items()}


def _label(plan: Plan, leaf: int, level: int) -> str:
    tree = plan.hierarchy
    if leaf >= len(tree.labels[0]):
        return _text(None) if level == 0 else ROOT
    if level:
        return tree.labels[level - 1][leaf]
    return tree.labels[0][leaf] if isinstance(tree, IntervalHierarchy) else tree.values[leaf]


def _text(value: Any) -> str:
    return "" if value is None else str(value)
