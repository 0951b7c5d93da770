"""Models that share rows standardized once predict what their pipelines predict."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dbt_anonymize.evaluation.estimators import make_estimator
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
