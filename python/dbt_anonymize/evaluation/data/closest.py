"""The released record that stands for a new one where levels differ per record.

A new record then has no generalization of its own: the closest released training record takes
its place.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np

from dbt_anonymize.arrays import Floats, Ints

# Numbers per block of distances: 4 MB, which stay near the processor.
_BLOCK = 500_000
# From this many distances on a k-d tree is faster, but only in few dimensions: in many, each search
# visits most of the tree.
_TREE_DISTANCES = 1_000_000
_TREE_FEATURES = 8
# Squared distances in standard deviations that differ by less are equal, since differences of sums
# round; the tolerance grows with the distance from the mean.
_EQUAL = 1e-9


def closest_rows(queries: Floats, released: Floats, counts: Ints) -> Ints:
    """Return for each row of ``queries`` the position of the closest row of ``released``.

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
        return np.zeros(len(queries), dtype=np.int64)
    center, scale = center[varies], deviation[varies]
    scaled_released = (released[:, varies] - center) / scale
    scaled_queries = (queries[:, varies] - center) / scale
    if len(queries) * len(released) < _TREE_DISTANCES or scaled_released.shape[1] > _TREE_FEATURES:
        return _closest_by_distance_matrix(scaled_queries, scaled_released)
    return _closest_by_tree(scaled_queries, scaled_released)


def _closest_by_distance_matrix(queries: Floats, released: Floats) -> Ints:
    # The square of the query is constant; that of the released row is one more term of the sum.
    factors = np.vstack([-2.0 * released.T, np.einsum("ij,ij->i", released, released)])
    nearest = np.empty(len(queries), dtype=np.int64)
    step = max(1, _BLOCK // len(released))
    for start in range(0, len(queries), step):
        block = queries[start : start + step]
        distances = np.column_stack([block, np.ones(len(block))]) @ factors
        limit = distances.min(axis=1) + _tolerance(block)
        nearest[start : start + step] = np.argmax(distances <= limit[:, None], axis=1)
    return nearest


def _closest_by_tree(queries: Floats, released: Floats) -> Ints:
    """Search a k-d tree, which returns any of equally close rows."""
    tree = import_module("scipy.spatial").cKDTree(released)
    distances, rows = tree.query(queries, k=2)
    nearest = np.asarray(rows[:, 0], dtype=np.int64)
    limit = np.sqrt(distances[:, 0] ** 2 + _tolerance(queries))
    tied = np.flatnonzero(distances[:, 1] <= limit)
    for at, equal in zip(tied, tree.query_ball_point(queries[tied], limit[tied]), strict=True):
        nearest[at] = min(equal, default=nearest[at])
    return nearest


def _tolerance(rows: Floats) -> Floats:
    tolerance: Floats = _EQUAL * (1.0 + np.einsum("ij,ij->i", rows, rows))
    return tolerance
