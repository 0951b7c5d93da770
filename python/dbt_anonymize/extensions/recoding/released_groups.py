"""Released forms of groups: means, medians and modes, where they disclose nobody's value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.recoding.labels import Labels
from dbt_anonymize.extensions.recoding.leaves import Leaves
from dbt_anonymize.extensions.recoding.records import Records
from dbt_anonymize.privacy.grouping import distinct_codes, distinct_rows

# 1,000,000, 500,000, 100,000, ..., 5, 1.
_STEPS = [u * 10.0**n for n in reversed(range(7)) for u in (5, 1)][1:]


def released_labels(
    records: Records,
    parts: Ints,
    labels: Sequence[Labels],
    *,
    numbers: str,
    p_percent: float,
    categories: str,
) -> tuple[list[Labels], Ints | None]:
    """Return the released labels of each group in each quasi-identifier, and its class.

    ``labels`` cover the groups. Groups with equal labels are one class, with the bounds that cover
    both and, for modes, the level that covers both.
    """
    groups = _Groups.of(records, parts, len(labels[0].texts))
    released = []
    for place, (leaves, covering) in enumerate(zip(records.leaves, labels, strict=True)):
        values = records.numbers[place]
        if numbers != "interval" and values is not None:
            lower, upper = leaves.bounds_of(covering.first, covering.last)
            is_null = np.isnan(values)
            above = np.where(is_null, 0.0, values - lower[parts])
            if numbers == "median":
                center = groups.medians(above)
            else:
                lowest, highest = reachable_ends(lower, upper, groups.steps(values))
                least = p_percent / 100.0 * (upper - lower)
                center = groups.means(above)
                above = np.where(is_null, 0.0, values - lowest[parts])
                below = np.where(is_null, 0.0, highest[parts] - values)
                center[~groups.leaves_open(above, below, least)] = np.nan
            center[groups.total(is_null) > 0] = np.nan
            rounded = _round_half_up(leaves, lower, center)
            levels = np.where(np.isnan(rounded), covering.levels, -1)
            released.append(replace(covering, numbers=rounded, levels=levels))
        elif not leaves.is_interval and categories == "mode":
            released.append(groups.with_modes(records.codes[place], leaves, covering))
        else:
            released.append(covering)
    if groups.count:
        classes = _classes(released)
        released = [
            _with_common_bounds(*pair, classes, numbers=numbers, categories=categories)
            for pair in zip(records.leaves, released, strict=True)
        ]
        return released, classes
    return released, None


@dataclass(frozen=True)
class _Groups:
    """Groups of rows; a holder of several records knows all of them."""

    parts: Ints
    count: int
    weights: Ints
    records: Ints  # of each group
    # Group and number of the holder of each row; None where each record has one of its own.
    holder: tuple[Ints, Ints] | None

    @classmethod
    def of(cls, records: Records, parts: Ints, count: int) -> _Groups:
        weights, holder = records.table.records, None
        if records.table.subject is not None and len(parts):
            first, number = distinct_rows([parts, records.table.subject])
            holder = parts[first], number
        sizes = np.bincount(parts, weights=weights, minlength=count).astype(np.int64)
        return cls(parts, count, weights, sizes, holder)

    def total(self, numbers: NDArray[Any]) -> Floats:
        """Add up a number of each record in each group."""
        weights = self.weights * np.asarray(numbers, dtype=np.float64)
        return np.bincount(self.parts, weights=weights, minlength=self.count).astype(np.float64)

    def others(self, numbers: Floats | Ints) -> Floats:
        """Add up numbers in each group without the holder of the largest sum."""
        most = np.zeros(self.count)
        if self.holder is None:
            np.maximum.at(most, self.parts, numbers)
        else:
            of_holder = np.bincount(self.holder[1], weights=self.weights * numbers)
            np.maximum.at(most, self.holder[0], of_holder)
        return self.total(numbers) - most

    def means(self, values: Floats) -> Floats:
        """Return the mean of each group."""
        return self.total(values) / np.maximum(self.records, 1)

    def steps(self, values: Floats) -> Floats:
        """Return of each group the largest step of which its values are multiples, or 0."""
        steps = np.zeros(self.count)
        for step in _STEPS:
            are_multiples = self.total(values % step > 0) == 0
            steps = np.where((steps == 0) & are_multiples, step, steps)
        return steps

    def medians(self, values: Floats) -> Floats:
        """Return the lower median of each group."""
        order = np.lexsort((values, self.parts))
        up_to = np.cumsum(self.weights[order])
        middle = np.cumsum(self.records) - self.records + (self.records + 1) // 2
        return values[order[np.searchsorted(up_to, middle)]]

    def leaves_open(self, above: Floats, below: Floats, least: Floats) -> Bools:
        """Return a mask of the groups whose mean satisfies the p %-rule.

        An attacker in the group knows its mean, bounds and size, and all records of one holder.
        Another value must still be uncertain by at least ``least``. ``above`` and ``below`` are the
        distances of each value from the ends that the bounds allow.
        """
        return (
            (self.others(np.ones(len(above))) >= 2)
            & (self.others(above) >= least)
            & (self.others(below) >= least)
        )

    def with_modes(self, codes: Ints, leaves: Leaves, labels: Labels) -> Labels:
        """Return labels with the mode where no holder can infer the values of others.

        The mode is the most frequent leaf, the first of several; a group with NULL has none.
        """
        if not len(codes):
            return labels
        first, of_row = distinct_rows([self.parts, codes])
        part, leaf = self.parts[first], codes[first]
        counts = np.bincount(of_row, weights=self.weights).astype(np.float64)
        order = np.lexsort((leaf, -counts, part))
        mode = leaf[order][np.searchsorted(part[order], np.arange(self.count))]
        different = np.bincount(part, minlength=self.count).astype(np.int64)
        is_safe = (different == 1) | (different - self._alone(of_row, part, counts) >= 2)
        has_null = np.bincount(part, weights=leaf == 0, minlength=self.count) > 0
        texts = labels.texts.copy()
        has_mode = is_safe & ~has_null
        texts[has_mode] = leaves.texts[0][mode[has_mode] - 1]
        return replace(labels, texts=texts)

    def _alone(self, value_of_row: Ints, part: Ints, counts: Floats) -> Ints:
        """Return the largest number of values in each group that one holder has alone."""
        alone = np.zeros(self.count, dtype=np.int64)
        if self.holder is None:
            np.maximum.at(alone, part, (counts == 1).astype(np.int64))
            return alone
        holder = self.holder[1]
        lowest = np.full(len(part), holder.max() + 1)
        highest = np.full(len(part), -1)
        np.minimum.at(lowest, value_of_row, holder)
        np.maximum.at(highest, value_of_row, holder)
        of_holder = np.bincount(lowest[lowest == highest], minlength=len(self.holder[0]))
        np.maximum.at(alone, self.holder[0], of_holder)
        return alone


def reachable_ends(lower: Floats, upper: Floats, steps: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest multiple of a step within bounds; where it is 0, the bounds.

    Whole numbers in [20, 40) reach 39: a mean of 39 tells that all have it.

    Examples
    --------
    >>> reachable_ends(np.full(2, 20.0), np.full(2, 40.0), np.array([5.0, 0.0]))
    (array([20., 20.]), array([35., 40.]))
    """
    step = np.where(steps > 0, steps, 1.0)
    return (
        np.where(steps > 0, np.ceil(lower / step) * step, lower),
        np.where(steps > 0, (np.ceil(upper / step) - 1) * step, upper),
    )


def _round_half_up(leaves: Leaves, lower: Floats, above: Floats) -> Floats:
    """Round half up: to a thousandth of the range or finer, never beyond the whole unit."""
    if leaves.unit != "number":
        return lower + np.floor(above + 0.5)
    ((start, *_), (*_, end)) = leaves.bounds or ((0.0,), (1.0,))
    scale = 10.0 ** max(0.0, 3.0 - np.floor(np.log10(end - start)))
    rounded: Floats = np.floor((lower + above) * scale + 0.5) / scale
    return rounded


def _classes(labels: Sequence[Labels]) -> Ints:
    """Return the class of each group: groups with equal labels share one."""
    codes = []
    for attribute in labels:
        texts = np.unique(attribute.texts.astype(str), return_inverse=True)[1]
        value = np.unique(attribute.numbers, return_inverse=True)[1]
        codes.append(np.where(np.isnan(attribute.numbers), texts, value + len(texts)))
    return distinct_codes(codes, len(labels[0].texts))


def _with_common_bounds(
    leaves: Leaves, labels: Labels, classes: Ints, *, numbers: str, categories: str
) -> Labels:
    """Give the groups of a class common bounds, levels and shares."""
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(int(classes.max()) + 1))

    def widest(values: NDArray[Any], ufunc: np.ufunc) -> NDArray[Any]:
        of_classes: NDArray[Any] = ufunc.reduceat(values[order], starts)
        return of_classes[classes]

    if leaves.is_interval and numbers != "interval":
        first, last = widest(labels.first, np.minimum), widest(labels.last, np.maximum)
        is_root = np.isnan(labels.numbers) & (labels.texts == "*")
        shares = np.where(is_root, 1.0, leaves.shares(first, last))
        return replace(labels, first=first, last=last, shares=shares)
    if not leaves.is_interval and categories == "mode":
        levels, shares = widest(labels.levels, np.maximum), widest(labels.shares, np.maximum)
        return replace(labels, levels=levels, shares=shares)
    return labels
