"""The cells of a table of counts or sums, and how they add up.

Each dimension is a tree of categories whose root is the total: flat, or with subtotals. A cell is
one category of each dimension. It is the sum of the cells that have the children of one of its
categories in place of it, for each dimension.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dbt_anonymize.arrays import Bools, Floats, Ints, np

ROOT = 0


@dataclass(frozen=True)
class Dimension:
    """A tree of categories.

    ``parents`` has the number of the parent of each category; the root, number 0, is its own, and
    every parent stands before its children. ``labels`` are texts, in the same order.

    Examples
    --------
    >>> age = Dimension("age", ("all", "young", "old"), np.array([0, 0, 0]))
    >>> age.leaves.tolist(), age.children(0).tolist()
    ([1, 2], [1, 2])
    """

    name: str
    labels: tuple[str, ...]
    parents: Ints

    @classmethod
    def flat(cls, name: str, labels: Sequence[str], total: str = "all") -> Dimension:
        """Return a dimension without subtotals."""
        return cls(name, (total, *labels), np.zeros(len(labels) + 1, dtype=np.int64))

    @cached_property
    def leaves(self) -> Ints:
        """Numbers of the categories without children; of an empty dimension its root."""
        is_parent = np.zeros(len(self.parents), dtype=bool)
        is_parent[self.parents[1:]] = True
        return np.flatnonzero(~is_parent)

    def children(self, category: int) -> Ints:
        """Return the numbers of the children of a category."""
        return np.flatnonzero(self.parents[1:] == category) + 1


@dataclass(frozen=True)
class Cube:
    """All cells of some dimensions, in the order of their categories (the last varies fastest)."""

    dimensions: tuple[Dimension, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of categories."""
        return tuple(len(dimension.labels) for dimension in self.dimensions)

    @property
    def size(self) -> int:
        """Number of cells."""
        return int(np.prod(self.shape, dtype=np.int64))

    @cached_property
    def categories(self) -> Ints:
        """The categories of each cell: cells by dimensions."""
        return np.indices(self.shape).reshape(len(self.shape), -1).T

    def numbers(self, categories: Ints) -> Ints:
        """Return the numbers of the cells with these categories (cells by dimensions)."""
        return np.asarray(np.ravel_multi_index(tuple(categories.T), self.shape))

    @cached_property
    def is_inner(self) -> Bools:
        """Tell of each cell whether it has a leaf of each dimension: all others are sums."""
        is_leaf = np.column_stack(
            [
                np.isin(self.categories[:, place], dimension.leaves)
                for place, dimension in enumerate(self.dimensions)
            ]
        )
        return np.asarray(is_leaf.all(axis=1))

    def lines(self) -> Iterator[tuple[int, Ints]]:
        """Yield each sum: the number of its cell, and those of the cells that add up to it."""
        for place, dimension in enumerate(self.dimensions):
            for category in range(len(dimension.labels)):
                children = dimension.children(category)
                if not len(children):
                    continue
                others = self.categories[self.categories[:, place] == category]
                for cell in others:
                    parts = np.tile(cell, (len(children), 1))
                    parts[:, place] = children
                    yield int(self.numbers(cell[None, :])[0]), self.numbers(parts)

    def totals(self, inner: Floats) -> Floats:
        """Return the values of all cells from those of the inner ones, whose others are ignored."""
        values = np.where(self.is_inner, inner, 0.0).reshape(self.shape)
        for place, dimension in enumerate(self.dimensions):
            values = np.moveaxis(values, place, 0).copy()
            for category in range(len(dimension.labels) - 1, 0, -1):
                values[dimension.parents[category]] += values[category]
            values = np.moveaxis(values, 0, place)
        return values.reshape(-1)
