"""A few rows of an alternative as they would be released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.trial.alternatives import Trial
from dbt_anonymize.extensions.trial.choice import BALANCED
from dbt_anonymize.extensions.trial.sample import Drawn
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy

_ROWS = 5


def example_places(sampled: Drawn, trial: Trial, plans: Sequence[Plan]) -> list[int]:
    """Return the positions of a few example records that every alternative releases.

    As far as there are any, the records differ in what the first of the alternatives, or the
    balanced one, releases of them.
    """
    places, is_released = (
        sampled.examples.places,
        np.ones(len(sampled.examples.places), dtype=np.bool_),
    )
    for alternative in trial.alternatives:
        is_released &= ~alternative.suppressed[places]
    released = [int(place) for place in np.flatnonzero(is_released)]
    compared = next(
        (one for one in trial.alternatives if BALANCED in one.names), trial.alternatives[0]
    )
    labels = generalized_labels(sampled, plans, compared.checked.node, released)
    shown = zip(*labels.values(), *other_values(sampled, released).values(), strict=True)
    first = dict[tuple[str, ...], int]()
    for row, place in zip(shown, released, strict=True):
        first.setdefault(row, place)
    differing = [*first.values()]
    alike = [place for place in released if place not in differing]
    return sorted([*differing, *alike][:_ROWS])


def generalized_labels(
    sampled: Drawn, plans: Sequence[Plan], node: Sequence[int], rows: Sequence[int]
) -> dict[str, list[str]]:
    """Return the labels of records by quasi-identifier."""
    leaves = sampled.leaves[sampled.examples.places[list(rows)]]
    return {
        plan.column: [
            _label(plan, leaf, level, sampled.examples.raw, row)
            for row, leaf in zip(rows, leaves[:, place], strict=True)
        ]
        for place, (plan, level) in enumerate(zip(plans, node, strict=True))
    }


def other_values(sampled: Drawn, rows: Sequence[int]) -> dict[str, list[str]]:
    """Return the released values beside the quasi-identifiers, by column."""
    return {
        name: [_text(values[row]) for row in rows]
        for name, values in sampled.examples.values.items()
    }


def _label(plan: Plan, leaf: int, level: int, raw: Mapping[str, Sequence[Any]], row: int) -> str:
    """Return what is released of a value; ``raw`` are those of numbers and dates."""
    tree = plan.hierarchy
    if leaf >= len(tree.labels[0]):  # NULL
        return ROOT
    if level:
        return tree.labels[level - 1][leaf]
    if isinstance(tree, CategoricalHierarchy):
        return tree.values[leaf]
    return _text(raw[plan.column][row])


def _text(value: Any) -> str:
    """Return a value as text: six digits of a binary fraction, booleans as labels have them.

    Examples
    --------
    >>> _text(None), _text(0.1 + 0.2), _text(True)
    ('NULL', '0.3', 'true')
    """
    if isinstance(value, float):
        return str(value) if value.is_integer() else f"{value:.6g}"
    if isinstance(value, bool):
        return str(value).lower()
    return "NULL" if value is None else str(value)
