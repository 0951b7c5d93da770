"""Distances and diversity of a sensitive attribute within each equivalence class.

All measures are vectors over the classes, from sparse counts: one entry per (class, value) that
occurs. q is the share of a value in its class, p its share in the whole table (suppressed records
included).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module

from dbt_anonymize.arrays import Bools, Floats, Ints, np
from dbt_anonymize.privacy.table import ValueCounts

# Rounds that tighten the limit of released records.
_ROUNDS = 3


@dataclass(frozen=True)
class Distribution:
    """The values of one sensitive attribute in each of ``size`` classes, sparse.

    ``classes``, ``values`` and ``counts`` (entries,) are sorted by class, then value; counts > 0. A
    class without entries has 0 as every measure. ``people`` (size,) is below the sum of the counts
    where a person has several values; None where no measure needs it.
    """

    size: int
    classes: Ints
    values: Ints
    counts: Ints
    people: Ints | None = None

    @classmethod
    def of(
        cls, counts: ValueCounts, size: int, is_excluded: Bools, people: Ints | None = None
    ) -> Distribution:
        """Build the distribution without the entries of excluded classes."""
        if not is_excluded.any():
            return cls(size, counts.classes, counts.values, counts.counts, people)
        entries = np.flatnonzero(~is_excluded[counts.classes])
        return cls(
            size, counts.classes[entries], counts.values[entries], counts.counts[entries], people
        )

    @cached_property
    def distinct(self) -> Ints:
        """Number of distinct values in each class."""
        return np.bincount(self.classes, minlength=self.size)

    @cached_property
    def totals(self) -> Floats:
        """Sum of the counts of each class."""
        return self.sums(self.counts)

    @cached_property
    def shares(self) -> Floats:
        """Share q of each entry in its class."""
        return self.counts / self.totals[self.classes]

    def sums(self, entries: Ints | Floats) -> Floats:
        """Add up a number per entry over each class."""
        # numpy returns integers for empty input.
        return np.bincount(self.classes, weights=entries, minlength=self.size).astype(
            np.float64, copy=False
        )

    @cached_property
    def starts(self) -> Ints:
        """First entry of each class that has entries."""
        is_first = np.ones(len(self.classes), dtype=np.bool_)
        np.not_equal(self.classes[1:], self.classes[:-1], out=is_first[1:])
        return np.flatnonzero(is_first)

    def largest(self, entries: Floats | Ints) -> Floats:
        """Return the largest number per entry of each class; -inf without entries."""
        largest = np.full(self.size, -np.inf)
        starts = self.starts
        if len(starts):
            largest[self.classes[starts]] = np.maximum.reduceat(entries, starts)
        return largest

    def at_level(self, labels: Ints) -> Distribution:
        """Merge values with the same label (``labels[value]``)."""
        width = int(labels.max(initial=0)) + 1
        keys = self.classes * width + labels[self.values]
        merged, position = np.unique(keys, return_inverse=True)
        counts = np.bincount(position, weights=self.counts, minlength=len(merged))
        return Distribution(self.size, merged // width, merged % width, counts.astype(np.int64))


def entropy(values: Distribution) -> Floats:
    """Shannon entropy of each class in nats.

    Examples
    --------
    >>> two = np.array([0, 0]), np.array([0, 1]), np.array([3, 3])
    >>> float(np.exp(entropy(Distribution(1, *two)))[0])
    2.0
    """
    return -values.sums(values.shares * np.log(values.shares))


def grassberger_entropy(values: Distribution) -> Floats:
    """Entropy of each class in nats, corrected for small classes.

    ``G(n) - sum n_v G(n_v) / n`` (Grassberger 2003), with G(n) where he has psi(n), as in ARX.
    """
    corrected = values.sums(values.counts * grassberger(values.counts))
    totals = np.maximum(values.totals, 1.0)
    return np.where(values.totals > 0, grassberger(totals) - corrected / totals, 0.0)


def grassberger(counts: Ints | Floats) -> Floats:
    """G(n) of Grassberger's estimator, n >= 1: G(1) = -gamma - ln 2, G(2j + 1) = G(2j).

    The recursion G(2j + 2) = G(2j) + 2 / (2j + 1) in closed form: digamma at floor(n / 2) + 1/2,
    plus ln 2.

    Examples
    --------
    >>> [round(float(g), 6) for g in grassberger(np.array([1, 2, 3, 4]))]
    [-1.270363, 0.729637, 0.729637, 1.396304]
    """
    halves: Floats = np.floor(np.asarray(counts) / 2)
    # Imported here: scipy takes a while, and few specs need it.
    result: Floats = import_module("scipy.special").digamma(halves + 0.5) + math.log(2.0)
    return result


def recursive_ratio(values: Distribution, least: int) -> Floats:
    """Return r_1 / (r_l + ... + r_m) of the counts r_1 >= ... >= r_m of each class.

    Infinite for a class with fewer than l = ``least`` values.
    """
    order = np.lexsort((-values.counts, values.classes))
    counts = values.counts[order]
    starts = np.concatenate(([0], np.cumsum(values.distinct)[:-1]))
    rank = np.arange(len(counts)) - starts[values.classes]
    tail = values.sums(np.where(rank >= least - 1, counts, 0))
    head = values.sums(np.where(rank == 0, counts, 0))
    ratio = np.full(values.size, np.inf)
    np.divide(head, tail, out=ratio, where=tail > 0)
    return ratio


def equal_distance(values: Distribution, global_shares: Floats) -> Floats:
    """Half the sum of |q - p| over all values.

    The differences add up to 0, so the positive ones suffice: absent values need no visit.
    """
    return values.sums(np.maximum(values.shares - global_shares[values.values], 0.0))


def max_records_within_equal_distance(
    values: Distribution, global_shares: Floats, t: float
) -> Floats:
    """Return an upper limit of the records of each class that keep an equal distance of t.

    Of m released records, a value with n records contributes at most min(n, m p), and all values
    together must contribute (1 - t) m. So m (1 - t) is at most the sum of m p over any set of
    values plus the sum of n over the others. The set has the values with n above m p, where m is at
    first the records of the class, then the limit of the round before. More rounds lower few
    limits. 0 for a class without entries.

    Examples
    --------
    >>> values = Distribution(1, np.array([0, 0]), np.array([0, 1]), np.array([9, 1]))
    >>> float(max_records_within_equal_distance(values, np.array([0.5, 0.5]), 0.25)[0])
    4.0
    """
    shares = global_shares[values.values]
    limits = values.totals
    for _ in range(_ROUNDS):
        is_capped = values.counts > limits[values.classes] * shares
        whole = values.sums(values.counts * ~is_capped)
        needed = (1.0 - t) - values.sums(shares * is_capped)
        new_limits = np.full(values.size, np.inf)
        np.divide(whole, needed, out=new_limits, where=needed > 0.0)
        limits = np.minimum(limits, new_limits)
    return limits


def hierarchical_distance(
    values: Distribution, global_shares: Floats, tree: Sequence[Ints]
) -> Floats:
    """Earth mover's distance in a tree whose leaves all have the same depth.

    Moving between leaves costs the height of their lowest common ancestor over the height of the
    tree. The sum over inner nodes (Li 2007) equals the mean of the equal distances at all levels
    below the root.
    """
    height = len(tree) - 1
    distance = np.zeros(values.size)
    for labels in tree[:-1]:
        shares: Floats = np.bincount(labels, weights=global_shares).astype(np.float64)
        distance += equal_distance(values.at_level(labels), shares)
    return distance / max(height, 1)


def ordered_distance(values: Distribution, global_shares: Floats) -> Floats:
    """Mean over the m - 1 gaps between neighbouring values of |sum of (q - p) up to there|.

    Between two values of a class, its cumulative share is constant and that of the table rises, so
    the sign of the difference changes at most once.
    """
    size, starts = len(global_shares), values.starts
    if size < 2 or not len(starts):
        return np.zeros(values.size)
    table_sums = np.cumsum(global_shares)
    sums = np.append(0.0, np.cumsum(table_sums))
    up_to = np.append(0, np.cumsum(values.counts))
    lengths = np.diff(np.append(starts, len(values.counts)))
    class_sums = (up_to[1:] - np.repeat(up_to[starts], lengths)) / values.totals[values.classes]
    begins, ends = values.values, np.append(values.values[1:], size)
    ends[starts[1:] - 1] = size
    turns = np.clip(np.searchsorted(table_sums, class_sums, side="right"), begins, ends)
    moved = (2 * turns - begins - ends) * class_sums + sums[begins] + sums[ends] - 2 * sums[turns]
    moved[starts] += sums[begins[starts]]  # before its first value a class has nothing
    return values.sums(moved) / (size - 1)


def largest_share(values: Distribution, limited: Bools | None = None) -> Floats:
    """Share of the people with the most frequent value, or the most frequent limited one.

    This is an attacker's confidence, so a person with several values counts once.

    Examples
    --------
    >>> both = np.array([0, 0]), np.array([0, 1]), np.array([2, 1])
    >>> float(largest_share(Distribution(1, *both, people=np.array([2])))[0])
    1.0
    """
    people = values.totals if values.people is None else values.people
    shares = values.counts / people[values.classes]
    if limited is not None:
        shares = shares * limited[values.values]
    return np.maximum(values.largest(shares), 0.0)


def beta_gain(values: Distribution, global_shares: Floats) -> Floats:
    """Largest relative gain (q - p) / p of a value over the whole table (Cao & Karras 2012)."""
    p = global_shares[values.values]
    return values.largest((values.shares - p) / p)


def enhanced_beta_excess(values: Distribution, global_shares: Floats, beta: float) -> Floats:
    """Largest amount by which a gain exceeds the bound min(beta, -ln p) of its value."""
    p = global_shares[values.values]
    return values.largest((values.shares - p) / p - np.minimum(beta, -np.log(p)))


def delta_disclosure(values: Distribution, global_shares: Floats) -> Floats:
    """Largest |log2(q / p)| over the values of the table; infinite where one is absent.

    Brickell & Shmatikov 2008. ARX ignores absent values.
    """
    p = global_shares[values.values]
    largest = values.largest(np.abs(np.log2(values.shares / p)))
    is_partial = (values.distinct > 0) & (values.distinct < np.count_nonzero(global_shares))
    return np.where(is_partial, np.inf, largest)
