"""Models by name."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.estimators import (
    estimator_type,
    make_estimator,
    model_names,
    survival_target,
    valid_parameters,
)
from dbt_anonymize.evaluation.measures import survival_measures

pytestmark = pytest.mark.costly

TASKS = ("classification", "regression", "survival")
HAS_SURVIVAL = importlib.util.find_spec("sksurv") is not None
MODELS = [(task, name) for task in TASKS for name in model_names(task)]
SCALED = [
    ("classification", "k_nearest_neighbours"),
    ("classification", "kernel_svm"),
    ("classification", "linear_svm"),
    ("classification", "logistic_regression"),
    ("classification", "neural_network"),
    ("regression", "k_nearest_neighbours"),
    ("regression", "kernel_svm"),
    ("regression", "linear_regression"),
    ("regression", "linear_svm"),
    ("regression", "neural_network"),
    ("regression", "ridge"),
    ("survival", "cox"),
]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Train as the workers do: threads of gradient boosting wait for each other on busy cores."""
    with threadpool_limits(1):
        yield


def skip_without_package(task: str, name: str) -> None:
    if task == "survival" and name != "zero_rule" and not HAS_SURVIVAL:
        pytest.skip("needs the extra survival")


def problem(task: str, records: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Return features and a target of which the first feature tells much."""
    draws = np.random.default_rng(1)
    rows = draws.normal(size=(records, 2))
    value = rows[:, 0] + draws.normal(0, 0.5, records)
    if task == "classification":
        return rows, (value > 0).astype(int)
    if task == "regression":
        return rows, value
    return rows, survival_target(draws.random(records) < 0.8, np.exp(-value))


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("task", "name"), MODELS)
def test_every_model_trains_and_is_repeatable(task: str, name: str) -> None:
    skip_without_package(task, name)
    rows, target = problem(task)
    first, second = (
        make_estimator(name, {}, 5, task).fit(rows, target).predict(rows) for _ in range(2)
    )
    assert np.array_equal(first, second)
    if task == "classification":
        assert set(first) <= {0, 1}
    assert (len(set(first)) == 1) == (name == "zero_rule")


def as_used(name: str, seed: int, task: str) -> Any:
    """Return a model that sees features in standard deviations if the evaluation does that."""
    model = make_estimator(name, {}, seed, task)
    is_scaled = estimator_type(name, task).is_scaled
    return make_pipeline(StandardScaler(), model) if is_scaled else model


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("task", "name"), MODELS)
def test_a_constant_feature_and_collinear_ones_are_no_obstacle(task: str, name: str) -> None:
    skip_without_package(task, name)
    rows, target = problem(task)
    both = np.column_stack([np.full(len(rows), 3.0), rows[:, 0] > 0, rows[:, 0] <= 0])
    for features in (both, both[:, :1]):
        predicted = as_used(name, 5, task).fit(features, target).predict(features)
        assert np.all(np.isfinite(predicted))


@pytest.mark.parametrize(("task", "name"), MODELS)
def test_an_unknown_parameter_is_refused_with_the_valid_ones(task: str, name: str) -> None:
    skip_without_package(task, name)
    with pytest.raises(EvaluationError, match="tree_count") as raised:
        make_estimator(name, {"tree_count": 5}, 1, task)
    assert str(valid_parameters(name, task)) in str(raised.value)


@pytest.mark.parametrize("parameter", ["n_jobs", "random_state", "oob_score", "estimator"])
def test_a_spec_cannot_set_what_the_evaluation_sets(parameter: str) -> None:
    with pytest.raises(EvaluationError, match=parameter):
        make_estimator("bagging", {parameter: 2}, random_state=1)


def test_a_spec_cannot_set_what_is_deprecated() -> None:
    assert "C" in valid_parameters("kernel_svm")
    assert "probability" not in valid_parameters("kernel_svm")


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(EvaluationError, match="random_forest"):
        valid_parameters("deep_thought")
    with pytest.raises(EvaluationError, match=r"ridge.*for regression"):
        valid_parameters("logistic_regression", "regression")


def test_the_models_of_each_task_are_those_of_the_documentation() -> None:
    both = {
        "bagging",
        "decision_tree",
        "extra_trees",
        "gradient_boosting",
        "k_nearest_neighbours",
        "kernel_svm",
        "linear_svm",
        "neural_network",
        "random_forest",
        "zero_rule",
    }
    assert set(model_names()) == both | {"logistic_regression", "naive_bayes"}
    assert set(model_names("regression")) == both | {"linear_regression", "ridge"}
    assert model_names("survival") == ["cox", "random_survival_forest", "zero_rule"]


@pytest.mark.parametrize(("task", "name"), SCALED)
def test_distances_do_not_depend_on_the_unit_of_a_feature(task: str, name: str) -> None:
    skip_without_package(task, name)
    rows, target = problem(task)
    in_metres = as_used(name, 1, task).fit(rows, target).predict(rows)
    scaled = rows * np.array([1024.0, 1.0])
    in_millimetres = as_used(name, 1, task).fit(scaled, target)
    assert np.allclose(in_metres, in_millimetres.predict(scaled), rtol=1e-9, atol=1e-9)


def test_naive_bayes_is_that_of_scikit_learn_where_that_knows_an_answer() -> None:
    rows, target = problem("classification")
    found = make_estimator("naive_bayes", {}, 1).fit(rows, target).predict_proba(rows)
    assert np.array_equal(found, GaussianNB().fit(rows, target).predict_proba(rows))


def test_naive_bayes_falls_back_to_the_frequencies_if_no_feature_varies() -> None:
    model = make_estimator("naive_bayes", {}, 1).fit(np.ones((4, 2)), [0, 1, 1, 1])
    probabilities = model.predict_proba(np.array([[1.0, 1.0], [70.0, -3.0]]))
    assert np.allclose(probabilities, [[0.25, 0.75]] * 2)


def test_zero_rules_know_the_frequencies_and_the_mean() -> None:
    rows = np.zeros((4, 1))
    classifier = make_estimator("zero_rule", {}, 1).fit(rows, [0, 1, 1, 1])
    assert classifier.predict(rows).tolist() == [1, 1, 1, 1]
    assert classifier.predict_proba(rows)[0].tolist() == [0.25, 0.75]
    numbers = make_estimator("zero_rule", {}, 1, "regression").fit(rows, [0.0, 1.0, 2.0, 5.0])
    assert numbers.predict(rows).tolist() == [2.0, 2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("name", "least"), [("cox", 0.8), ("random_survival_forest", 0.8), ("zero_rule", 0.5)]
)
def test_survival_models_predict_a_risk(name: str, least: float) -> None:
    skip_without_package("survival", name)
    rows, target = problem("survival", records=200)
    risk = make_estimator(name, {}, 1, "survival").fit(rows, target).predict(rows)
    found = survival_measures(target["event"], target["time"], risk)["concordance_index"]
    assert found == 0.5 if name == "zero_rule" else found > least


def test_a_spec_may_overrule_the_penalty_of_the_cox_model() -> None:
    skip_without_package("survival", "cox")
    assert make_estimator("cox", {}, 1, "survival").alpha == 1e-4
    assert make_estimator("cox", {"alpha": 0.5}, 1, "survival").alpha == 0.5


@pytest.mark.parametrize("name", ["cox", "random_survival_forest"])
def test_a_missing_scikit_survival_is_named_with_the_command(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sksurv", None)
    for module in [module for module in sys.modules if module.startswith("sksurv.")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(EvaluationError, match=r"pip install 'dbt-anonymize\[survival\]'"):
        make_estimator(name, {}, 1, "survival")
    assert make_estimator("zero_rule", {}, 1, "survival").get_params() == {}


@pytest.mark.parametrize(
    ("task", "path", "parameters"),
    [
        ("classification", "sklearn.ensemble.AdaBoostClassifier", {"n_estimators": 3}),
        ("classification", "sklearn.linear_model.LogisticRegression", {"C": 2.0}),
        ("regression", "sklearn.linear_model.HuberRegressor", {"epsilon": 1.5}),
    ],
)
def test_an_estimator_may_be_named_by_its_path(
    task: str, path: str, parameters: dict[str, Any]
) -> None:
    rows, target = problem(task)
    estimator = make_estimator(path, parameters, 3, task)
    assert estimator.get_params().items() >= parameters.items()
    assert estimator.get_params().get("random_state", 3) == 3
    assert len(estimator.fit(rows, target).predict(rows)) == len(rows)
    with pytest.raises(EvaluationError, match="tree_count"):
        make_estimator(path, {"tree_count": 1}, 3, task)


def test_a_survival_model_may_be_named_by_its_path() -> None:
    skip_without_package("survival", "cox")
    rows, target = problem("survival")
    path = "sksurv.linear_model.IPCRidge"
    assert len(make_estimator(path, {}, 1, "survival").fit(rows, target).predict(rows)) == 60
    with pytest.raises(EvaluationError, match="one of survival"):
        make_estimator(path, {}, 1, "regression")


@pytest.mark.parametrize(
    ("path", "task", "rule"),
    [
        ("no_such_package.Model", "classification", "Install its package"),
        ("sklearn.ensemble.NoSuchModel", "classification", "NoSuchModel"),
        (".Model", "classification", "dotted path"),
        ("os.path.join", "classification", "class with `fit` and `predict`"),
        ("sklearn.preprocessing.StandardScaler", "classification", "class with `fit` and `pred"),
        ("sklearn.ensemble.VotingClassifier", "classification", "estimators"),
        ("sklearn.linear_model.HuberRegressor", "classification", "it is one of regression"),
        ("sklearn.ensemble.AdaBoostClassifier", "regression", "it is one of classification"),
        ("sklearn.ensemble.AdaBoostClassifier", "survival", "it is one of classification"),
        ("sklearn.cluster.KMeans", "classification", "it is one of clustering"),
        ("sklearn.ensemble.IsolationForest", "clustering", "it is one of anomaly"),
        ("sklearn.mixture.GaussianMixture", "clustering", "it is one of another task"),
    ],
)
def test_a_path_that_is_no_model_of_the_task_is_refused(path: str, task: str, rule: str) -> None:
    with pytest.raises(EvaluationError, match=rule):
        make_estimator(path, {}, 1, task)


def test_a_class_that_is_no_estimator_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("own_models")

    class Bare:
        fit = predict = None

    class Secretive(BaseEstimator):
        def fit(self) -> None: ...

        def predict(self) -> None: ...

    module.Bare, module.Secretive = Bare, Secretive  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_models", module)
    with pytest.raises(EvaluationError, match="get_params"):
        make_estimator("own_models.Bare", {}, 1)
    with pytest.raises(EvaluationError, match="one of another task"):
        make_estimator("own_models.Secretive", {}, 1)


def test_importing_the_names_of_models_imports_no_heavy_library() -> None:
    code = (
        "import sys, dbt_anonymize.evaluation, dbt_anonymize.evaluation.estimators;"
        "sys.exit(str(sorted({'sklearn', 'pandas', 'duckdb', 'dbt', 'joblib'} & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"
