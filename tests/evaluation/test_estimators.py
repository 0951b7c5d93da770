"""Models by name."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.estimators import ESTIMATORS, make_estimator, valid_parameters


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_model_trains_and_is_repeatable(name: str) -> None:
    draws = np.random.default_rng(1)
    rows = draws.normal(size=(60, 2))
    target = (rows[:, 0] + draws.normal(0, 0.5, 60) > 0).astype(int)
    first, second = (
        make_estimator(name, {}, random_state=5).fit(rows, target).predict(rows) for _ in range(2)
    )
    assert np.array_equal(first, second)
    assert set(first) <= {0, 1}


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_an_unknown_parameter_is_refused_with_the_valid_ones(name: str) -> None:
    with pytest.raises(EvaluationError, match="tree_count") as raised:
        make_estimator(name, {"tree_count": 5}, random_state=1)
    assert str(valid_parameters(name)) in str(raised.value)


@pytest.mark.parametrize("parameter", ["n_jobs", "random_state"])
def test_a_spec_cannot_set_what_the_evaluation_sets(parameter: str) -> None:
    with pytest.raises(EvaluationError, match=parameter):
        make_estimator("random_forest", {parameter: 2}, random_state=1)


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(EvaluationError, match="random_forest"):
        valid_parameters("deep_thought")


def test_distances_do_not_depend_on_the_unit_of_a_feature() -> None:
    draws = np.random.default_rng(2)
    rows = draws.normal(size=(50, 2))
    target = (rows.sum(axis=1) > 0).astype(int)
    for name in ("k_nearest_neighbours", "logistic_regression"):
        in_metres = make_estimator(name, {}, random_state=1).fit(rows, target).predict(rows)
        scaled = rows * np.array([1024.0, 1.0])
        in_millimetres = make_estimator(name, {}, random_state=1).fit(scaled, target)
        assert np.array_equal(in_metres, in_millimetres.predict(scaled))


def test_importing_the_names_of_models_imports_no_heavy_library() -> None:
    code = (
        "import sys, dbt_anonymize.evaluation, dbt_anonymize.evaluation.estimators;"
        "sys.exit(str(sorted({'sklearn', 'pandas', 'duckdb', 'dbt', 'joblib'} & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"
