"""Predictions over a grid of two features, made of original values that occur."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data.features import VALUES, Column
from dbt_anonymize.evaluation.data.spaces import Numbers
from dbt_anonymize.evaluation.facts import Detail, Fact
from dbt_anonymize.evaluation.inspections import Answers, Inspection, Question
from dbt_anonymize.evaluation.measures import Predicted
from dbt_anonymize.evaluation.problem import ZERO_RULE, Model
from dbt_anonymize.evaluation.views import ORIGINAL, View

# Values of each feature.
STEPS = 30


@dataclass(frozen=True)
class Grid(Inspection):
    """Predictions of the models of the first split, but for the zero rule.

    A fact of kind ``grid_point`` has the feature as ``name``, the point as ``bin`` and the number
    there as ``value``. A detail of kind ``grid`` has the class as ``name``, and as ``value`` its
    probability, or 1 where it is predicted by a model without probabilities; a regression has its
    number, a time-to-event model its risk, under the name of the target.

    Attributes
    ----------
    features : tuple of str
        The two features that differ.
    columns : tuple of array of int, shape (points,)
        A code for each column of the untouched effort.
    values : tuple of array of float, shape (points,)
        The numbers of the two features.
    """

    features: tuple[str, str]
    columns: tuple[Ints, ...]
    values: tuple[Floats, Floats]

    def facts(self) -> Iterator[Fact]:
        """Yield the numbers of the two features at each point."""
        for name, values in zip(self.features, self.values, strict=True):
            for point, value in enumerate(values.tolist()):
                yield Fact(0, "grid_point", name, value, bin=point)

    def points(self, split: tuple[int, int]) -> Sequence[Ints]:
        """Return the points, in the first split."""
        return self.columns if split == (1, 1) else ()

    def question(
        self, model: Model, view: View, points: Floats, seed: tuple[int, int]
    ) -> Question | None:
        """Ask for the points, but not the zero rule, which answers all alike."""
        asks = len(points) and model.model != ZERO_RULE
        return Question(self._details, points) if asks else None

    def _details(self, answers: Answers) -> Iterator[Detail]:
        target, predicted = answers.target, answers.further
        if not isinstance(predicted, Predicted):
            for point, value in enumerate(predicted.tolist()):
                yield Detail(ORIGINAL, "grid", target.name, None, point, value)
            return
        shares = predicted.probabilities
        if shares is None:
            shares = (predicted.labels[:, None] == np.arange(len(target.classes))).astype(
                np.float64
            )
        for code, name in enumerate(target.classes):
            for point, value in enumerate(shares[:, code].tolist()):
                yield Detail(ORIGINAL, "grid", name, None, point, value)


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
    codes: list[Ints] = [np.full(len(x), _typical_code(column)) for column in columns]
    codes[places[0]], codes[places[1]] = x, y
    first, second = (_numbers(columns[place]) for place in places)
    if first is None or second is None:  # refused above
        raise TypeError("a grid needs numbers")
    return Grid(features, tuple(codes), (first[x], second[y]))


def _numbers(column: Column) -> Floats | None:
    block = column.own[VALUES][0]
    return block.values[:, 0] if isinstance(block, Numbers) else None


def _even_codes(column: Column, name: str) -> Ints:
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
