"""Estimate the number of records in small classes from a sample of classes.

A hash of its labels decides if a class is in the sample, with all of its records, so its size is
exact. Classes are drawn independently, so the interval for the records of the whole table in
classes below k holds for every table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from math import exp, log, sqrt

CONFIDENCE = 0.95


@dataclass(frozen=True)
class SmallClasses:
    """Records in classes below k: the estimate, and the ends of its interval."""

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
    """Estimate the number of records of a table in classes of fewer than k.

    Parameters
    ----------
    sizes : mapping of int to int
        Number of classes in the sample, by size.
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
    >>> small = records_below({1: 40, 2: 30, 9: 5}, 3, one_in=10, records=1_400)
    >>> small.estimate, round(small.low), round(small.high)
    (1000, 663, 1400)
    """
    sampled = sum(size * number for size, number in sizes.items() if size < k)
    if one_in == 1:
        return SmallClasses(sampled, sampled, sampled)
    # The bound is for numbers from 0 to 1.
    parts = sampled / (k - 1)
    allowed = log(2 / (1 - confidence))
    scale = one_in * (k - 1)
    return SmallClasses(
        min(sampled * one_in, records),
        # The sampled records are in the table.
        max(scale * _mean(parts, allowed, below=True), sampled),
        min(scale * _mean(parts, allowed, below=False), records),
    )


def _mean(parts: float, allowed: float, *, below: bool) -> float:
    """Return the mean, below or above ``parts``, at which the tail bound equals the allowed one.

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
