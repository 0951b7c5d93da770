"""Measures of what a model predicts, whatever its task."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.evaluation.measures import (
    Predicted,
    Predictions,
    classification_measures,
    regression_measures,
    survival_measures,
)
from dbt_anonymize.evaluation.problem import Target
from dbt_anonymize.evaluation.unsupervised import anomaly_measures, clustering_measures

# By measure and, of a measure about one class, the code of the class.
Values = Mapping[tuple[str, int | None], float]


def prediction_measures(target: Target, records: Ints, predicted: Predictions) -> Values:
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
