"""The models that a spec may name, and how each is made.

Logistic regression and nearest neighbours see standardized features (``StandardScaler``, fitted on
the training records alone): a penalty or a distance is otherwise ruled by the unit of each column.
The other models do not depend on the scale of a feature.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

from dbt_anonymize.errors import EvaluationError

# Set by the evaluation itself (seed, workers), not to be written in YAML (estimator), or without
# influence on a score (verbose, oob_score, warm_start).
_RESERVED = frozenset({"random_state", "n_jobs", "verbose", "warm_start", "estimator", "oob_score"})


@dataclass(frozen=True)
class EstimatorType:
    """Where a model lives in scikit-learn and what it needs beside the parameters of a spec."""

    module: str
    class_name: str
    is_scaled: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> type[Any]:
        """Import and return the scikit-learn class."""
        loaded: type[Any] = getattr(import_module(self.module), self.class_name)
        return loaded


ESTIMATORS: Mapping[str, EstimatorType] = MappingProxyType(
    {
        "random_forest": EstimatorType("sklearn.ensemble", "RandomForestClassifier"),
        "bagging": EstimatorType("sklearn.ensemble", "BaggingClassifier"),
        "decision_tree": EstimatorType("sklearn.tree", "DecisionTreeClassifier"),
        "extra_trees": EstimatorType("sklearn.ensemble", "ExtraTreesClassifier"),
        "logistic_regression": EstimatorType(
            "sklearn.linear_model", "LogisticRegression", is_scaled=True
        ),
        "naive_bayes": EstimatorType("sklearn.naive_bayes", "GaussianNB"),
        "k_nearest_neighbours": EstimatorType(
            "sklearn.neighbors", "KNeighborsClassifier", is_scaled=True
        ),
        "gradient_boosting": EstimatorType("sklearn.ensemble", "HistGradientBoostingClassifier"),
        "zero_rule": EstimatorType(
            "sklearn.dummy", "DummyClassifier", fixed={"strategy": "most_frequent"}
        ),
    }
)


def valid_parameters(name: str) -> list[str]:
    """Return the names of the parameters that a spec may set for a model.

    Parameters
    ----------
    name : str
        A key of ``ESTIMATORS``.

    Returns
    -------
    list of str
        Sorted. Without those the evaluation sets itself, like ``random_state`` and ``n_jobs``.

    Raises
    ------
    EvaluationError
        If there is no such model.

    Examples
    --------
    >>> valid_parameters("naive_bayes")
    ['priors', 'var_smoothing']
    >>> valid_parameters("zero_rule")
    []
    """
    _estimator_type(name)
    return sorted(_own_parameters(name) - _RESERVED) if name != "zero_rule" else []


def make_estimator(name: str, parameters: Mapping[str, Any], random_state: int) -> Any:
    """Return an unfitted scikit-learn estimator.

    Parameters
    ----------
    name : str
        A key of ``ESTIMATORS``.
    parameters : mapping of str to Any
        Parameters of the model, each one of ``valid_parameters(name)``.
    random_state : int
        Seed, 0 <= seed < 2**32; without effect on models that draw nothing.

    Returns
    -------
    sklearn.base.ClassifierMixin
        One process, one thread; a pipeline with ``StandardScaler`` where the model needs scaling.

    Raises
    ------
    EvaluationError
        If there is no such model or it has no such parameter.

    Examples
    --------
    >>> make_estimator("decision_tree", {"max_depth": 2}, random_state=1)
    DecisionTreeClassifier(max_depth=2, random_state=1)
    """
    kind = _estimator_type(name)
    valid = valid_parameters(name)
    unknown = sorted(set(parameters) - set(valid))
    if unknown:
        raise EvaluationError(
            f"quality.parameters of {name} must be parameters of that model; got {unknown}. "
            f"Use any of {valid}."
        )
    loaded = kind.load()
    own = _own_parameters(name)
    estimator = loaded(**{**kind.fixed, **parameters})
    if "random_state" in own:
        estimator.set_params(random_state=random_state)
    if "n_jobs" in own and name != "logistic_regression":  # deprecated and without effect there
        estimator.set_params(n_jobs=1)
    if not kind.is_scaled:
        return estimator
    pipeline = import_module("sklearn.pipeline")
    preprocessing = import_module("sklearn.preprocessing")
    return pipeline.make_pipeline(preprocessing.StandardScaler(), estimator)


@functools.cache
def _own_parameters(name: str) -> frozenset[str]:
    return frozenset(ESTIMATORS[name].load()().get_params(deep=False))


def _estimator_type(name: str) -> EstimatorType:
    if name not in ESTIMATORS:
        raise EvaluationError(
            f"quality.model must be one of {sorted(ESTIMATORS)}; got {name!r}. Name one of them."
        )
    return ESTIMATORS[name]
