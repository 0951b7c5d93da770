"""Details of a model beyond its measures over all test records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dbt_anonymize.evaluation.arrays import Codes, Floats
from dbt_anonymize.evaluation.measures import (
    Predicted,
    classification_measures,
    regression_measures,
    survival_measures,
)
from dbt_anonymize.evaluation.problem import Groups, Importance, Target
from dbt_anonymize.evaluation.unsupervised import anomaly_measures, clustering_measures
from dbt_anonymize.evaluation.views import ORIGINAL, View

# Most test records for importance: each is predicted once per feature.
MOST_PERMUTED = 5_000
# By measure and, of a measure about one class, the code of the class.
Values = Mapping[tuple[str, int | None], float]


class Detail(NamedTuple):
    """A row about one model of one split, see ``outputs.evaluation_frame``; NaN for undefined."""

    test_on: str
    kind: str
    name: str
    other: str | None
    bin: int | None
    value: float


def prediction_measures(target: Target, records: Codes, predicted: Predicted | Floats) -> Values:
    """Return all measures of the predictions for one or more records.

    ``predicted`` has a row per record; an infinite number in it is a `ValueError`.
    """
    if isinstance(predicted, Predicted):
        if target.codes is None:
            raise TypeError("a classification must have classes")
        true, classes = target.codes[records], len(target.classes)
        return classification_measures(true, predicted, classes, target.positive)
    if target.numbers is None:
        raise TypeError(f"a target of {target.task} must have numbers")
    numbers = target.numbers[records]
    if not np.isfinite(predicted).all():
        raise ValueError("what the model predicts is not finite")
    if target.task == "clustering":
        measures = clustering_measures(numbers, predicted)
    elif target.task == "anomaly":
        measures = anomaly_measures(numbers, predicted, target.top_share)
    elif target.codes is None:
        measures = regression_measures(numbers, predicted)
    else:
        measures = survival_measures(target.codes[records] == 1, numbers, predicted)
    return {(measure, None): value for measure, value in measures.items()}


def group_details(
    groups: Sequence[Groups],
    target: Target,
    records: Codes,
    predicted: Predicted | Floats,
    test_on: str,
) -> Iterator[Detail]:
    """Yield the measures over all classes for each group that has test records.

    ``records`` are the test records, in the order of ``predicted``.
    """
    for place, column in enumerate(groups):
        codes = column.codes[records]
        for code, label in enumerate(column.labels):
            rows = np.flatnonzero(codes == code)
            if not len(rows):
                continue
            values = prediction_measures(target, records[rows], predicted[rows])
            for (measure, of_class), value in values.items():
                if of_class is None:
                    yield Detail(test_on, "group_measure", measure, label, place, value)


@dataclass(frozen=True)
class Permuted:
    """Untouched test records, with the values of one column at a time permuted.

    Attributes
    ----------
    records : array of int, shape (n,)
        Positions among the test records.
    columns : tuple of int
        Columns that the model sees.
    rows : array of float, shape (len(columns) * n, features)
        Column after column.
    """

    records: Codes
    columns: tuple[int, ...]
    rows: Floats


def permute(view: View, columns: int, seed: Sequence[int]) -> Permuted:
    """Permute the values of each of ``columns`` columns among at most `MOST_PERMUTED` test records.

    Equal seeds give equal permutations in every effort and model.
    """
    draws = np.random.default_rng(seed)
    untouched = view.test_sets[0]
    records = np.sort(draws.permutation(len(untouched.place))[:MOST_PERMUTED])
    orders = [draws.permutation(len(records)) for _ in range(columns)]
    rows = untouched.rows[untouched.place[records]]
    seen = tuple(column for column in range(columns) if (view.columns == column).any())
    parts = [np.where(view.columns == column, rows[orders[column]], rows) for column in seen]
    return Permuted(records, seen, np.vstack([rows[:0], *parts]))


def importance_details(
    importance: Importance,
    target: Target,
    test: Codes,
    untouched: Predicted | Floats,
    permuted: tuple[Permuted, Predicted | Floats],
) -> Iterator[Detail]:
    """Yield the drop of the measure when the values of a feature are permuted.

    ``untouched`` are the predictions of the test records, ``permuted`` the permuted rows and their
    predictions. The drop is 0 for a feature that the model does not see, NaN where the measure is
    undefined.

    References
    ----------
    .. [1] Breiman 2001, Machine Learning 45(1):5-32 (permutation importance).
    """
    exchanged, predicted = permuted
    records, size = test[exchanged.records], len(exchanged.records)
    key = (importance.measure, None)
    part = untouched[exchanged.records]
    before = prediction_measures(target, records, part).get(key, np.nan)
    for column, feature in enumerate(importance.features):
        fall = before - before
        if column in exchanged.columns:
            first = exchanged.columns.index(column) * size
            permuted_part = predicted[first : first + size]
            fall = before - prediction_measures(target, records, permuted_part).get(key, np.nan)
        yield Detail(ORIGINAL, "importance", importance.measure, feature, None, fall)


def grid_details(target: Target, predicted: Predicted | Floats) -> Iterator[Detail]:
    """Yield the prediction for each point of a grid, by class.

    A class has its probability, or 1 where it is predicted by a model without probabilities. A
    regression has its number, a time-to-event model its risk, under the name of the target.
    """
    if not isinstance(predicted, Predicted):
        for point, value in enumerate(predicted.tolist()):
            yield Detail(ORIGINAL, "grid", target.name, None, point, value)
        return
    shares = predicted.probabilities
    if shares is None:
        shares = (predicted.labels[:, None] == np.arange(len(target.classes))).astype(np.float64)
    for code, name in enumerate(target.classes):
        for point, value in enumerate(shares[:, code].tolist()):
            yield Detail(ORIGINAL, "grid", name, None, point, value)
