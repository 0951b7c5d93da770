"""Train a model on rows that are stored once, and predict distinct test rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.measures import Predicted, Predictions
from dbt_anonymize.evaluation.problem import Target
from dbt_anonymize.evaluation.unsupervised import unsupervised_answers
from dbt_anonymize.extension import trainers
from dbt_anonymize.tasks import UNSUPERVISED

# Their `predict` returns the first class of the highest probability: `predict_proba` is enough.
_PREDICTS_BY_PROBABILITY = frozenset(
    {
        "BaggingClassifier",
        "DecisionTreeClassifier",
        "ExtraTreesClassifier",
        "RandomForestClassifier",
    }
)


@dataclass(frozen=True)
class TrainingSet:
    """The training records of one effort.

    Attributes
    ----------
    rows : array of float, shape (distinct rows, features)
        Without missing values.
    codes, records : array of int, shape (training records,)
        The row of each training record, and its position among all records.
    has_unit : array of bool, shape (features,)
        Which features are numbers; the others are 0 or 1, or shares.
    """

    rows: Floats
    codes: Ints
    records: Ints
    has_unit: Bools

    @cached_property
    def standard(self) -> Standard:
        """The rows with numbers in standard deviations of the training records, shared by models.

        Other features stay: divided by its deviation, a rare category would outweigh everything
        else.
        """
        from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

        center, scale = np.zeros(self.rows.shape[1]), np.ones(self.rows.shape[1])
        if self.has_unit.any():
            scaler = StandardScaler(copy=False).fit(self.rows[:, self.has_unit][self.codes])
            center[self.has_unit], scale[self.has_unit] = scaler.mean_, scaler.scale_
        return Standard(center, scale, (self.rows - center) / scale)


@dataclass(frozen=True)
class Standard:
    """Rows less a center, divided by a scale."""

    center: Floats
    scale: Floats
    rows: Floats


def fit_predict(
    estimator: Any,
    training: TrainingSet,
    target: Target,
    test_rows: Floats,
    *,
    is_scaled: bool = False,
) -> Predictions:
    """Train an unfitted estimator and return its predictions for each test row.

    No feature is missing. ``is_scaled``: it sees numbers in standard deviations. A classification
    gives `Predicted`, a regression numbers, a survival target risks, a clustering clusters and an
    anomaly task scores, shape (test rows,).
    """
    records = training.records
    if is_scaled:
        standard = training.standard
        training = replace(training, rows=standard.rows)
        test_rows = (test_rows - standard.center) / standard.scale
    if target.codes is not None and target.task == "classification":
        true, classes = target.codes[records], len(target.classes)
        return _classify(estimator, training, true, classes, test_rows)
    if target.task in UNSUPERVISED:
        fitted = estimator.fit(training.rows[training.codes])
        return unsupervised_answers(fitted, test_rows, target.task)
    if target.numbers is None:
        raise TypeError(f"a target of {target.task} must have numbers")
    numbers: NDArray[Any] = target.numbers[records]
    if target.task == "survival" and target.codes is not None:
        numbers = estimators.survival_target(target.codes[records] == 1, numbers)
    fitted = estimator.fit(training.rows[training.codes], numbers)
    return np.asarray(fitted.predict(test_rows), dtype=np.float64).reshape(len(test_rows))


def _classify(
    estimator: Any, training: TrainingSet, true: Ints, classes: int, test_rows: Floats
) -> Predicted:
    rows, codes = training.rows, training.codes
    for train in trainers():
        if (trained := train(estimator, rows, codes, true, test_rows)) is not None:
            seen, probabilities = trained
            return _by_probability(seen, probabilities, classes)
    fitted = estimator.fit(rows[codes], true)
    seen = np.asarray(fitted.classes_)
    if type(fitted).__name__ in _PREDICTS_BY_PROBABILITY:
        return _by_probability(seen, np.asarray(fitted.predict_proba(test_rows)), classes)
    labels = np.asarray(fitted.predict(test_rows), dtype=np.int64)
    if hasattr(fitted, "predict_proba"):
        probabilities = _spread(fitted.predict_proba(test_rows), seen, classes, missing=0.0)
        return Predicted(labels, probabilities)
    if hasattr(fitted, "decision_function"):
        scores = np.asarray(fitted.decision_function(test_rows), dtype=np.float64)
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        # Models that compare pairs of classes have no score per class.
        if scores.shape[1] == len(seen):
            return Predicted(labels, None, _spread(scores, seen, classes, missing=-np.inf))
    return Predicted(labels)


def _by_probability(seen: Ints, probabilities: Floats, classes: int) -> Predicted:
    labels = np.asarray(seen.take(np.argmax(probabilities, axis=1)), dtype=np.int64)
    return Predicted(labels, _spread(probabilities, seen, classes, missing=0.0))


def _spread(values: Floats, seen: Ints, classes: int, missing: float) -> Floats:
    """Return a column for every class; those without training records hold ``missing``."""
    if len(seen) == classes:
        return np.asarray(values, dtype=np.float64)
    spread = np.full((len(values), classes), missing)
    spread[:, seen] = values
    return spread
