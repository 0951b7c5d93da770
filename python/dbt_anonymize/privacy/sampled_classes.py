"""Estimate from a sample of classes how many records are in small ones.

A class is in the sample if a hash of its labels says so, and then with all of its records: its size
is exact, and how many records of the whole table are in classes below k follows with an interval
that holds for every table, because the classes are drawn independently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from math import exp, log, sqrt

CONFIDENCE = 0.95


@dataclass(frozen=True)
class SmallClasses:
    """Records in classes below k: how many are estimated, and the ends of the interval."""

    estimate: float
    low: float
    high: float


def records_below(
    sizes: Mapping[int, int],
    k: int,
    *,
    one_in: int,
    records: int,
    confidence: float = CONFIDENCE,
) -> SmallClasses:
    """Return how many records of a table are in classes of fewer than k.

    Parameters
    ----------
    sizes : mapping of int to int
        How many classes of each size are in the sample.
    k : int
        At least 2.
    one_in : int
        Each class is in the sample with the probability ``1 / one_in``; 1 for all, then the
        interval is the number itself.
    records : int
        Of the whole table.
    confidence : float, default 0.95
        With at least this probability the interval holds the true number (Chernoff 1952, for sums
        of independent numbers, none above k - 1).

    Examples
    --------
    >>> records_below({1: 40, 2: 30, 9: 5}, 3, one_in=1, records=145)
    SmallClasses(estimate=100, low=100, high=100)
    >>> found = records_below({1: 40, 2: 30, 9: 5}, 3, one_in=10, records=1_400)
    >>> found.estimate, round(found.low), round(found.high)
    (1000, 663, 1400)
    """
    seen = sum(size * number for size, number in sizes.items() if size < k)
    if one_in == 1:
        return SmallClasses(seen, seen, seen)
    # In numbers from 0 to 1, as the bound has them.
    parts = seen / (k - 1)
    allowed = log(2 / (1 - confidence))
    scale = one_in * (k - 1)
    return SmallClasses(
        min(seen * one_in, records),
        # What was seen is there.
        max(scale * _mean(parts, allowed, below=True), seen),
        min(scale * _mean(parts, allowed, below=False), records),
    )


def _mean(parts: float, allowed: float, *, below: bool) -> float:
    """Return the mean, below or above ``parts``, from which so much is just as unlikely as allowed.

    A sum of independent numbers from 0 to 1 with mean m is as far off as ``parts`` with a
    probability of at most ``exp(-(parts * log(parts / m) - parts + m))`` on either side.
    """
    root = import_module("scipy.optimize").brentq  # imported here: keeps other commands fast
    if parts == 0:
        return 0.0 if below else allowed

    def excess(mean: float) -> float:
        return parts * log(parts / mean) - parts + mean - allowed

    # At these ends the excess is above 0, at `parts` it is below.
    far = (
        parts * exp(-1 - allowed / parts)
        if below
        else parts + allowed + sqrt(allowed * (allowed + 2 * parts))
    )
    return float(root(excess, min(far, parts), max(far, parts)))
