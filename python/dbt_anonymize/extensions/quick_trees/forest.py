"""Decision trees and ensembles, equal to those of scikit-learn bit by bit, without its overhead.

On some hundred records ``RandomForestClassifier`` spends six sevenths of its time outside the tree
builder: cloning, checking and seeding 100 Python objects. This module calls the same compiled
builder in a plain loop with the same draws in the same order, for single trees, random forests,
extra trees and bagged trees.

Equal records (features and class) are merged into a weighted one. That is exact: the bootstrap is
drawn before merging, and sums of whole numbers do not round. Numeric targets would round, so
scikit-learn fits regressions.

The builder is private to scikit-learn: ``is_exact`` compares both on a small example once per
process and class; any difference or error falls back to scikit-learn.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints

_MAX_SEED = int(np.iinfo(np.int32).max)
_GROWTH = {"max_depth", "max_features", "min_samples_leaf", "min_samples_split"}
_ENSEMBLE = {"bootstrap", "n_estimators", "n_jobs", "random_state"}
# Module of each class, and the parameters that the loop honours; others must have their defaults.
_HONOURED: Mapping[str, tuple[str, frozenset[str]]] = MappingProxyType(
    {
        "DecisionTreeClassifier": ("sklearn.tree", frozenset(_GROWTH | {"random_state"})),
        "RandomForestClassifier": ("sklearn.ensemble", frozenset(_GROWTH | _ENSEMBLE)),
        "ExtraTreesClassifier": ("sklearn.ensemble", frozenset(_GROWTH | _ENSEMBLE)),
        "BaggingClassifier": ("sklearn.ensemble", frozenset(_ENSEMBLE)),
    }
)


@dataclass(frozen=True)
class _Growth:
    """The rules by which each tree grows, resolved for a number of features."""

    trees: int
    max_features: int
    max_depth: int
    min_samples_leaf: int
    min_samples_split: int
    draws_thresholds: bool


def train_classifier(
    estimator: Any, rows: Floats, train: Ints, target: Ints, test_rows: Floats
) -> tuple[Ints, Floats] | None:
    """Train an unfitted estimator as `forest_probabilities` does; None where scikit-learn must."""
    if not supports(estimator):
        return None
    return forest_probabilities(estimator, rows, train, target, test_rows)


def supports(estimator: Any) -> bool:
    """Tell whether `forest_probabilities` can replace an unfitted estimator."""
    name = type(estimator).__name__
    if name not in _HONOURED or type(estimator) is not _estimator_class(name):
        return False
    for parameter, default in _required_defaults(name).items():
        value = getattr(estimator, parameter)
        # A share of 1.0 is all, and the number 1 is not.
        if type(value) is not type(default) or value != default:
            return False
    if name == "BaggingClassifier" and not estimator.bootstrap:
        return False
    return _resolve_growth(estimator, features=1) is not None and is_exact(name)


def forest_probabilities(
    estimator: Any, rows: Floats, train: Ints, target: Ints, test_rows: Floats
) -> tuple[Ints, Floats] | None:
    """Train trees and return the classes, and their probabilities for each test row.

    Equal to ``estimator.fit(rows[train], target).predict_proba(test_rows)``; None if a number
    exceeds single precision, which scikit-learn refuses. ``supports(estimator)`` must hold, and its
    ``random_state`` be an int. ``rows`` are distinct; ``train`` and ``target`` are the row and the
    class of each training record.
    """
    classes, codes = np.unique(target, return_inverse=True)
    merged, member = np.unique(train * len(classes) + codes, return_inverse=True)
    with np.errstate(over="ignore"):
        train_x = np.ascontiguousarray(rows[merged // len(classes)], dtype=np.float32)
        test_x = np.ascontiguousarray(test_rows, dtype=np.float32)
    if not (np.isfinite(train_x).all() and np.isfinite(test_x).all()):
        return None
    growth = _resolve_growth(estimator, features=rows.shape[1])
    if growth is None:
        return None
    if growth.min_samples_leaf > 1 or growth.min_samples_split > 2:
        # Both parameters count records; merged ones would count once.
        merged, member = (train * len(classes) + codes), np.arange(len(train))
        train_x = np.ascontiguousarray(rows[train], dtype=np.float32)
    train_y = np.ascontiguousarray((merged % len(classes)).reshape(-1, 1), dtype=np.float64)
    # The generator of scikit-learn, reseeded for each tree instead of made anew.
    generator = np.random.RandomState(int(estimator.random_state))
    draws = _draw_records(estimator, generator, records=len(member), features=rows.shape[1])
    probabilities = _grow_and_sum(
        growth,
        train_x,
        train_y,
        member,
        draws,
        generator=generator,
        classes=len(classes),
        test_x=test_x,
    )
    return classes, probabilities


def _draw_records(
    estimator: Any, generator: np.random.RandomState, *, records: int, features: int
) -> Iterator[Ints | None]:
    """Yield the records of each tree (None: each once), and seed the generator for its splits."""
    name = type(estimator).__name__
    if name == "DecisionTreeClassifier":
        yield None
        return
    seeds = generator.randint(_MAX_SEED, size=estimator.n_estimators)
    for tree_seed in seeds:
        generator.seed(tree_seed)
        drawn = None
        if name == "BaggingClassifier":
            from sklearn.utils.random import sample_without_replacement  # noqa: PLC0415

            split_seed = generator.randint(_MAX_SEED)
            generator.seed(tree_seed)
            # All features in their order, but drawn before the records.
            sample_without_replacement(features, features, random_state=generator)
        else:
            split_seed = tree_seed
        if estimator.bootstrap:
            drawn = generator.randint(0, records, records)
        generator.seed(split_seed)
        yield drawn


def _grow_and_sum(
    growth: _Growth,
    train_x: NDArray[np.float32],
    train_y: Floats,
    member: Ints,
    draws: Iterator[Ints | None],
    *,
    generator: np.random.RandomState,
    classes: int,
    test_x: NDArray[np.float32],
) -> Floats:
    from sklearn.tree._criterion import Gini  # noqa: PLC0415
    from sklearn.tree._splitter import BestSplitter, RandomSplitter  # noqa: PLC0415
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree  # noqa: PLC0415

    kind = RandomSplitter if growth.draws_thresholds else BestSplitter
    features, class_counts = train_x.shape[1], np.array([classes], np.intp)
    total = np.zeros((len(test_x), classes))
    splitter = kind(
        Gini(1, class_counts),
        growth.max_features,
        growth.min_samples_leaf,
        0.0,
        generator,
        None,
    )
    builder = DepthFirstTreeBuilder(
        splitter,
        growth.min_samples_split,
        growth.min_samples_leaf,
        0.0,
        growth.max_depth,
        0.0,
    )
    for drawn in draws:  # which sets the generator
        records = member if drawn is None else member[drawn]
        weights = np.bincount(records, minlength=len(train_x)).astype(np.float64)
        tree = Tree(features, class_counts, 1)
        builder.build(tree, train_x, train_y, weights, None)
        total += tree.predict(test_x)
    total /= growth.trees
    return total


def _resolve_growth(estimator: Any, features: int) -> _Growth | None:
    """Resolve the parameters as scikit-learn does; None for a value that the loop cannot honour."""
    name = type(estimator).__name__
    honoured: dict[str, Any] = {"n_estimators": 1, "min_samples_leaf": 1, "min_samples_split": 2}
    honoured |= {parameter: getattr(estimator, parameter) for parameter in _HONOURED[name][1]}
    trees, leaf, split = (
        honoured[key] for key in ("n_estimators", "min_samples_leaf", "min_samples_split")
    )
    depth: Any = honoured.get("max_depth")
    depth = _MAX_SEED if depth is None else depth
    features_per_split = _max_features(honoured.get("max_features"), features)
    values = (trees, features_per_split, depth, leaf, split)
    if any(type(value) is not int for value in values) or min(trees, depth, leaf, split - 1) < 1:
        return None
    is_random = name == "ExtraTreesClassifier"
    return _Growth(trees, features_per_split or 1, depth, leaf, max(split, 2 * leaf), is_random)


def _max_features(rule: object, features: int) -> int | None:
    if rule == "sqrt":
        return max(1, int(np.sqrt(features)))
    if rule == "log2":
        return max(1, int(np.log2(features)))
    return features if rule is None else None


@functools.cache
def _required_defaults(name: str) -> Mapping[str, object]:
    """Return the parameters of a class that must have their defaults."""
    defaults = _estimator_class(name)().get_params(deep=False)
    return {key: value for key, value in defaults.items() if key not in _HONOURED[name][1]}


@functools.cache
def _estimator_class(name: str) -> type[Any]:
    from importlib import import_module  # noqa: PLC0415

    forest: type[Any] = getattr(import_module(_HONOURED[name][0]), name)
    return forest


@functools.cache
def is_exact(name: str = "RandomForestClassifier") -> bool:
    """Tell whether the loop predicts what the installed scikit-learn predicts for a class."""
    draws = np.random.default_rng(1)
    rows = np.round(draws.normal(size=(60, 3)), 1)
    train = draws.integers(0, 45, 80)
    target = (rows[train].sum(axis=1) + draws.normal(size=80) > 0).astype(np.int64)
    for parameters in ({"n_estimators": 5}, {"n_estimators": 5, "min_samples_leaf": 3}):
        parameters_of_class = {
            key: value for key, value in parameters.items() if key in _HONOURED[name][1]
        }
        estimator = _estimator_class(name)(random_state=7, **parameters_of_class)
        expected = estimator.fit(rows[train], target).predict_proba(rows)
        try:
            probabilities = forest_probabilities(estimator, rows, train, target, rows)
        except Exception:  # scikit-learn's private API changed; its public one is used instead
            return False
        if probabilities is None or not np.array_equal(probabilities[1], expected):
            return False
    return True
