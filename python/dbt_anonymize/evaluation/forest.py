"""Decision trees and their ensembles: bit for bit those of scikit-learn, without its overhead.

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

from dbt_anonymize.evaluation.arrays import Codes, Floats

# Parameters of a tree that must have these values for the loop below.
_PLAIN_TREE: dict[str, object] = {
    "ccp_alpha": 0.0,
    "class_weight": None,
    "criterion": "gini",
    "max_leaf_nodes": None,
    "min_impurity_decrease": 0.0,
    "min_weight_fraction_leaf": 0.0,
    "monotonic_cst": None,
}
_PLAIN_FOREST: dict[str, object] = {
    **_PLAIN_TREE,
    "max_samples": None,
    "oob_score": False,
    "verbose": 0,
    "warm_start": False,
}
_GROWTH = frozenset({"max_depth", "max_features", "min_samples_leaf", "min_samples_split"})
_MAX_SEED = int(np.iinfo(np.int32).max)


@dataclass(frozen=True)
class _Kind:
    """A class of scikit-learn: the values its parameters must have, and those that may vary."""

    module: str
    required: Mapping[str, object]
    honoured: frozenset[str]
    is_random: bool = False  # thresholds are drawn

    @functools.cached_property
    def parameters(self) -> frozenset[str]:
        """All known parameters; with any other, the class has changed."""
        return frozenset(self.required) | self.honoured


_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "DecisionTreeClassifier": _Kind(
            "sklearn.tree", {**_PLAIN_TREE, "splitter": "best"}, _GROWTH | {"random_state"}
        ),
        "RandomForestClassifier": _Kind(
            "sklearn.ensemble",
            _PLAIN_FOREST,
            _GROWTH | {"bootstrap", "n_estimators", "n_jobs", "random_state"},
        ),
        "ExtraTreesClassifier": _Kind(
            "sklearn.ensemble",
            _PLAIN_FOREST,
            _GROWTH | {"bootstrap", "n_estimators", "n_jobs", "random_state"},
            is_random=True,
        ),
        "BaggingClassifier": _Kind(
            "sklearn.ensemble",
            {
                "bootstrap_features": False,
                "estimator": None,
                "max_features": 1.0,
                "oob_score": False,
                "verbose": 0,
                "warm_start": False,
            },
            frozenset({"bootstrap", "max_samples", "n_estimators", "n_jobs", "random_state"}),
        ),
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
    is_random: bool


def supports(estimator: Any) -> bool:
    """Tell whether `forest_probabilities` can replace an unfitted estimator."""
    name = type(estimator).__name__
    if name not in _KINDS or type(estimator) is not _class_of(name):
        return False
    kind = _KINDS[name]
    if not _has_known_parameters(name):
        return False
    parameters = _parameters(estimator)
    if any(parameters[key] != value for key, value in kind.required.items()):
        return False
    if name == "BaggingClassifier" and not _draws_all(parameters):
        return False
    return _growth(estimator, features=1) is not None and is_exact(name)


def forest_probabilities(
    estimator: Any, rows: Floats, train: Codes, target: Codes, test_rows: Floats
) -> tuple[Codes, Floats] | None:
    """Train trees and return the classes, and their probabilities for each test row.

    Those of ``estimator.fit(rows[train], target).predict_proba(test_rows)``; None if a number
    exceeds single precision, which scikit-learn refuses. ``supports(estimator)`` holds, and its
    ``random_state`` is an int. ``rows`` are distinct; ``train`` and ``target`` are the row and the
    class of each training record.
    """
    classes, codes = np.unique(target, return_inverse=True)
    merged, member = np.unique(train * len(classes) + codes, return_inverse=True)
    with np.errstate(over="ignore"):
        train_x = np.ascontiguousarray(rows[merged // len(classes)], dtype=np.float32)
        test_x = np.ascontiguousarray(test_rows, dtype=np.float32)
    if not (np.isfinite(train_x).all() and np.isfinite(test_x).all()):
        return None
    growth = _growth(estimator, features=rows.shape[1])
    if growth is None:
        return None
    if growth.min_samples_leaf > 1 or growth.min_samples_split > 2:
        # These count records, so that merged ones would be counted once.
        merged, member = (train * len(classes) + codes), np.arange(len(train))
        train_x = np.ascontiguousarray(rows[train], dtype=np.float32)
    train_y = np.ascontiguousarray((merged % len(classes)).reshape(-1, 1), dtype=np.float64)
    # The generator of scikit-learn, reseeded for each tree instead of made anew.
    generator = np.random.RandomState(int(estimator.random_state))
    draws = _draws(estimator, generator, records=len(member), features=rows.shape[1])
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


def _draws(
    estimator: Any, generator: np.random.RandomState, *, records: int, features: int
) -> Iterator[Codes | None]:
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
    member: Codes,
    draws: Iterator[Codes | None],
    *,
    generator: np.random.RandomState,
    classes: int,
    test_x: NDArray[np.float32],
) -> Floats:
    from sklearn.tree._criterion import Gini  # noqa: PLC0415
    from sklearn.tree._splitter import BestSplitter, RandomSplitter  # noqa: PLC0415
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree  # noqa: PLC0415

    kind = RandomSplitter if growth.is_random else BestSplitter
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


def _growth(estimator: Any, features: int) -> _Growth | None:
    """Resolve the parameters as scikit-learn does; None for a value that the loop cannot honour."""
    parameters = {
        "n_estimators": 1,
        "max_depth": None,
        "max_features": None,
        "min_samples_leaf": 1,
        "min_samples_split": 2,
        **_parameters(estimator),
    }
    name = type(estimator).__name__
    rule = None if name == "BaggingClassifier" else parameters["max_features"]
    trees, depth, leaf, split = (
        parameters[key]
        for key in ("n_estimators", "max_depth", "min_samples_leaf", "min_samples_split")
    )
    depth = _MAX_SEED if depth is None else depth
    chosen = _max_features(rule, features)
    values = (trees, chosen, depth, leaf, split)
    if any(type(value) is not int for value in values) or min(trees, depth, leaf, split - 1) < 1:
        return None
    return _Growth(
        trees, chosen or 1, depth, leaf, max(split, 2 * leaf), is_random=_KINDS[name].is_random
    )


def _max_features(rule: object, features: int) -> int | None:
    if rule == "sqrt":
        return max(1, int(np.sqrt(features)))
    if rule == "log2":
        return max(1, int(np.log2(features)))
    return features if rule is None else None


def _draws_all(parameters: Mapping[str, Any]) -> bool:
    """Tell whether bagging draws all, with replacement; 1.0 is a share, 1 is a number."""
    samples, features = parameters["max_samples"], parameters["max_features"]
    is_whole = samples is None or (type(samples) is float and samples == 1.0)
    return bool(parameters["bootstrap"]) and is_whole and type(features) is float


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator; ``get_params`` reads its signature every time."""
    return {name: getattr(estimator, name) for name in _KINDS[type(estimator).__name__].parameters}


@functools.cache
def _has_known_parameters(name: str) -> bool:
    return set(_class_of(name)().get_params(deep=False)) == _KINDS[name].parameters


@functools.cache
def _class_of(name: str) -> type[Any]:
    from importlib import import_module  # noqa: PLC0415

    found: type[Any] = getattr(import_module(_KINDS[name].module), name)
    return found


@functools.cache
def is_exact(name: str = "RandomForestClassifier") -> bool:
    """Tell whether the loop predicts what the installed scikit-learn predicts for a class."""
    draws = np.random.default_rng(1)
    rows = np.round(draws.normal(size=(60, 3)), 1)
    train = draws.integers(0, 45, 80)
    target = (rows[train].sum(axis=1) + draws.normal(size=80) > 0).astype(np.int64)
    for parameters in ({"n_estimators": 5}, {"n_estimators": 5, "min_samples_leaf": 3}):
        known = {key: value for key, value in parameters.items() if key in _KINDS[name].honoured}
        estimator = _class_of(name)(random_state=7, **known)
        expected = estimator.fit(rows[train], target).predict_proba(rows)
        try:
            found = forest_probabilities(estimator, rows, train, target, rows)
        except Exception:  # whatever a private part raises, there is another way
            return False
        if found is None or not np.array_equal(found[1], expected):
            return False
    return True
