"""The quick trees predict what scikit-learn's trees predict, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

from dbt_anonymize.extensions.quick_trees import forest
from dbt_anonymize.extensions.quick_trees.forest import forest_probabilities, is_exact, supports
from tests.sampling import examples

KINDS = [BaggingClassifier, DecisionTreeClassifier, ExtraTreesClassifier, RandomForestClassifier]


@pytest.mark.parametrize("kind", KINDS)
@examples(settings(deadline=None), 60, 10)
@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 30),
    records=st.integers(5, 60),
    features=st.integers(1, 5),
    classes=st.integers(2, 4),
    depth=st.sampled_from([None, 1, 3]),
    leaf=st.sampled_from([1, 2, 5]),
    split=st.sampled_from([2, 7]),
    chosen=st.sampled_from(["sqrt", "log2", None]),
    bootstrap=st.booleans(),
)
def test_probabilities_equal_those_of_scikit_learn(
    kind: type[Any],
    *,
    seed: int,
    rows: int,
    records: int,
    features: int,
    classes: int,
    **growth: Any,
) -> None:
    draws = np.random.default_rng(seed)
    distinct = np.round(draws.normal(size=(rows, features)), 1)
    train = draws.integers(0, rows, records)
    target = draws.integers(0, classes, records)
    wanted = {
        "n_estimators": 4,
        "random_state": seed,
        "max_depth": growth["depth"],
        "min_samples_leaf": growth["leaf"],
        "min_samples_split": growth["split"],
    }
    if kind is not BaggingClassifier:
        wanted |= {"max_features": growth["chosen"], "bootstrap": growth["bootstrap"]}
    known = kind().get_params(deep=False)
    estimator = kind(**{name: value for name, value in wanted.items() if name in known})
    assert supports(estimator)
    found = forest_probabilities(estimator, distinct, train, target, distinct)
    assert found is not None
    plain = estimator.fit(distinct[train], target)
    assert np.array_equal(found[0], plain.classes_)
    assert np.array_equal(found[1], plain.predict_proba(distinct))


@pytest.mark.parametrize(
    "parameters",
    [
        {"class_weight": "balanced"},
        {"criterion": "entropy"},
        {"max_samples": 0.5},
        {"ccp_alpha": 0.01},
        {"max_features": 0.5},
        {"min_samples_leaf": 0.1},
        {"n_estimators": 0},
    ],
)
@pytest.mark.parametrize("kind", [ExtraTreesClassifier, RandomForestClassifier])
def test_other_forests_are_left_to_scikit_learn(
    kind: type[Any], parameters: dict[str, Any]
) -> None:
    assert not supports(kind(**parameters))


@pytest.mark.parametrize(
    "estimator",
    [
        AdaBoostClassifier(),
        RandomForestRegressor(),
        DecisionTreeClassifier(splitter="random"),
        BaggingClassifier(bootstrap=False),
        BaggingClassifier(bootstrap_features=True),
        BaggingClassifier(max_features=1),
        BaggingClassifier(max_samples=1),
        BaggingClassifier(max_samples=0.5),
        BaggingClassifier(estimator=AdaBoostClassifier()),
    ],
)
def test_other_models_are_left_to_scikit_learn(estimator: Any) -> None:
    assert not supports(estimator)


def test_a_class_that_only_bears_the_name_is_left_to_itself() -> None:
    own = type("RandomForestClassifier", (RandomForestClassifier,), {})
    assert not supports(own())


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_beyond_single_precision_are_left_to_scikit_learn(kind: type[Any]) -> None:
    rows = np.array([[1.0], [1e300]])
    assert forest_probabilities(kind(), rows, np.arange(2), rows[:, 0], rows) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", ["raises", "differs"])
def test_a_changed_scikit_learn_is_noticed(
    kind: type[Any], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(*_: Any, test_x: np.ndarray, classes: int, **__: Any) -> np.ndarray:
        if change == "raises":
            raise TypeError("build() takes 3 positional arguments")
        return np.full((len(test_x), classes), 0.5)

    is_exact.cache_clear()
    assert is_exact(kind.__name__)
    is_exact.cache_clear()
    monkeypatch.setattr(forest, "_grow_and_sum", changed)
    assert not supports(kind())
    is_exact.cache_clear()
