"""Neighbours in an order merged level by level, into groups of about equally many records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, groupby


def neighbour_levels(records: Sequence[int]) -> list[list[int]]:
    """Return the group of each member at each level: half as many groups each, two at the end.

    Groups are numbered in order. Each consists of whole groups of the level below, so that the sum
    of squared records is the least. Fewer than three members have no level.

    Examples
    --------
    >>> neighbour_levels([50, 10, 10, 30, 40])
    [[0, 1, 1, 1, 2], [0, 1, 1, 1, 1]]
    """
    # Members without records count a little, or they would all join one group.
    weights = [count + sum(records) / (50 * len(records)) for count in records]
    groups = list(range(len(records)))
    levels: list[list[int]] = []
    while max(groups, default=0) > 1:
        size = max(groups) + 1
        sums = [
            sum(w for w, g in zip(weights, groups, strict=True) if g == group)
            for group in range(size)
        ]
        joined = partition(sums, (size + 1) // 2)
        groups = [joined[group] for group in groups]
        levels.append(groups)
    return levels


def name_runs(level: Sequence[object], name: Callable[[int, int], str]) -> tuple[str, ...]:
    """Return the labels of a level, each run of equal members named by its first and last place.

    Examples
    --------
    >>> name_runs("aab", lambda first, last: f"{first}-{last}")
    ('0-1', '0-1', '2-2')
    """
    names: list[str] = []
    for first, last in runs(level):
        names += [name(first, last)] * (last - first + 1)
    return tuple(names)


def runs(level: Sequence[object]) -> list[tuple[int, int]]:
    """Return the first and the last place of each run of equal members."""
    groups = (list(group) for _, group in groupby(range(len(level)), key=level.__getitem__))
    return [(group[0], group[-1]) for group in groups]


def partition(weights: Sequence[float], parts: int) -> list[int]:
    """Cut a sequence into parts so that the sum of their squared weights is the least."""
    totals = [0.0, *accumulate(weights)]
    size = len(weights)
    # cost[end] and where the last part starts, for the number of parts so far.
    cost = [total**2 for total in totals]
    starts = [[0] * (size + 1)]
    for part in range(1, parts):
        new, chosen = [float("inf")] * (size + 1), [0] * (size + 1)
        for end in range(part + 1, size + 1):
            options = [
                (cost[start] + (totals[end] - totals[start]) ** 2, start)
                for start in range(part, end)
            ]
            new[end], chosen[end] = min(options)
        cost = new
        starts.append(chosen)
    ends, end = [size], size
    for chosen in reversed(starts[1:]):
        end = chosen[end]
        ends.append(end)
    cuts = sorted(ends[1:])
    return [sum(place >= cut for cut in cuts) for place in range(size)]
