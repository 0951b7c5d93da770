"""The measures are those of scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from dbt_anonymize.evaluation.measures import MEASURES, confusion_counts

PAIRS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40)


def counts_of(pairs: list[tuple[int, int]]) -> np.ndarray:
    true, predicted = np.array(pairs, dtype=np.int64).T
    return confusion_counts(true, predicted, 3)


@given(pairs=PAIRS)
def test_accuracies_equal_those_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    true, predicted = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        balanced = metrics.balanced_accuracy_score(true, predicted)
    assert MEASURES["accuracy"](counts_of(pairs), None) == pytest.approx(
        metrics.accuracy_score(true, predicted)
    )
    assert MEASURES["balanced_accuracy"](counts_of(pairs), None) == pytest.approx(balanced)


@given(pairs=PAIRS, positive=st.integers(0, 2))
def test_measures_of_a_class_equal_those_of_scikit_learn(
    pairs: list[tuple[int, int]], positive: int
) -> None:
    true, predicted = (np.array(side) == positive for side in zip(*pairs, strict=True))
    expected = {
        "precision": metrics.precision_score(true, predicted, zero_division=0.0),
        "recall": metrics.recall_score(true, predicted, zero_division=0.0),
        "f1": metrics.f1_score(true, predicted, zero_division=0.0),
    }
    found = {name: MEASURES[name](counts_of(pairs), positive) for name in expected}
    assert found == pytest.approx(expected)


def test_a_model_that_never_answers_positive_has_no_precision() -> None:
    counts = confusion_counts(np.array([0, 1, 1]), np.array([0, 0, 0]), 2)
    assert MEASURES["precision"](counts, 1) == 0.0
