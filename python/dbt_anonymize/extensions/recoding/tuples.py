"""The distinct tuples of quasi-identifiers, and the distances between them.

Numbers (or dates) are measured in ranges of their hierarchy, so their distance is 0 to 1. The
distance of two categories is the level of their lowest common ancestor over that of the root. NULL
has distance 0 from NULL and 1 from every value. Distances of tuples are squared and Euclidean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Number:
    """A number of each tuple in ranges of its hierarchy; NaN is NULL."""

    numbers: Floats

    @cached_property
    def has_nulls(self) -> bool:
        """Tell whether some tuple is NULL in this column."""
        return bool(np.isnan(self.numbers).any())

    def take(self, rows: NDArray[Any]) -> Number:
        """Return the numbers of some tuples."""
        return Number(self.numbers[rows])

    def squares(self, value: float) -> Floats:
        """Return the squared distance of each tuple from a value."""
        if math.isnan(value):
            return np.where(np.isnan(self.numbers), 0.0, 1.0)
        differences = self.numbers - value
        differences *= differences
        return np.where(np.isnan(self.numbers), 1.0, differences) if self.has_nulls else differences

    def center(self, counts: Ints) -> float:
        """Return the mean of the values; NULL where most records have none."""
        if not self.has_nulls:
            return float((self.numbers * counts).sum() / counts.sum())
        is_value = ~np.isnan(self.numbers)
        records = counts[is_value].sum()
        if 2 * records < counts.sum():
            return float("nan")
        return float((self.numbers[is_value] * counts[is_value]).sum() / records)


@dataclass(frozen=True, eq=False)
class Category:
    """A category of each tuple, as the number of its leaf.

    ``tree``, shape (levels below the root, leaves): the label of each leaf at each level, as a
    number. NULL is a leaf with labels of its own.
    """

    leaves: Ints
    tree: Ints

    def take(self, rows: NDArray[Any]) -> Category:
        """Return the categories of some tuples."""
        return Category(self.leaves[rows], self.tree)

    def squares(self, leaf: float) -> Floats:
        """Return the squared distance of each tuple from a leaf."""
        differ: Floats = (self.tree != self.tree[:, [int(leaf)]]).mean(axis=0)
        differ *= differ
        return differ.take(self.leaves)

    def center(self, counts: Ints) -> int:
        """Return the leaf of most records, the first of several."""
        records = np.bincount(self.leaves, weights=counts, minlength=self.tree.shape[1])
        return int(records.argmax())


Attribute = Number | Category


@dataclass(frozen=True, eq=False)
class Tuples:
    """Distinct tuples in a fixed order, and the records of each (at least one)."""

    attributes: Sequence[Attribute]
    counts: Ints

    @cached_property
    def records(self) -> int:
        """Return the number of records of all tuples."""
        return int(self.counts.sum())

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: NDArray[Any]) -> Tuples:
        """Return some of the tuples, by position or mask."""
        return Tuples([a.take(rows) for a in self.attributes], self.counts[rows])

    def at(self, row: int) -> list[float]:
        """Return one tuple: numbers, and leaves of categories."""
        return [
            float(a.numbers[row]) if isinstance(a, Number) else int(a.leaves[row])
            for a in self.attributes
        ]

    def center(self) -> list[float]:
        """Return the mean or mode of each attribute."""
        return [a.center(self.counts) for a in self.attributes]

    def distances(self, point: Sequence[float]) -> Floats:
        """Return the squared distance of each tuple from a point."""
        first, *further = zip(self.attributes, point, strict=True)
        total = first[0].squares(first[1])
        for attribute, value in further:
            total += attribute.squares(value)
        return total

    def nearest(self, distances: Floats, k: int) -> Ints:
        """Return the nearest tuples with ``k`` records together, by distance.

        The first of equally far ones; all tuples if there are fewer records.
        """
        rows = np.arange(len(self))
        if len(rows) > k:
            rows = np.flatnonzero(distances <= np.partition(distances, k - 1)[k - 1])
        rows = rows[np.argsort(distances[rows], kind="stable")]
        return rows[: int(np.searchsorted(np.cumsum(self.counts[rows]), k)) + 1]
