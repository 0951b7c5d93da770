"""A few rows of an alternative as they would be released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.trial.alternatives import Trial
from dbt_anonymize.extensions.trial.sample import Drawn
from dbt_anonymize.hierarchies.model import ROOT, IntervalHierarchy

_ROWS = 5


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
    """Return a value as a reader sees it: of a binary fraction, six digits.

    Examples
    --------
    >>> _text(None), _text(0.1 + 0.2)
    ('NULL', '0.3')
    """
    if isinstance(value, float):
        return str(value) if value.is_integer() else f"{value:.6g}"
    return "NULL" if value is None else str(value)
