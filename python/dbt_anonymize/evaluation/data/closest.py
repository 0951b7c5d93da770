"""The released record that stands for a new one where levels differ per record.

A new record then has no generalization of its own: the closest released training record takes
its place.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from dbt_anonymize.evaluation.arrays import Codes, Floats

# Numbers per block of distances: 4 MB, which stay near the processor.
_BLOCK = 500_000
# A tree of rows is quicker than all distances from this many of them on, but only in few
# dimensions: in many, each search visits most of the tree.
_TREE_DISTANCES = 1_000_000
_TREE_FEATURES = 8
# Squared distances in standard deviations that differ by less are equal: they are differences of
# sums, which round. More where a row is far from the mean.
_EQUAL = 1e-9


def closest_rows(asked: Floats, released: Floats, counts: Codes) -> Codes:
    """Return for each row of ``asked`` the position of the closest row of ``released``.

    The distance is Euclidean after each feature is divided by its standard deviation over the
    released records, of which row i stands for ``counts[i]``; the first of several wins. No value
    is missing. Shapes (n, features), (m, features) and (m,) with m >= 1 give (n,).

    Examples
    --------
    >>> released = np.array([[0.0, 100.0], [1.0, 300.0]])
    >>> closest_rows(np.array([[0.9, 150.0], [0.1, 220.0]]), released, np.array([1, 1]))
    array([1, 0])
    """
    shares = counts / counts.sum()
    center = shares @ released
    deviation = np.sqrt(shares @ (released - center) ** 2)
    # Rounding makes a constant feature look as if it varied a little.
    varies = deviation > 1e-12 * np.abs(center)
    if not varies.any():
        return np.zeros(len(asked), dtype=np.int64)
    center, scale = center[varies], deviation[varies]
    target = (released[:, varies] - center) / scale
    wanted = (asked[:, varies] - center) / scale
    if len(asked) * len(released) < _TREE_DISTANCES or target.shape[1] > _TREE_FEATURES:
        return _by_blocks(wanted, target)
    return _by_tree(wanted, target)


def _by_blocks(wanted: Floats, target: Floats) -> Codes:
    # The square of the wanted row is the same for all others; theirs is one more term of the sum.
    factors = np.vstack([-2.0 * target.T, np.einsum("ij,ij->i", target, target)])
    nearest = np.empty(len(wanted), dtype=np.int64)
    step = max(1, _BLOCK // len(target))
    for start in range(0, len(wanted), step):
        block = wanted[start : start + step]
        distances = np.column_stack([block, np.ones(len(block))]) @ factors
        limit = distances.min(axis=1) + _tolerance(block)
        nearest[start : start + step] = np.argmax(distances <= limit[:, None], axis=1)
    return nearest


def _by_tree(wanted: Floats, target: Floats) -> Codes:
    """Search a k-d tree, which returns any of equally close rows."""
    tree = import_module("scipy.spatial").cKDTree(target)
    distances, rows = tree.query(wanted, k=2)
    nearest = np.asarray(rows[:, 0], dtype=np.int64)
    limit = np.sqrt(distances[:, 0] ** 2 + _tolerance(wanted))
    tied = np.flatnonzero(distances[:, 1] <= limit)
    for at, equal in zip(tied, tree.query_ball_point(wanted[tied], limit[tied]), strict=True):
        nearest[at] = min(equal, default=nearest[at])
    return nearest


def _tolerance(rows: Floats) -> Floats:
    tolerance: Floats = _EQUAL * (1.0 + np.einsum("ij,ij->i", rows, rows))
    return tolerance
