"""Systematic clustering in plain Python, from its definition (Kabir, Wang and Bertino 2011)."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle.grouping import Row, Value, distance

# A distinct row and its records.
Counted = tuple[Row, int]
Cluster = list[Counted]


def size(cluster: Cluster) -> int:
    """Return its records."""
    return sum(count for _, count in cluster)


def width(values: Sequence[Value]) -> float:
    """Return what the values of one attribute span, 0 to 1."""
    known = [v for v in values if v is not None]
    if len(known) < len(values):
        return 1.0 if known else 0.0
    if isinstance(known[0], tuple):
        paths = [v for v in known if isinstance(v, tuple)]
        levels = range(len(paths[0]))
        return sum(len({path[level] for path in paths}) > 1 for level in levels) / len(paths[0])
    numbers = [v for v in known if isinstance(v, float)]
    return max(numbers) - min(numbers)


def loss(cluster: Cluster) -> float:
    """Return its records times the sum of its widths."""
    columns = zip(*(row for row, _ in cluster), strict=True)
    return size(cluster) * sum(width(column) for column in columns)


def one_pass(rows: Sequence[Counted], k: int) -> list[Cluster]:
    """Return the clusters of sorted rows, each of k records or more."""
    n = size(list(rows))
    if n < 2 * k:
        return [list(rows)] if rows else []
    owner = [row for row in rows for _ in range(row[1])]
    seeds = list(dict.fromkeys(owner[i] for i in range(k // 2, n // k * k, k)))
    clusters: list[Cluster] = [[seed] for seed in seeds]
    for row in rows:
        if row not in seeds:
            _best(clusters, row).append(row)
    rest: list[Counted] = []
    for number, cluster in enumerate(clusters):
        if size(cluster) > k:
            seed, kept = seeds[number], []
            by_row = [r for r in rows if r in cluster]
            for row in sorted(by_row, key=lambda r: (r != seed, distance(r[0], seed[0]))):
                if size(kept) >= k:
                    rest.append(row)
                else:
                    kept.append(row)
            clusters[number] = kept
    for row in [r for r in rows if r in rest]:
        _best([c for c in clusters if size(c) < k] or clusters, row).append(row)
    while len(clusters) > 1 and min(map(size, clusters)) < k:
        gone = min(clusters, key=size)
        large = [c for c in clusters if size(c) >= k]
        if not large:
            break
        clusters = [c for c in clusters if c is not gone]
        for row in [r for r in rows if r in gone]:
            _best(large, row).append(row)
    return clusters


def _best(clusters: list[Cluster], row: Counted) -> Cluster:
    return min(clusters, key=lambda c: loss([*c, row]) - loss(c))


def systematic(
    rows: Sequence[Counted], k: int, *, passes: int = 1, halve: bool = False
) -> set[frozenset[Row]]:
    """Return the clusters as sets of distinct rows."""
    clusters = one_pass(rows, 2 * k if passes == 2 else k)
    if passes == 2 and size(list(rows)) >= 2 * k:
        clusters = [part for c in clusters for part in one_pass(_sorted(c, rows), k)]
    if halve and size(list(rows)) >= 2 * k:
        mean = sum(map(loss, clusters)) / size(list(rows))
        clusters = [
            part
            for c in clusters
            for part in (one_pass(_sorted(c, rows), k // 2) if loss(c) / size(c) > mean else [c])
        ]
    return {frozenset(row for row, _ in cluster) for cluster in clusters}


def _sorted(cluster: Cluster, rows: Sequence[Counted]) -> Cluster:
    return [row for row in rows if row in cluster]
