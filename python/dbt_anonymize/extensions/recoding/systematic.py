"""Systematic clustering over the distinct tuples of a table, by information loss."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.recoding.spans import Spans
from dbt_anonymize.extensions.recoding.tuples import Tuples


def systematic_clusters(tuples: Tuples, k: int, *, passes: int = 1, halve: bool = False) -> Ints:
    """Return the cluster of each tuple, 0 and up, each of at least ``k`` records.

    ``passes=2`` clusters with 2k and each cluster again with k: no cluster is smaller than k. With
    ``halve``, clusters that lose more per record than the mean are clustered again with half of
    ``k``, rounded down, then the smallest size. Fewer than k records in all are one cluster.

    One pass: every k-th of the sorted records is the seed of a cluster, from the middle of the
    first k on (the paper draws it). Every other tuple joins the cluster whose loss rises least. A
    cluster of more than k records keeps its seed and the nearest tuples up to k; the rest joins
    clusters below k first, then those whose loss rises least. Equal records stay together, so
    clusters below k may remain: they are dissolved. Ties go to the first.

    References
    ----------
    .. [1] M. E. Kabir, H. Wang and E. Bertino, *Efficient systematic clustering method for
       k-anonymization*, Acta Informatica 48(1), 2011.
    """
    if tuples.records < 2 * k:
        return np.zeros(len(tuples), dtype=np.int64)
    clusters = _one_pass(tuples, 2 * k if passes == 2 else k)
    if passes == 2:
        return _recluster(tuples, clusters, range(int(clusters.max(initial=-1)) + 1), k)
    if halve:
        spans = Spans.of(tuples, clusters, int(clusters.max(initial=-1)) + 1)
        above = np.flatnonzero(spans.losses > spans.losses @ spans.records / tuples.records)
        return _recluster(tuples, clusters, above.tolist(), k // 2)
    return clusters


def _recluster(tuples: Tuples, clusters: Ints, chosen: range | list[int], k: int) -> Ints:
    """Cluster the tuples of some clusters by themselves; number all clusters anew."""
    order = np.argsort(clusters, kind="stable")
    bounds = np.searchsorted(clusters[order], np.arange(int(clusters.max(initial=-1)) + 2))
    renumbered, count = clusters.copy(), len(bounds) - 1
    for number in chosen:
        rows = order[bounds[number] : bounds[number + 1]]
        parts = _one_pass(tuples.take(rows), k)
        renumbered[rows] = parts + count
        count = int(renumbered.max()) + 1
    return np.unique(renumbered, return_inverse=True)[1].reshape(-1)


def _records(tuples: Tuples, clusters: Ints) -> Ints:
    return np.bincount(clusters, weights=tuples.counts).astype(np.int64)


def _one_pass(tuples: Tuples, k: int) -> Ints:
    if tuples.records < 2 * k:
        return np.zeros(len(tuples), dtype=np.int64)
    seeds = _seeds(tuples, k, k // 2)
    clusters = np.full(len(tuples), -1, dtype=np.int64)
    clusters[seeds] = np.arange(len(seeds))
    spans = Spans.of(tuples, clusters, len(seeds))
    for row in np.flatnonzero(clusters < 0).tolist():
        clusters[row] = spans.join(row)
    return _balance(tuples, clusters, seeds, k)


def _seeds(tuples: Tuples, k: int, first: int) -> Ints:
    """Return the tuples of every k-th record, from the ``first`` on."""
    records = np.arange(first, k * (tuples.records // k), k)
    return np.unique(np.searchsorted(np.cumsum(tuples.counts), records, side="right"))


def _balance(tuples: Tuples, clusters: Ints, seeds: Ints, k: int) -> Ints:
    """Bring all clusters to at least k records."""
    is_rest = np.zeros(len(tuples), dtype=bool)
    order = np.argsort(clusters, kind="stable")
    bounds = np.searchsorted(clusters[order], np.arange(len(seeds) + 1))
    for number in np.flatnonzero(_records(tuples, clusters) > k):
        rows = order[bounds[number] : bounds[number + 1]]
        members = tuples.take(rows)
        far = members.distances(tuples.at(int(seeds[number])))
        # The seed is its own nearest, and the first of equal ones.
        far[np.searchsorted(rows, seeds[number])] = -1.0
        nearest = members.nearest(far, k)
        is_rest[rows] = True
        is_rest[rows[nearest]] = False
    clusters = np.where(is_rest, -1, clusters)
    spans = Spans.of(tuples, clusters, len(seeds))
    for row in np.flatnonzero(is_rest).tolist():
        small = np.flatnonzero(spans.records < k)
        clusters[row] = spans.join(row, small if len(small) else None)
    while True:
        small = np.flatnonzero((spans.records > 0) & (spans.records < k))
        large = np.flatnonzero(spans.records >= k)
        if not len(small) or not len(large):
            return np.unique(clusters, return_inverse=True)[1].reshape(-1)
        smallest = int(small[spans.records[small].argmin()])
        spans.records[smallest] = 0
        for row in np.flatnonzero(clusters == smallest).tolist():
            clusters[row] = spans.join(row, large)
