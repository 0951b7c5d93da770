"""A random forest for small tables: the trees of scikit-learn without its overhead per tree.

On tables of some hundred records, six sevenths of the time of ``RandomForestClassifier`` is spent
beside the tree builder: cloning, checking and seeding 100 Python objects. Here the same compiled
builder is called in a plain loop, with the same draws in the same order, so that the predicted
probabilities are the same to the last bit. Equal records (features and class) are merged into one
with a weight, which is exact: the bootstrap is drawn over the records before they are merged, and
sums of whole numbers do not round.

The builder is a private part of scikit-learn. So ``is_exact`` compares both on a small example
once per process, and any difference or error there means that scikit-learn's own forest is used.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Parameters that must have these values for the loop below; all others are honoured by it.
_REQUIRED: dict[str, object] = {
    "bootstrap": True,
    "ccp_alpha": 0.0,
    "class_weight": None,
    "criterion": "gini",
    "max_leaf_nodes": None,
    "max_samples": None,
    "min_impurity_decrease": 0.0,
    "min_weight_fraction_leaf": 0.0,
    "monotonic_cst": None,
    "oob_score": False,
    "verbose": 0,
    "warm_start": False,
}
_HONOURED = frozenset(
    {"max_depth", "max_features", "min_samples_leaf", "min_samples_split", "n_estimators"}
)
_PASSED_BY = frozenset({"n_jobs", "random_state"})


@dataclass(frozen=True)
class _Growth:
    """The rules by which each tree grows, resolved for a number of features."""

    trees: int
    max_features: int
    max_depth: int
    min_samples_leaf: int
    min_samples_split: int


def supports(estimator: Any) -> bool:
    """Tell whether ``forest_probabilities`` can stand in for an estimator.

    Parameters
    ----------
    estimator : Any
        Unfitted.

    Returns
    -------
    bool
        True for a ``RandomForestClassifier`` whose parameters the loop honours.
    """
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415

    if type(estimator) is not RandomForestClassifier:
        return False
    parameters = estimator.get_params(deep=False)
    if set(parameters) != set(_REQUIRED) | _HONOURED | _PASSED_BY:
        return False
    if any(parameters[name] != value for name, value in _REQUIRED.items()):
        return False
    return _growth(parameters, features=1) is not None and is_exact()


def forest_probabilities(
    estimator: Any, rows: Floats, train: Codes, target: Codes, test_rows: Floats
) -> tuple[NDArray[np.int64], Floats] | None:
    """Train a forest and return the class probabilities that it predicts.

    Parameters
    ----------
    estimator : sklearn.ensemble.RandomForestClassifier
        Unfitted, for which ``supports`` is true, with an int as ``random_state``.
    rows : array of float, shape (distinct rows, features)
        Finite.
    train : array of int
        For each training record, its row.
    target : array of int
        For each training record, its class.
    test_rows : array of float, shape (n, features)
        Finite.

    Returns
    -------
    tuple of array, or None
        The classes and, for each test row, their probabilities: those of
        ``estimator.fit(rows[train], target).predict_proba(test_rows)``. None if a number is
        beyond single precision, which scikit-learn refuses.
    """
    classes, codes = np.unique(target, return_inverse=True)
    merged, member = np.unique(train * len(classes) + codes, return_inverse=True)
    with np.errstate(over="ignore"):
        train_x = np.ascontiguousarray(rows[merged // len(classes)], dtype=np.float32)
        test_x = np.ascontiguousarray(test_rows, dtype=np.float32)
    if not (np.isfinite(train_x).all() and np.isfinite(test_x).all()):
        return None
    growth = _growth(estimator.get_params(deep=False), features=rows.shape[1])
    if growth is None:
        return None
    if growth.min_samples_leaf > 1 or growth.min_samples_split > 2:
        # These count records, so that merged ones would be counted once.
        merged, member = (train * len(classes) + codes), np.arange(len(train))
        train_x = np.ascontiguousarray(rows[train], dtype=np.float32)
    train_y = np.ascontiguousarray((merged % len(classes)).reshape(-1, 1), dtype=np.float64)
    seed = int(estimator.random_state)
    probabilities = _grow_and_sum(
        growth, train_x, train_y, member, classes=len(classes), test_x=test_x, seed=seed
    )
    return classes, probabilities


def _grow_and_sum(
    growth: _Growth,
    train_x: NDArray[np.float32],
    train_y: Floats,
    member: Codes,
    *,
    classes: int,
    test_x: NDArray[np.float32],
    seed: int,
) -> Floats:
    """Grow the trees one after the other and average what they predict."""
    from sklearn.tree._criterion import Gini  # noqa: PLC0415
    from sklearn.tree._splitter import BestSplitter  # noqa: PLC0415
    from sklearn.tree._tree import DepthFirstTreeBuilder, Tree  # noqa: PLC0415

    # The generator of scikit-learn, reseeded for each tree instead of made anew.
    draws = np.random.RandomState(seed)
    seeds = [draws.randint(np.iinfo(np.int32).max) for _ in range(growth.trees)]
    records, features, class_counts = len(member), train_x.shape[1], np.array([classes], np.intp)
    total = np.zeros((len(test_x), classes))
    for tree_seed in seeds:
        draws.seed(tree_seed)
        drawn = member[draws.randint(0, records, records)]
        weights = np.bincount(drawn, minlength=len(train_x)).astype(np.float64)
        draws.seed(tree_seed)
        splitter = BestSplitter(
            Gini(1, class_counts), growth.max_features, growth.min_samples_leaf, 0.0, draws, None
        )
        tree = Tree(features, class_counts, 1)
        DepthFirstTreeBuilder(
            splitter,
            growth.min_samples_split,
            growth.min_samples_leaf,
            0.0,
            growth.max_depth,
            0.0,
        ).build(tree, train_x, train_y, weights, None)
        total += tree.predict(test_x)
    total /= growth.trees
    return total


def _growth(parameters: dict[str, Any], features: int) -> _Growth | None:
    """Resolve the parameters as scikit-learn does; None if any is of a kind not honoured."""
    trees, depth, leaf, split = (
        parameters[name]
        for name in ("n_estimators", "max_depth", "min_samples_leaf", "min_samples_split")
    )
    depth = int(np.iinfo(np.int32).max) if depth is None else depth
    chosen = _max_features(parameters["max_features"], features)
    values = (trees, chosen, depth, leaf, split)
    if any(type(value) is not int for value in values) or min(trees, depth, leaf, split - 1) < 1:
        return None
    return _Growth(trees, values[1] or 1, depth, leaf, max(split, 2 * leaf))


def _max_features(rule: object, features: int) -> int | None:
    if rule == "sqrt":
        return max(1, int(np.sqrt(features)))
    if rule == "log2":
        return max(1, int(np.log2(features)))
    return features if rule is None else None


@functools.cache
def is_exact() -> bool:
    """Tell whether the loop predicts what the installed scikit-learn predicts.

    Returns
    -------
    bool
        False also if the private parts of scikit-learn have changed in any way.
    """
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415

    draws = np.random.default_rng(1)
    rows = np.round(draws.normal(size=(60, 3)), 1)
    train = draws.integers(0, 45, 80)
    target = (rows[train].sum(axis=1) + draws.normal(size=80) > 0).astype(np.int64)
    for parameters in ({"n_estimators": 5}, {"n_estimators": 5, "min_samples_leaf": 3}):
        estimator = RandomForestClassifier(random_state=7, n_jobs=1, **parameters)
        expected = estimator.fit(rows[train], target).predict_proba(rows)
        try:
            found = forest_probabilities(estimator, rows, train, target, rows)
        except Exception:  # whatever a private part raises, there is another way
            return False
        if found is None or not np.array_equal(found[1], expected):
            return False
    return True
