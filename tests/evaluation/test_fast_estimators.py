"""The quick models, and those whose rows are standardized once, predict what scikit-learn does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dbt_anonymize.evaluation import fast_estimators as quick
from dbt_anonymize.evaluation.estimators import make_estimator
from dbt_anonymize.evaluation.fast_estimators import is_quick, quick_answers
from dbt_anonymize.evaluation.measures import Predicted
from dbt_anonymize.evaluation.problem import Target
from dbt_anonymize.evaluation.training import TrainingSet, fit_predict

SCALED = ["logistic_regression", "kernel_svm", "k_nearest_neighbours", "linear_svm"]


def drawn(
    seed: int, rows: int, records: int, features: int, classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return distinct rows, the row and the class of each record; the first feature is constant."""
    draws = np.random.default_rng(seed)
    distinct = np.round(draws.normal(size=(rows, features)), 1) * [0, 1000, 1, 0.01][:features] + 7
    return distinct, draws.integers(0, rows, records), draws.integers(0, classes, records)


@pytest.mark.parametrize("model", ["naive_bayes", "zero_rule"])
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 30),
    records=st.integers(5, 60),
    features=st.integers(1, 4),
    classes=st.integers(1, 4),
    smoothing=st.sampled_from([0, 1e-9, 0.5]),
)
def test_answers_equal_those_of_scikit_learn(
    model: str,
    *,
    seed: int,
    rows: int,
    records: int,
    features: int,
    classes: int,
    smoothing: float,
) -> None:
    distinct, codes, true = drawn(seed, rows, records, features, classes)
    parameters = {"var_smoothing": smoothing} if model == "naive_bayes" else {}
    estimator = make_estimator(model, parameters, 1)
    assert is_quick(estimator)
    with np.errstate(all="ignore"):
        known, labels, probabilities = quick_answers(estimator, distinct, codes, true, distinct)
        fitted = estimator.fit(distinct[codes], true)
        assert np.array_equal(known, fitted.classes_)
        assert np.array_equal(labels, fitted.predict(distinct))
        assert np.array_equal(probabilities, fitted.predict_proba(distinct), equal_nan=True)


@pytest.mark.parametrize("block", [1, 7])
def test_blocks_of_rows_do_not_matter(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    data = drawn(1, 30, 60, 3, 2)
    at_once = quick_answers(make_estimator("naive_bayes", {}, 1), *data, data[0])
    monkeypatch.setattr(quick, "_BLOCK", block)
    found = quick_answers(make_estimator("naive_bayes", {}, 1), *data, data[0])
    assert all(np.array_equal(a, b) for a, b in zip(found, at_once, strict=True))


@pytest.mark.parametrize(
    "estimator",
    [
        make_estimator("naive_bayes", {"priors": [0.5, 0.5]}, 1),
        make_estimator("naive_bayes", {"var_smoothing": -1.0}, 1),
        make_estimator("naive_bayes", {"var_smoothing": "much"}, 1),
        GaussianNB(),
        DummyClassifier(strategy="uniform"),
        type("NaiveBayes", (GaussianNB,), {})(),
    ],
)
def test_other_models_are_left_to_scikit_learn(estimator: Any) -> None:
    assert not is_quick(estimator)


@pytest.mark.parametrize("model", SCALED)
@pytest.mark.parametrize("classes", [2, 3])
def test_models_that_share_standardized_rows_equal_their_pipelines(
    model: str, classes: int
) -> None:
    distinct, codes, true = drawn(4, 40, 90, 4, classes)
    training = TrainingSet(distinct, codes, np.arange(90), np.ones(4, dtype=bool))
    target = Target("label", "classification", tuple("abc"[:classes]), codes=true)
    estimator = make_estimator(model, {}, 3)
    found = fit_predict(estimator, training, target, distinct, is_scaled=True)
    assert isinstance(found, Predicted)
    pipeline = make_pipeline(StandardScaler(), make_estimator(model, {}, 3))
    pipeline.fit(distinct[codes], true)
    assert np.array_equal(found.labels, pipeline.predict(distinct))
    if found.probabilities is not None:
        assert np.array_equal(found.probabilities, pipeline.predict_proba(distinct))


@pytest.mark.parametrize("model", ["ridge", "linear_regression", "k_nearest_neighbours"])
def test_regressions_that_share_standardized_rows_equal_their_pipelines(model: str) -> None:
    distinct, codes, true = drawn(5, 40, 90, 4, 9)
    numbers = true.astype(float)
    target = Target("charges", "regression", numbers=numbers)
    training = TrainingSet(distinct, codes, np.arange(90), np.ones(4, dtype=bool))
    estimator = make_estimator(model, {}, 3, "regression")
    found = fit_predict(estimator, training, target, distinct, is_scaled=True)
    pipeline = make_pipeline(StandardScaler(), make_estimator(model, {}, 3, "regression"))
    pipeline.fit(distinct[codes], numbers)
    assert np.array_equal(found, pipeline.predict(distinct))
