"""Suppressed records, counted by leaf and label."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dbt_anonymize.arrays import Bools, Floats
from dbt_anonymize.extensions.search.losses.base import TableSums, bincount
from dbt_anonymize.privacy.table import Classes, Node


class Suppressed:
    """Suppressed records, counted by leaf once for all levels of an attribute.

    ``suppressed`` is a mask of ``classes``, whose first rows have their labels, or of the rows of
    the table. If most are suppressed, the others are counted.
    """

    def __init__(self, sums: TableSums, suppressed: Bools, classes: Classes | None = None) -> None:
        self._sums = sums
        self._counts_released = 2 * int(np.count_nonzero(suppressed)) > len(suppressed)
        positions = np.flatnonzero(~suppressed if self._counts_released else suppressed)
        self._rows = positions if classes is None else classes.first[positions]
        records = (sums.table if classes is None else classes).records[positions]
        self._weights = records.astype(np.float64)
        self._leaf_counts: dict[int, Floats] = {}
        self._label_counts: dict[tuple[int, int], Floats] = {}
        count = int(records.sum())
        self.records = sums.total - count if self._counts_released else count

    def leaf_counts(self, position: int) -> Floats:
        """Count the records of each leaf of an attribute."""
        if position not in self._leaf_counts:
            total = self._sums.leaf_counts[position]
            leaves = self._sums.columns[position][self._rows]
            counts = bincount(leaves, self._weights, len(total))
            self._leaf_counts[position] = total - counts if self._counts_released else counts
        return self._leaf_counts[position]

    def shares(self, position: int, level: int) -> float:
        """Return the sum of the shares of the labels of an attribute."""
        if self.records == 0:
            return 0.0
        return float(self.leaf_counts(position) @ self._sums.shares[position][level])

    def heights(self, position: int, level: int) -> float:
        """Return the sum of the heights of the labels of an attribute."""
        if self.records == 0:
            return 0.0
        return float(self.leaf_counts(position) @ self._sums.heights[position][level])

    def label_counts(self, position: int, level: int) -> Floats:
        """Count the records of each label of an attribute, from those of the level below."""
        if (position, level) not in self._label_counts:
            if (position, level - 1) in self._label_counts:
                finer = self._label_counts[position, level - 1]
                labels = self._sums.parents[position][level - 1]
            else:
                finer = self.leaf_counts(position)
                labels = self._sums.table.attributes[position].levels[level]
            size = len(self._sums.label_counts[position][level])
            self._label_counts[position, level] = bincount(labels, finer, size)
        return self._label_counts[position, level]


def bounds_by_level(
    sums: TableSums,
    suppressed: Bools | None,
    highest: Node | None,
    bound: Callable[[Suppressed, int, int], float],
) -> tuple[Floats, ...]:
    """Return ``bound`` for each attribute and level up to ``highest`` (default: all).

    0 for a table without records. ``suppressed`` is a mask of rows of the table.
    """
    table = sums.table
    if highest is None:
        highest = tuple(attribute.height for attribute in table.attributes)
    if table.total == 0:
        return tuple(np.zeros(level + 1) for level in highest)
    gone = Suppressed(sums, np.zeros(0, dtype=np.bool_) if suppressed is None else suppressed)
    return tuple(
        np.array([bound(gone, position, level) for level in range(most + 1)])
        for position, most in enumerate(highest)
    )
