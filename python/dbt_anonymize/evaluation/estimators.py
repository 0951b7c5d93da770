"""Models that a spec may name, and their estimators.

Linear models, support vectors, nearest neighbours, clusterings and the Cox model see numbers in
standard deviations of the training records; otherwise the unit of a column would rule a penalty or
a distance. A regression target keeps its unit.

Trees and their ensembles *split*: they see only the order of a feature's values, so intervals enter
them as positions (see ``features``).

Any other model is the dotted path of a class, like ``sklearn.ensemble.AdaBoostClassifier``. It gets
the parameters of the spec alone, and features that are not standardized.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module, resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from dbt_anonymize.arrays import Bools, Floats, np
from dbt_anonymize.errors import EvaluationError

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Set by the evaluation (seed, workers), impossible in YAML (estimator), or without effect on a
# score (verbose, oob_score, warm_start).
_RESERVED = frozenset({"random_state", "n_jobs", "verbose", "warm_start", "estimator", "oob_score"})
# Whole one-hot groups are collinear and a fully generalized feature is constant; both would make
# the equations of the Cox model singular. This penalty is too small to matter elsewhere.
_COX_PENALTY = 1e-4
_OWN = "dbt_anonymize.evaluation.own_models"
# Where the classes of other packages that split features live.
_SPLITTING = (
    "sklearn.tree",
    "sklearn.ensemble",
    "sksurv.tree",
    "sksurv.ensemble",
    "xgboost",
    "lightgbm",
    "catboost",
)


@dataclass(frozen=True)
class EstimatorType:
    """Import path of a model, and its needs beside the parameters of a spec.

    ``is_scaled``: it sees numbers in standard deviations. ``defaults`` are parameters that a spec
    may override unless ``is_fixed``.
    """

    module: str
    class_name: str
    is_scaled: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)
    is_fixed: bool = False

    @property
    def splits(self) -> bool:
        """True if the model only compares features with thresholds."""
        modules = [self.module, *(base.__module__ for base in self.load().__mro__)]
        return any(f"{m}.".startswith(f"{splitting}.") for m in modules for splitting in _SPLITTING)

    def load(self) -> type[Any]:
        """Import the class; scikit-survival that is not installed is an `EvaluationError`."""
        try:
            loaded: type[Any] = getattr(import_module(self.module), self.class_name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "sksurv":
                raise
            raise EvaluationError(
                f"{self.class_name} must find the package scikit-survival; it is not installed. "
                "Install it with: pip install 'dbt-anonymize[survival]'"
            ) from error
        return loaded


def _shared_types(
    suffix: str, vectors: str, zero_rule: Mapping[str, Any], dummy: str
) -> dict[str, EstimatorType]:
    """Return the models that exist both for classes and for numbers."""
    return {
        "decision_tree": EstimatorType("sklearn.tree", f"DecisionTree{suffix}"),
        "random_forest": EstimatorType("sklearn.ensemble", f"RandomForest{suffix}"),
        "bagging": EstimatorType("sklearn.ensemble", f"Bagging{suffix}"),
        "extra_trees": EstimatorType("sklearn.ensemble", f"ExtraTrees{suffix}"),
        "gradient_boosting": EstimatorType("sklearn.ensemble", f"HistGradientBoosting{suffix}"),
        "linear_svm": EstimatorType("sklearn.svm", f"Linear{vectors}", is_scaled=True),
        "kernel_svm": EstimatorType("sklearn.svm", vectors, is_scaled=True),
        "k_nearest_neighbours": EstimatorType(
            "sklearn.neighbors", f"KNeighbors{suffix}", is_scaled=True
        ),
        # 200, the default of scikit-learn, end before it has learnt a small table.
        "neural_network": EstimatorType(
            "sklearn.neural_network",
            f"MLP{suffix}",
            is_scaled=True,
            defaults={"max_iter": 1000},
        ),
        "zero_rule": EstimatorType("sklearn.dummy", dummy, defaults=zero_rule, is_fixed=True),
    }


_TYPES: Mapping[str, Mapping[str, EstimatorType]] = MappingProxyType(
    {
        "classification": {
            "logistic_regression": EstimatorType(
                "sklearn.linear_model", "LogisticRegression", is_scaled=True
            ),
            "naive_bayes": EstimatorType(_OWN, "NaiveBayes"),
            # The most frequent class, with the frequencies of the classes as probabilities.
            **_shared_types("Classifier", "SVC", {"strategy": "prior"}, "DummyClassifier"),
        },
        "regression": {
            "linear_regression": EstimatorType(
                "sklearn.linear_model", "LinearRegression", is_scaled=True
            ),
            "ridge": EstimatorType("sklearn.linear_model", "Ridge", is_scaled=True),
            **_shared_types("Regressor", "SVR", {"strategy": "mean"}, "DummyRegressor"),
        },
        "survival": {
            "cox": EstimatorType(
                "sksurv.linear_model",
                "CoxPHSurvivalAnalysis",
                is_scaled=True,
                defaults={"alpha": _COX_PENALTY},
            ),
            "random_survival_forest": EstimatorType("sksurv.ensemble", "RandomSurvivalForest"),
            "zero_rule": EstimatorType(_OWN, "Constant", is_fixed=True),
        },
        "clustering": {
            # One start alone may end far from the best clusters.
            "k_means": EstimatorType(
                "sklearn.cluster", "KMeans", is_scaled=True, defaults={"n_init": 10}
            ),
            "agglomerative": EstimatorType(_OWN, "Agglomerative", is_scaled=True),
            "zero_rule": EstimatorType(_OWN, "Constant", is_fixed=True),
        },
        "anomaly": {
            "isolation_forest": EstimatorType("sklearn.ensemble", "IsolationForest"),
            "zero_rule": EstimatorType(_OWN, "Constant", is_fixed=True),
        },
    }
)


def model_names(task: str = "classification") -> list[str]:
    """Return the names of the models of a task, sorted.

    Examples
    --------
    >>> model_names("survival")
    ['cox', 'random_survival_forest', 'zero_rule']
    """
    return sorted(_TYPES[task])


def valid_parameters(model: str, task: str = "classification") -> list[str]:
    """Return the names of the parameters that a spec may set for a model, sorted.

    ``model`` is one of ``model_names(task)`` or a dotted path; an unknown model, or one whose
    package is not installed, is an `EvaluationError`. Parameters that the evaluation sets itself,
    like ``random_state`` and ``n_jobs``, and deprecated ones are left out.

    Examples
    --------
    >>> valid_parameters("naive_bayes"), valid_parameters("zero_rule")
    (['priors', 'var_smoothing'], [])
    """
    kind = estimator_type(model, task)
    if kind.is_fixed:
        return []
    loaded: Any = kind.load()
    defaults = _parameter_defaults(loaded)
    return sorted(name for name in set(defaults) - _RESERVED if defaults[name] != "deprecated")


@functools.cache
def known_parameters(model: str, task: str = "classification") -> frozenset[str]:
    """Return the `valid_parameters` of a built-in model without importing it.

    Empty for a model of another package.

    Examples
    --------
    >>> sorted(known_parameters("naive_bayes")), known_parameters("cox", "survival")
    (['priors', 'var_smoothing'], frozenset())
    """
    text = resources.files("dbt_anonymize.evaluation").joinpath("parameters.txt")
    for line in text.read_text(encoding="utf-8").splitlines():
        of_task, name, *parameters = line.split()
        if (of_task, name) == (task, model):
            return frozenset(parameters)
    return frozenset()


def make_estimator(
    model: str, parameters: Mapping[str, Any], random_state: int, task: str = "classification"
) -> Any:
    """Return an unfitted estimator of one process and one thread.

    ``model`` is one of ``model_names(task)`` or a dotted path, each parameter one of
    `valid_parameters`. ``random_state``, 0 <= seed < 2**32, has no effect on models that draw
    nothing. A survival model is fitted to `survival_target` and predicts a risk, higher for an
    earlier event. An unknown model or parameter, one of another task, or a missing package is an
    `EvaluationError`.

    Examples
    --------
    >>> make_estimator("decision_tree", {"max_depth": 2}, random_state=1)
    DecisionTreeClassifier(max_depth=2, random_state=1)
    """
    kind = estimator_type(model, task)
    loaded: Any = kind.load()
    valid = valid_parameters(model, task)
    unknown = sorted(set(parameters) - set(valid))
    if unknown:
        raise EvaluationError(
            f"quality.parameters of {model} must be parameters of that model; got {unknown}. "
            f"Use any of {valid}."
        )
    defaults = _parameter_defaults(loaded)
    settings: dict[str, Any] = {}
    if "random_state" in defaults:
        settings["random_state"] = random_state
    # Deprecated and without effect in logistic regression.
    if "n_jobs" in defaults and loaded.__name__ != "LogisticRegression":
        settings["n_jobs"] = 1
    estimator = _instantiate(model, loaded, {**kind.defaults, **parameters, **settings})
    if model not in _TYPES[task]:
        _check_task(model, estimator, task)
    return estimator


def estimator_type(model: str, task: str = "classification") -> EstimatorType:
    """Return the import path and needs of a model; an unknown one is an `EvaluationError`.

    Examples
    --------
    >>> estimator_type("random_forest").splits, estimator_type("ridge", "regression").is_scaled
    (True, True)
    """
    names = model_names(task)
    if model in names:
        return _TYPES[task][model]
    if "." in model:
        return _type_at(model)
    raise EvaluationError(
        f"quality.model must be one of {names} for {task}, or the dotted path of a class; got "
        f"{model!r}. Name one of them."
    )


def survival_target(event: Bools, time: Floats) -> NDArray[np.void]:
    """Return events (False: censored) and times as survival models are fitted to them.

    Examples
    --------
    >>> survival_target(np.array([True, False]), np.array([2.0, 3.5])).tolist()
    [(True, 2.0), (False, 3.5)]
    """
    target = np.empty(len(event), dtype=[("event", np.bool_), ("time", np.float64)])
    target["event"], target["time"] = event, time
    return target


@functools.cache  # models are made thousands of times, and signatures are slow
def _parameter_defaults(loaded: Any) -> Mapping[str, Any]:
    return {
        name: parameter.default
        for name, parameter in inspect.signature(loaded).parameters.items()
        if parameter.kind not in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}
    }


def _instantiate(model: str, loaded: type[Any], parameters: Mapping[str, Any]) -> Any:
    try:
        return loaded(**parameters)
    except TypeError as error:
        raise EvaluationError(
            f"quality.model {model} must need no arguments beside its parameters; got: {error}. "
            "Name a model that can be written in YAML."
        ) from error


def _type_at(path: str) -> EstimatorType:
    """Return the type at a dotted path, a class with the interface of scikit-learn."""
    module, _, name = path.rpartition(".")
    try:
        loaded = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise EvaluationError(
            f"quality.model {path!r} must be the dotted path of an installed class; importing it "
            f"says: {error}. Install its package, or correct the path."
        ) from error
    if not (inspect.isclass(loaded) and all(hasattr(loaded, n) for n in ("fit", "predict"))):
        raise EvaluationError(
            f"quality.model {path!r} must be a class with `fit` and `predict`; got another object. "
            "Name an estimator, for example sklearn.ensemble.AdaBoostClassifier."
        )
    if not all(hasattr(loaded, n) for n in ("get_params", "set_params")):
        raise EvaluationError(
            f"quality.model {path!r} must be a scikit-learn-compatible estimator; got a class "
            "without `get_params` and `set_params`. Let it inherit from sklearn.base.BaseEstimator."
        )
    return EstimatorType(module, name)


def _check_task(model: str, estimator: Any, task: str) -> None:
    base = import_module("sklearn.base")
    if base.is_classifier(estimator):
        actual_task = "classification"
    elif any(each.__name__ == "SurvivalAnalysisMixin" for each in type(estimator).__mro__):
        # Also regressors in the eyes of some releases.
        actual_task = "survival"
    elif isinstance(estimator, base.ClusterMixin):  # scikit-learn 1.5 lacks is_clusterer
        actual_task = "clustering"
    elif base.is_outlier_detector(estimator):
        actual_task = "anomaly"
    else:
        actual_task = "regression" if base.is_regressor(estimator) else "another task"
    if actual_task != task:
        raise EvaluationError(
            f"quality.model {model} must be a model of {task}, as the measure asks; it is one of "
            f"{actual_task}. Name another model or another measure."
        )
