"""Groups of similar records in plain Python: MDAV, the best partition of numbers, and means."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# A number, a category as the path of its labels from the leaf up (without the root), or NULL.
Value = float | tuple[str, ...] | None
Row = tuple[Value, ...]


def distance(one: Row, other: Row) -> float:
    """Return the squared distance of two rows; numbers are in ranges of their hierarchy."""
    total = 0.0
    for a, b in zip(one, other, strict=True):
        if a is None or b is None:
            apart = 0.0 if a is b else 1.0
        elif isinstance(a, tuple):
            assert isinstance(b, tuple)
            apart = sum(x != y for x, y in zip(a, b, strict=True)) / len(a)
        else:
            assert isinstance(b, float)
            apart = abs(a - b)
        total += apart**2
    return total


def center(rows: Sequence[Row], order: Sequence[Sequence[Value]]) -> Row:
    """Return means and modes; ``order`` has the categories of each attribute, first wins."""
    found: list[Value] = []
    for place, known in enumerate(order):
        column = [row[place] for row in rows]
        values = [v for v in column if v is not None]
        if known:
            found.append(max(known, key=column.count))
        elif 2 * len(values) < len(column):
            found.append(None)
        else:
            found.append(sum(v for v in values if isinstance(v, float)) / len(values))
    return tuple(found)


def mdav(rows: Sequence[Row], order: Sequence[Sequence[Value]], k: int) -> set[frozenset[Row]]:
    """Return the groups as sets of distinct rows; ``rows`` are all records, sorted."""
    left, groups = list(rows), []

    def take(point: Row) -> None:
        group: list[Row] = []
        for row in sorted(dict.fromkeys(left), key=lambda row: distance(row, point)):
            if len(group) >= k:
                break
            group += [row] * left.count(row)
        groups.append(group)
        left[:] = [row for row in left if row not in group]

    def farthest(point: Row) -> Row:
        return max(left, key=lambda row: distance(row, point))

    while len(left) >= 3 * k:
        first = farthest(center(left, order))
        take(first)
        if len(left) >= 2 * k:
            take(farthest(first))
    if len(left) >= 2 * k:
        take(farthest(center(left, order)))
    if len(left) >= k or not groups:
        groups.append(left)
    else:
        centers = [center(group, order) for group in groups]
        for row in left:
            nearest = min(range(len(centers)), key=lambda i: distance(row, centers[i]))
            groups[nearest] = [*groups[nearest], row]
    return {frozenset(group) for group in groups if group}


def least_squares(values: Sequence[float], counts: Sequence[int], k: int) -> float:
    """Return the least sum of squared distances from means over all partitions in order."""
    best = math.inf
    places = range(1, len(values))
    for cuts in itertools.chain.from_iterable(
        itertools.combinations(places, size) for size in range(len(values))
    ):
        parts = [range(a, b) for a, b in itertools.pairwise([0, *cuts, len(values)])]
        if all(sum(counts[i] for i in part) >= k for part in parts):
            best = min(best, sum(squares(values, counts, part) for part in parts))
    return best


def squares(values: Sequence[float], counts: Sequence[int], part: Sequence[int]) -> float:
    """Return the sum of squared distances from the mean of some values."""
    records = sum(counts[i] for i in part)
    mean = sum(counts[i] * values[i] for i in part) / records
    return sum(counts[i] * (values[i] - mean) ** 2 for i in part)


def reachable(values: Sequence[Any], lower: float, upper: float) -> tuple[float, float]:
    """Return the lowest and highest number from ``lower`` to below ``upper`` that values can be.

    The values of a class may all be multiples of 1, 5, 10, 50, ... up to a million.
    """
    steps = (s for n in range(6, -1, -1) for s in (5 * 10**n, 10**n) if s <= 10**6)
    for step in steps:
        if all(value % step == 0 for value in values):
            first, last = -(-lower // step), -(-upper // step) - 1
            return first * step, last * step
    return lower, upper


@dataclass(frozen=True)
class Members:
    """The numbers of one group, with whoever holds each, and the bounds that are released.

    ``ends`` are the lowest and highest number within them: see `reachable`.
    """

    values: Sequence[Any]
    holders: Sequence[int]
    lower: float
    upper: float
    ends: tuple[float, float]

    def may_tell_the_mean(self, p_percent: float) -> bool:
        """Tell whether each holder leaves every other number a share p of the interval.

        Whoever knows the mean, the bounds and the own numbers knows the sum of the others; this
        looks for the values that one of them can have.
        """
        width = self.upper - self.lower
        for holder in set(self.holders):
            others = [v for v, h in zip(self.values, self.holders, strict=True) if h != holder]
            if len(others) < 2:
                return False
            rest = [(len(others) - 1) * end for end in self.ends]
            highest = min(self.ends[1], sum(others) - rest[0])
            lowest = max(self.ends[0], sum(others) - rest[1])
            if highest - lowest < p_percent / 100 * width - 1e-9 * width:
                return False
        return True
