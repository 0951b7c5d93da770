"""A grid over two features, made of original values that occur."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.arrays import Codes, Floats
from dbt_anonymize.evaluation.data.features import VALUES, Column
from dbt_anonymize.evaluation.data.spaces import Numbers
from dbt_anonymize.evaluation.problem import Grid

# Values of each feature.
STEPS = 30


def make_grid(names: Sequence[str], columns: Sequence[Column], features: tuple[str, str]) -> Grid:
    """Return up to `STEPS` squared points over two of the features ``names``.

    ``columns`` are those of the untouched effort. The grid of each of the two takes the occurring
    values that are nearest to even steps from the smallest to the largest, so that models read
    points as they read records. Other features have their median, or their most frequent category.
    A feature that is no number is an `EvaluationError`.
    """
    places = [list(names).index(name) for name in features]
    axes = [_even_codes(columns[place], name) for place, name in zip(places, features, strict=True)]
    x, y = (axis.reshape(-1) for axis in np.meshgrid(axes[0], axes[1], indexing="ij"))
    codes: list[Codes] = [np.full(len(x), _typical_code(column)) for column in columns]
    codes[places[0]], codes[places[1]] = x, y
    first, second = (_numbers(columns[place]) for place in places)
    if first is None or second is None:  # refused above
        raise TypeError("a grid needs numbers")
    return Grid(features, tuple(codes), (first[x], second[y]))


def _numbers(column: Column) -> Floats | None:
    block = column.own[VALUES][0]
    return block.values[:, 0] if isinstance(block, Numbers) else None


def _even_codes(column: Column, name: str) -> Codes:
    """Return the codes of the values that are nearest to even steps."""
    numbers = _numbers(column)
    if numbers is None or not np.isfinite(numbers).any():
        raise EvaluationError(
            f"quality.decision_grid: feature `{name}` must be a number or a date that is known of "
            "some record; it is not. Name another feature."
        )
    known = np.flatnonzero(np.isfinite(numbers))
    steps = np.linspace(numbers[known].min(), numbers[known].max(), STEPS)
    nearest = np.abs(numbers[known][None, :] - steps[:, None]).argmin(axis=1)
    return np.unique(known[nearest])


def _typical_code(column: Column) -> int:
    """Return the code of the median record, or of the most frequent category."""
    numbers = _numbers(column)
    if numbers is None or not np.isfinite(numbers).any():
        return int(np.bincount(column.codes).argmax())
    known = column.codes[np.isfinite(numbers[column.codes])]
    order = np.argsort(numbers[known], kind="stable")
    return int(known[order[(len(order) - 1) // 2]])
