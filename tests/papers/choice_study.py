"""Choices of an effort by table, model and measure; the future work of the first TDA paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from threadpoolctl import threadpool_limits

from dbt_anonymize.evaluation.estimators import estimator_type, make_estimator
from dbt_anonymize.evaluation.measures import (
    LOWER_IS_BETTER,
    Predicted,
    classification_measures,
)
from dbt_anonymize.evaluation.problem import ZERO_RULE, Target
from dbt_anonymize.evaluation.splits import Split, Splitting, draw_splits, seeds
from dbt_anonymize.evaluation.training import TrainingSet, fit_predict
from tests.papers.choice_tables import RANDOM_STATE, Floats, Ints, Released, Table

MODELS: Mapping[str, Mapping[str, Any]] = {
    "logistic_regression": {},
    "naive_bayes": {},
    "decision_tree": {},
    "random_forest": {"n_estimators": 50},
    "extra_trees": {"n_estimators": 50},
    "bagging": {},
    "gradient_boosting": {"max_iter": 50},
    "k_nearest_neighbours": {},
}
MEASURES = ("accuracy", "balanced_accuracy", "f1", "roc_auc", "brier_score", "log_loss")
TEST_SHARE, CONFIDENCE = 0.3, 0.95
RESAMPLES = 200
# What no effort qualifies for.
NONE = 0


@threadpool_limits.wrap(limits=1)
def scores(table: Table, models: Iterable[str]) -> dict[str, Floats]:
    """Return QF by model, shape (efforts, measures, splits), the untouched table first.

    The zero rule is among the models, trained on the untouched table alone.
    """
    codes = table.is_positive.astype(np.int64)
    target = Target("target", "classification", ("no", "yes"), 1, codes)
    splitting = Splitting(1, test_share=TEST_SHARE)
    tried = {ZERO_RULE: table.efforts[:1], **dict.fromkeys(models, table.efforts)}
    found = {name: np.empty((len(e), len(MEASURES), table.splits)) for name, e in tried.items()}
    for repetition in range(table.splits):
        seed, model_seed = seeds(RANDOM_STATE, repetition + 1)
        (split,) = draw_splits(splitting, seed, records=len(codes), strata=codes, groups=None)
        for name, efforts in tried.items():
            for number, effort in enumerate(efforts):
                predicted = _predicted(name, effort, target, split, model_seed)
                found[name][number, :, repetition] = _qf(codes[split.test], predicted)
    return found


def _predicted(
    name: str, effort: Released, target: Target, split: Split, model_seed: int
) -> Predicted:
    train = split.train[~effort.is_suppressed[split.train]]
    rows, of_training = np.unique(effort.values[train], axis=0, return_inverse=True)
    training = TrainingSet(rows, of_training.reshape(-1), train, np.ones(2, dtype=bool))
    asked, of_test = np.unique(effort.values[split.test], axis=0, return_inverse=True)
    estimator = make_estimator(name, MODELS.get(name, {}), model_seed)
    is_scaled = estimator_type(name).is_scaled
    answers = fit_predict(estimator, training, target, asked, is_scaled=is_scaled)
    assert isinstance(answers, Predicted)
    assert answers.probabilities is not None
    places = of_test.reshape(-1)
    return replace(
        answers,
        labels=answers.labels[places],
        probabilities=answers.probabilities[places],
        is_zero_rule=name == ZERO_RULE,
    )


def _qf(true: Ints, predicted: Predicted) -> list[float]:
    measured = classification_measures(true, predicted, 2, 1)
    return [measured[m, None] * (-1 if m in LOWER_IS_BETTER else 1) for m in MEASURES]


def beats(qf: Floats, zero: Floats) -> NDArray[np.bool_]:
    """Tell by effort and measure whether the interval above the zero rule is without 0.

    Corrected by the ratio of test to training records, as in `<n>_quality`; splits are last.
    """
    difference = qf - zero
    splits = qf.shape[-1]
    error = np.sqrt(1 / splits + TEST_SHARE / (1 - TEST_SHARE))
    half = stats.t.ppf((1 + CONFIDENCE) / 2, splits - 1) * error * difference.std(-1, ddof=1)
    is_above: NDArray[np.bool_] = difference.mean(-1) - half > 0
    return is_above


def chosen(qf: Floats, k: Ints, qnf: Floats) -> Ints:
    """Return the position of the effort that ``alpha: auto`` chooses; efforts are last.

    Among the largest ``QF + alpha * QNF``, alpha the slope between the efforts of best quality and
    of strongest privacy, the largest k wins, then the first. Where none lies above this line, its
    ends tie by construction and QF decides. All are efforts that qualify.

    Examples
    --------
    >>> k = np.array([2, 4, 10])
    >>> int(chosen(np.array([0.9, 0.89, 0.5]), k, 1 - 1 / k))
    1
    """
    qf = np.round(qf, 12)
    best_qf = qf.max(-1, keepdims=True)
    its_qnf = np.where(qf == best_qf, qnf, -np.inf).max(-1, keepdims=True)
    last_qf = np.where(qnf == qnf.max(), qf, -np.inf).max(-1, keepdims=True)
    gain = qnf.max() - its_qnf
    alpha = np.where(gain > 0, (best_qf - last_qf) / np.where(gain > 0, gain, 1), 0)
    q = qf + alpha * qnf
    largest, ends = q.max(-1, keepdims=True), best_qf + alpha * its_qnf
    margin = 1e-12 * (1 + np.abs(largest))
    is_undetermined = (alpha > 0) & (largest <= ends + margin)
    order = np.where(is_undetermined, qf, k)
    found: Ints = np.where(q >= largest - margin, order, -np.inf).argmax(-1)
    return found


def choices(
    table: Table, of_model: Floats, zero: Floats, *, is_bounded: bool
) -> list[tuple[int, float]]:
    """Return by measure the number of the chosen effort, and how often splits drawn again agree.

    ``is_bounded``: QNF is ``1 - 1/k`` instead of k.
    """
    qualifies = beats(of_model, zero)
    drawn = np.random.default_rng(RANDOM_STATE).integers(
        table.splits, size=(RESAMPLES, table.splits)
    )
    found = []
    for place in range(len(MEASURES)):
        may = [
            number
            for number, effort in enumerate(table.efforts)
            if number and effort.keeps_guarantees and qualifies[number, place]
        ]
        if not may:
            found.append((NONE, float("nan")))
            continue
        k = np.array([table.efforts[number].k for number in may])
        qnf = 1 - 1 / k if is_bounded else k.astype(np.float64)
        qf = of_model[may, place]
        first = int(chosen(qf.mean(-1), k, qnf))
        again = chosen(qf[:, drawn].mean(-1).T, k, qnf)
        found.append((may[first], float((again == first).mean())))
    return found
