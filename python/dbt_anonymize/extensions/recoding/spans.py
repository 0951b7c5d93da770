"""Spans of clusters of tuples, and their loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.extensions.recoding.tuples import Number, Tuples

# Numbers of clusters, or all of them.
Rows = Ints | slice
# Most cached distances of leaves, so that a large hierarchy does not fill the memory.
MOST_KEPT = 10_000_000


class NumberSpan:
    """Lowest and highest number of each cluster, in ranges of the hierarchy; NULL apart."""

    def __init__(self, clusters: int) -> None:
        self._lowest = np.full(clusters, np.inf)
        self._highest = np.full(clusters, -np.inf)
        self._has_null: NDArray[np.bool_] | None = None

    def widths_with(self, value: float, rows: Rows) -> Floats:
        """Return the widths of some clusters with one more value; 1 with NULL beside values."""
        lowest, highest = self._lowest[rows], self._highest[rows]
        if np.isnan(value):
            return np.where(highest >= lowest, 1.0, 0.0)
        width: Floats = np.maximum(highest, value)
        width -= np.minimum(lowest, value)
        if self._has_null is not None:
            width[self._has_null[rows]] = 1.0
        return width

    def join(self, number: int, value: float) -> None:
        """Add a value to a cluster."""
        if np.isnan(value):
            if self._has_null is None:
                self._has_null = np.zeros(len(self._lowest), dtype=bool)
            self._has_null[number] = True
            return
        self._lowest[number] = min(self._lowest[number], value)
        self._highest[number] = max(self._highest[number], value)


class CategorySpan:
    """A member of each cluster, and the level of the lowest common ancestor over the root's."""

    def __init__(self, clusters: int, tree: Ints) -> None:
        # One past the leaves stands for no member.
        self._member = np.full(clusters, tree.shape[1], dtype=np.int64)
        self._width = np.zeros(clusters)
        self._tree = tree
        self._apart: dict[int, Floats] = {}

    def _from(self, leaf: int) -> Floats:
        """Return the distance of each leaf from one: nested leaves differ up to their ancestor."""
        if leaf not in self._apart:
            if len(self._apart) * self._tree.shape[1] > MOST_KEPT:
                self._apart.clear()
            self._apart[leaf] = np.append((self._tree != self._tree[:, [leaf]]).mean(axis=0), 0.0)
        return self._apart[leaf]

    def widths_with(self, value: float, rows: Rows) -> Floats:
        """Return the widths of some clusters with one more leaf."""
        width: Floats = self._from(int(value)).take(self._member[rows])
        return np.maximum(width, self._width[rows], out=width)

    def join(self, number: int, value: float) -> None:
        """Add a leaf to a cluster."""
        apart = self._from(int(value))[self._member[number]]
        self._width[number] = max(self._width[number], apart)
        self._member[number] = int(value)


class Spans:
    """Clusters of tuples: their records, and their span per attribute; some may be empty.

    The loss of a cluster is its records times the sum of its widths: a number's share of the range
    of its hierarchy, a category's level of the lowest common ancestor over that of the root, and 1
    for NULL beside a value.
    """

    def __init__(self, tuples: Tuples, clusters: int) -> None:
        self._tuples = tuples
        self.records = np.zeros(clusters, dtype=np.int64)
        # Loss per record.
        self.losses = np.zeros(clusters)
        self._spans = [
            NumberSpan(clusters) if isinstance(a, Number) else CategorySpan(clusters, a.tree)
            for a in tuples.attributes
        ]

    @classmethod
    def of(cls, tuples: Tuples, clusters: Ints, size: int) -> Spans:
        """Return ``size`` clusters of tuples; -1 is no cluster."""
        spans = cls(tuples, size)
        for row in np.flatnonzero(clusters >= 0).tolist():
            spans.join(row, clusters[row : row + 1])
        return spans

    def join(self, row: int, among: Ints | None = None) -> int:
        """Put a tuple into the cluster whose loss rises least, the first of several."""
        rows: Rows = slice(None) if among is None else among
        values = self._tuples.at(row)
        width = np.zeros(len(self.records[rows]))
        for span, value in zip(self._spans, values, strict=True):
            width += span.widths_with(value, rows)
        records, count = self.records[rows], int(self._tuples.counts[row])
        place = int(((records + count) * width - records * self.losses[rows]).argmin())
        number = place if among is None else int(among[place])
        for span, value in zip(self._spans, values, strict=True):
            span.join(number, value)
        self.losses[number] = width[place]
        self.records[number] += count
        return number
