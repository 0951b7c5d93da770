"""The optimal microaggregation of one number: a shortest path over its sorted values."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Floats, Ints


def optimal_groups(values: Floats, counts: Ints, k: int) -> Ints:
    """Return the group of each value, 0 and up, each of at least ``k`` records.

    ``values`` ascend and differ; value i stands for ``counts[i]`` records, which stay together. The
    sum of squared distances from the means of the groups is the least that is possible; of several
    such partitions, the last group begins as far up as possible, then the one before. Fewer than k
    records in all are one group.

    References
    ----------
    .. [1] S. L. Hansen and S. Mukherjee, IEEE TKDE 15(4):1043-1044, 2003.
    """
    n = len(values)
    records = np.concatenate([[0], np.cumsum(counts)])
    if records[-1] < k:
        return np.zeros(n, dtype=np.int64)
    centered = values - (values * counts).sum() / records[-1]
    sums = np.concatenate([[0.0], np.cumsum(counts * centered)])
    squares = np.concatenate([[0.0], np.cumsum(counts * centered**2)])
    cost, begins = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=np.int64)
    cost[0] = 0.0
    # A group that could be cut in two is never better: it has fewer than 2k records beside a value.
    last = np.searchsorted(records, records - k, side="right") - 1
    first = np.searchsorted(records, records - 2 * k - int(counts.max()), side="right") - 1
    for end in range(1, n + 1):
        if last[end] < 0:
            continue
        starts = np.arange(last[end], max(first[end], 0) - 1, -1)
        size = records[end] - records[starts]
        within = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / size
        total = cost[starts] + np.maximum(within, 0.0)
        best = int(total.argmin())
        cost[end], begins[end] = total[best], starts[best]
    groups, end, count = np.empty(n, dtype=np.int64), n, 0
    while end > 0:
        groups[begins[end] : end] = count
        end, count = int(begins[end]), count + 1
    return count - 1 - groups
