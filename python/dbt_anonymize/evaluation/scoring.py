"""Train one model per effort and repetition, and score it on records that it has never seen.

A model is trained on the training records of its effort that are not suppressed. It predicts all
test records, suppressed ones too, twice: untouched (``original``) and generalized like the training
records (``generalized``). For effort 0 both are the same.

This module runs in worker processes: it imports nothing that a worker does not need.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.features import Design, filled, training_medians
from dbt_anonymize.evaluation.forest import forest_probabilities, supports
from dbt_anonymize.evaluation.measures import MEASURES, confusion_counts
from dbt_anonymize.evaluation.splits import Split, seeds, split_records

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """All that a worker needs to know; efforts by position, the first one untouched."""

    target: Codes
    classes: int
    positive: int | None
    designs: Sequence[Design]
    suppressed: Sequence[NDArray[np.bool_]]
    model: str
    parameters: Mapping[str, Any]
    measure: str
    test_share: float
    random_state: int


@dataclass(frozen=True)
class Task:
    """Models that share a split."""

    repetition: int
    efforts: tuple[int, ...]


@dataclass(frozen=True)
class Score:
    """The two values of one model; NaN with a reason if it could not be trained."""

    effort: int
    repetition: int
    original: float
    generalized: float
    reason: str | None = None


def score_task(problem: Problem, task: Task) -> list[Score]:
    """Train and score the models of a task.

    Parameters
    ----------
    problem : Problem
        The data and the choice of model and measure.
    task : Task
        A repetition and the efforts to do in it.

    Returns
    -------
    list of Score
        One per effort of the task, in its order.

    Raises
    ------
    EvaluationError
        If the model cannot be trained on the untouched records.
    """
    split_seed, model_seed = seeds(problem.random_state, task.repetition)
    split = split_records(problem.target, problem.test_share, split_seed)
    return [_score(problem, split, model_seed, effort, task.repetition) for effort in task.efforts]


def _score(problem: Problem, split: Split, seed: int, effort: int, repetition: int) -> Score:
    train = split.train[~problem.suppressed[effort][split.train]]
    classes = len(np.unique(problem.target[train]))
    if classes < 2:
        reason = f"the training records hold {classes} of {problem.classes} classes"
        return Score(effort, repetition, math.nan, math.nan, reason)
    try:
        original, generalized = _predict(problem, train, split.test, effort, seed)
    except (ValueError, ArithmeticError) as error:
        if effort == 0:
            raise EvaluationError(
                f"{problem.model} must be trainable on the untouched records; it is not, since "
                f"scikit-learn says: {error} Correct quality.parameters or choose another model."
            ) from error
        return Score(effort, repetition, math.nan, math.nan, str(error))
    measure = MEASURES[problem.measure]
    true = problem.target[split.test]
    values = [
        measure(confusion_counts(true, predicted, problem.classes), problem.positive)
        for predicted in (original, generalized)
    ]
    return Score(effort, repetition, values[0], values[1])


def _predict(
    problem: Problem, train: Codes, test: Codes, effort: int, seed: int
) -> tuple[Codes, Codes]:
    """Return the predicted classes of the original and of the generalized test records."""
    own, untouched = problem.designs[effort], problem.designs[0]
    medians = training_medians(own, train)
    asked = [untouched] if effort == 0 else [untouched, own]
    used = [_used_rows(design, test) for design in asked]
    rows = np.vstack(
        [filled(design.rows[kept], medians) for design, (kept, _) in zip(asked, used, strict=True)]
    )
    estimator = estimators.make_estimator(problem.model, problem.parameters, seed)
    predicted = fit_predict(
        estimator, filled(own.rows, medians), own.codes[train], problem.target[train], rows
    )
    original = predicted[used[0][1]]
    if effort == 0:
        return original, original
    return original, predicted[len(used[0][0]) + used[1][1]]


def _used_rows(design: Design, records: Codes) -> tuple[Codes, Codes]:
    """Return the distinct rows that records use, and the place of each record among them."""
    codes = design.codes[records]
    is_used = np.zeros(len(design.rows), dtype=bool)
    is_used[codes] = True
    kept = np.flatnonzero(is_used)
    place = np.cumsum(is_used) - 1
    return kept, place[codes]


def fit_predict(
    estimator: Any, rows: Floats, train: Codes, target: Codes, test_rows: Floats
) -> Codes:
    """Train a model and return the class that it predicts for each test row.

    Parameters
    ----------
    estimator : sklearn.base.ClassifierMixin
        Unfitted.
    rows : array of float, shape (distinct rows, features)
        Without missing values.
    train : array of int
        For each training record, its row.
    target : array of int
        For each training record, its class.
    test_rows : array of float, shape (n, features)
        Without missing values.

    Returns
    -------
    array of int, shape (n,)
        What ``estimator.fit(rows[train], target).predict(test_rows)`` returns.
    """
    if supports(estimator):
        found = forest_probabilities(estimator, rows, train, target, test_rows)
        if found is not None:
            classes, probabilities = found
            return np.asarray(classes.take(np.argmax(probabilities, axis=1)))
    return np.asarray(estimator.fit(rows[train], target).predict(test_rows))
