"""The measures are those of scikit-learn and scikit-survival."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from dbt_anonymize.evaluation.measures import (
    Predicted,
    classification_measures,
    regression_measures,
    survival_measures,
)
from dbt_anonymize.evaluation.unsupervised import anomaly_measures, clustering_measures
from dbt_anonymize.spec.quality import Measure, task_of_measure
from dbt_anonymize.spec.quality_rules import MEASURES_OF_ONE_CLASS

pytestmark = pytest.mark.costly

PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40)


def measured(true: list[int], predicted: list[int], classes: int, measure: str) -> list[float]:
    """Return a measure of each class."""
    found = classification_measures(np.array(true), Predicted(np.array(predicted)), classes, None)
    return [found[measure, code] for code in range(classes)]


@given(pairs=PAIRS)
def test_accuracies_equal_those_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    true, predicted = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        balanced = metrics.balanced_accuracy_score(true, predicted)
        correlation = metrics.matthews_corrcoef(true, predicted)
    found = classification_measures(np.array(true), Predicted(np.array(predicted)), 3, None)
    assert found["accuracy", None] == pytest.approx(metrics.accuracy_score(true, predicted))
    assert found["balanced_accuracy", None] == pytest.approx(balanced)
    assert found["matthews_correlation", None] == pytest.approx(correlation)


@given(pairs=PAIRS, positive=st.integers(0, 2))
def test_measures_of_a_class_equal_those_of_scikit_learn(
    pairs: list[tuple[int, int]], positive: int
) -> None:
    true, predicted = (np.array(side) == positive for side in zip(*pairs, strict=True))
    recall = metrics.recall_score(true, predicted, zero_division=math.nan)
    expected = {
        "precision": metrics.precision_score(true, predicted, zero_division=0.0),
        "recall": recall,
        "sensitivity": recall,
        "specificity": metrics.recall_score(~true, ~predicted, zero_division=math.nan),
        "f1": metrics.f1_score(true, predicted, zero_division=0.0),
    }
    if not true.any():  # where scikit-learn says 0.0 as soon as one is predicted
        expected |= dict.fromkeys(("precision", "f1"), math.nan)
    assert set(expected) == MEASURES_OF_ONE_CLASS
    codes = np.array(pairs, dtype=np.int64)
    whole = classification_measures(codes[:, 0], Predicted(codes[:, 1]), 3, positive)
    found = {name: whole[name, None] for name in expected}
    assert found == pytest.approx(expected, nan_ok=True)
    del expected["recall"]
    found = {name: whole[name, positive] for name in expected}
    assert found == pytest.approx(expected, nan_ok=True)


def test_a_model_that_never_answers_positive_has_no_precision() -> None:
    for measure in ("precision", "sensitivity", "f1"):
        assert measured([0, 1, 1], [0, 0, 0], 2, measure)[1] == 0.0


def test_the_zero_rule_has_the_measures_of_the_best_constant_answer() -> None:
    true = np.array([0] * 55 + [1] * 45)
    shares = np.tile([0.55, 0.45], (100, 1))
    zero = Predicted(np.zeros(100, dtype=np.int64), shares, is_zero_rule=True)
    found = classification_measures(true, zero, 2, positive=1)
    always = classification_measures(true, replace(zero, labels=1 - zero.labels), 2, positive=1)
    assert found["precision", None] == always["precision", None] == pytest.approx(0.45)
    assert found["f1", None] == pytest.approx(2 * 0.45 / 1.45)
    assert found["recall", None] == found["specificity", None] == found["sensitivity", 0] == 1
    assert found["precision", 0] == found["accuracy", None] == pytest.approx(0.55)
    assert found["balanced_accuracy", None] == found["roc_auc", None] == 0.5
    assert found["brier_score", None] == pytest.approx(0.45 * 0.55)
    one = Predicted(true[:55], is_zero_rule=True)
    values = classification_measures(true[:55], one, 2, positive=1)
    assert np.isnan([values["precision", 1], values["f1", 1], values["specificity", 0]]).all()


def test_the_zero_rule_guesses_the_median_where_sizes_of_errors_count() -> None:
    true = np.array([0.0, 0.0, 9.0])
    found = regression_measures(true, np.tile([3.0, 0.0], (3, 1)))
    assert (found["mae"], found["rmse"], found["r2"]) == (3.0, pytest.approx(18**0.5), 0.0)


def test_what_test_records_do_not_hold_has_no_measure() -> None:
    for measure in ("precision", "sensitivity", "f1"):
        assert math.isnan(measured([0, 0], [0, 1], 2, measure)[1])
    specificity = measured([0, 0], [0, 1], 2, "specificity")
    assert specificity[1] == 0.5
    assert math.isnan(specificity[0])
    assert measured([0, 0], [0, 1], 2, "sensitivity")[0] == 0.5


def answers(
    seed: int, records: int, classes: int, steps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return true and predicted codes, and probabilities of which many are equal."""
    draws = np.random.default_rng(seed)
    scores = draws.integers(0, steps, (records, classes)).astype(float)
    scores[:, 0] += scores.sum(axis=1) == 0
    probabilities = scores / scores.sum(axis=1, keepdims=True)
    return draws.integers(0, classes, records), probabilities.argmax(axis=1), probabilities


CASE = {
    "seed": st.integers(0, 2**32 - 1),
    "records": st.integers(1, 40),
    "classes": st.integers(2, 4),
    "steps": st.sampled_from([2, 4, 1000]),
}


@given(**CASE)
def test_areas_under_the_curve_equal_those_of_scikit_learn(
    seed: int, records: int, classes: int, steps: int
) -> None:
    true, labels, probabilities = answers(seed, records, classes, steps)
    found = classification_measures(true, Predicted(labels, probabilities), classes, None)
    expected = {}
    for code in range(classes):
        is_member = true == code
        both = 0 < is_member.sum() < records
        expected[code] = (
            metrics.roc_auc_score(is_member, probabilities[:, code]) if both else math.nan
        )
        assert found["roc_auc", code] == pytest.approx(expected[code], nan_ok=True)
    known = [area for area in expected.values() if not math.isnan(area)]
    mean = float(np.mean(known)) if known else math.nan
    assert found["roc_auc", None] == pytest.approx(
        expected[1] if classes == 2 else mean, nan_ok=True
    )
    if classes > 2 and len(known) == classes:
        macro = metrics.roc_auc_score(true, probabilities, multi_class="ovr")
        assert found["roc_auc", None] == pytest.approx(macro)


@given(**CASE)
def test_scores_of_probabilities_equal_those_of_scikit_learn(
    seed: int, records: int, classes: int, steps: int
) -> None:
    true, labels, probabilities = answers(seed, records, classes, steps)
    found = classification_measures(true, Predicted(labels, probabilities), classes, 0)
    codes = range(classes)
    assert found["log_loss", None] == pytest.approx(
        metrics.log_loss(true, probabilities, labels=codes)
    )
    if classes == 2:
        brier = metrics.brier_score_loss(true, probabilities[:, 1], pos_label=1)
    else:
        brier = np.mean(np.sum((probabilities - np.eye(classes)[true]) ** 2, axis=1))
    assert found["brier_score", None] == pytest.approx(brier)


def test_the_brier_score_of_many_classes_is_that_of_scikit_learn() -> None:
    true, labels, probabilities = answers(seed=1, records=60, classes=4, steps=5)
    found = classification_measures(true, Predicted(labels, probabilities), 4, None)
    assert found["brier_score", None] == pytest.approx(
        metrics.brier_score_loss(true, probabilities, labels=range(4), scale_by_half=False)
    )


def test_a_positive_class_turns_the_area_of_ranks_that_are_not_complementary() -> None:
    true = np.array([0, 0, 1, 1])
    ranks = np.array([[4.0, 1.0], [3.0, 3.0], [2.0, 2.0], [1.0, 4.0]])
    says = Predicted(np.array([0, 1, 1, 1]), ranks=ranks)
    areas = [
        classification_measures(true, says, 2, positive)["roc_auc", None]
        for positive in (0, 1, None)
    ]
    assert areas == [1.0, 0.75, 0.75]


def test_without_probabilities_ranks_give_the_area_and_nothing_else() -> None:
    true, labels, scores = answers(seed=2, records=30, classes=3, steps=5)
    known = classification_measures(true, Predicted(labels, scores), 3, 1)
    found = classification_measures(true, Predicted(labels, ranks=5 * scores - 2), 3, 1)
    assert set(found) == set(known)
    for key, value in known.items():
        if key[0] in {"brier_score", "log_loss"}:
            assert math.isnan(found[key])
        else:
            assert found[key] == pytest.approx(value)
    bare = classification_measures(true, Predicted(labels), 3, 1)
    assert math.isnan(bare["roc_auc", None])
    assert bare["accuracy", None] == known["accuracy", None]


def test_a_class_unknown_to_the_model_is_ranked_by_chance() -> None:
    true = np.array([0, 1, 2, 2])
    says = Predicted(np.array([0, 1, 0, 1]), np.array([[0.6, 0.4, 0.0], [0.3, 0.7, 0.0]] * 2))
    assert classification_measures(true, says, 3, None)["roc_auc", 2] == 0.5
    ranks = np.where(says.probabilities == 0, -np.inf, says.probabilities)
    assert classification_measures(true, Predicted(says.labels, ranks=ranks), 3, None)[
        "roc_auc", 2
    ] == (0.5)


NUMBERS = st.floats(-1e3, 1e3).map(lambda value: round(value, 1))


@given(pairs=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=40))
def test_measures_of_numbers_equal_those_of_scikit_learn(pairs: list[tuple[float, float]]) -> None:
    true, predicted = np.array(pairs).T
    assert regression_measures(true, predicted) == pytest.approx(
        {
            "r2": metrics.r2_score(true, predicted),
            "mae": metrics.mean_absolute_error(true, predicted),
            "rmse": metrics.root_mean_squared_error(true, predicted),
        }
    )


@pytest.mark.parametrize(
    ("true", "predicted", "r2"),
    [([2.0, 2.0], [2.0, 2.0], 1.0), ([2.0, 2.0], [2.0, 3.0], 0.0), ([2.0], [2.0], math.nan)],
)
def test_r2_of_equal_values_and_of_one_record(
    true: list[float], predicted: list[float], r2: float
) -> None:
    found = regression_measures(np.array(true), np.array(predicted))["r2"]
    assert found == pytest.approx(r2, nan_ok=True)


LIVES = st.lists(
    st.tuples(st.booleans(), st.integers(1, 8), st.integers(0, 6)), min_size=1, max_size=40
)


def recount(event: np.ndarray, times: np.ndarray, risk: np.ndarray) -> float:
    """Return the concordance index by looking at each pair."""
    halves = pairs = 0
    for first in np.flatnonzero(event):
        for other in range(len(event)):
            is_later = times[other] > times[first]
            outlives = times[other] == times[first] and not event[other]
            if is_later or outlives:
                pairs += 1
                halves += 2 * (risk[other] < risk[first]) + (risk[other] == risk[first])
    return halves / (2 * pairs) if pairs else math.nan


@given(lives=LIVES)
def test_the_concordance_index_equals_a_recount_of_all_pairs(
    lives: list[tuple[bool, int, int]],
) -> None:
    event, times, risk = (np.array(column) for column in zip(*lives, strict=True))
    found = survival_measures(event, times.astype(float), risk / 3.0)["concordance_index"]
    assert found == pytest.approx(recount(event, times, risk), nan_ok=True, abs=1e-15)


@given(lives=LIVES)
def test_the_concordance_index_equals_that_of_scikit_survival(
    lives: list[tuple[bool, int, int]],
) -> None:
    survival = pytest.importorskip("sksurv.metrics", reason="needs the extra survival")
    event, times, risk = (np.array(column) for column in zip(*lives, strict=True))
    times, risk = times.astype(float), risk * 0.4e-8  # some differ by less than counts as equal
    found = survival_measures(event, times, risk)["concordance_index"]
    if math.isnan(found):
        assert math.isnan(recount(event, times, risk))  # for which scikit-survival divides by 0
    else:
        expected = survival.concordance_index_censored(event, times, risk)[0]
        assert found == pytest.approx(expected)


def test_a_hundred_thousand_records_are_no_matter_of_pairs() -> None:
    """All pairs would not fit into memory."""
    draws = np.random.default_rng(1)
    times = draws.exponential(size=100_000)
    event = draws.random(100_000) < 0.7
    found = survival_measures(event, times, -times + draws.normal(size=100_000))
    assert 0.6 < found["concordance_index"] < 0.9


def test_every_computed_measure_may_be_declared_with_its_task() -> None:
    true, labels, probabilities = answers(seed=1, records=30, classes=2, steps=4)
    found = classification_measures(true, Predicted(labels, probabilities), 2, 1)
    numbers = regression_measures(np.arange(3.0), np.arange(3.0))
    lives = survival_measures(true == 1, np.arange(30.0), np.arange(30.0))
    names = {
        **dict.fromkeys((measure for measure, _ in found), "classification"),
        **dict.fromkeys(numbers, "regression"),
        **dict.fromkeys(lives, "survival"),
        **dict.fromkeys(clustering_measures(true, labels), "clustering"),
        # Of the rows of the records too.
        "silhouette": "clustering",
        **dict.fromkeys(anomaly_measures(np.arange(3.0), np.arange(3.0), 0.5), "anomaly"),
    }
    assert {measure: task_of_measure(measure) for measure in get_args(Measure)} == names
