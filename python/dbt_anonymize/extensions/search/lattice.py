"""The nodes within the level bounds, as a box of integers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import SearchError
from dbt_anonymize.privacy.table import Node, Table

Box = tuple[slice, ...]


@dataclass(frozen=True)
class Lattice:
    """All nodes between two nodes, both included.

    Examples
    --------
    >>> lattice = Lattice((0, 1), (1, 3))
    >>> lattice.size, lattice.node(4), lattice.index((1, 2))
    (6, (1, 2), 4)
    """

    lowest: Node
    highest: Node

    @classmethod
    def of(cls, table: Table) -> Lattice:
        """Return the lattice within the level bounds of a table's attributes."""
        for attribute in table.attributes:
            if not 0 <= attribute.lowest <= attribute.top <= attribute.height:
                raise SearchError(
                    f"levels of `{attribute.name}` must be two levels from 0 to "
                    f"{attribute.height}, the lower one first; got {attribute.lowest} to "
                    f"{attribute.top}. Correct the bounds of the search."
                )
        return cls(
            tuple(attribute.lowest for attribute in table.attributes),
            tuple(attribute.top for attribute in table.attributes),
        )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of levels per attribute."""
        return tuple(high - low + 1 for low, high in zip(self.lowest, self.highest, strict=True))

    @cached_property
    def size(self) -> int:
        """Number of nodes."""
        return math.prod(self.shape)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Increase of the number of a node by one level of each attribute."""
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    def node(self, index: int) -> Node:
        """Return a node by its number in the order of an array of this shape."""
        levels = []
        for stride, low in zip(self.strides, self.lowest, strict=True):
            offset, index = divmod(index, stride)
            levels.append(low + offset)
        return tuple(levels)

    def root_of(self, table: Table) -> Node | None:
        """Return the node with all attributes at their roots, if it is in the lattice."""
        root = tuple(attribute.height for attribute in table.attributes)
        return root if root == self.highest else None

    def index(self, node: Node) -> int:
        """Return the number of a node."""
        return sum(
            (level - low) * stride
            for level, low, stride in zip(node, self.lowest, self.strides, strict=True)
        )

    def levels(self, indices: Ints) -> Ints:
        """Return the levels (nodes, attributes) of nodes by number."""
        if not self.shape:
            return np.zeros((len(indices), 0), dtype=np.int64)
        levels: Ints = np.stack(np.unravel_index(indices, self.shape), axis=1)
        return levels + np.array(self.lowest, dtype=np.int64)

    def just_finer(self, node: Node) -> Iterator[Node]:
        """Yield the nodes with one level of one attribute less."""
        for attribute, level in enumerate(node):
            if level > self.lowest[attribute]:
                yield (*node[:attribute], level - 1, *node[attribute + 1 :])

    def just_finer_indices(self, node: Node) -> list[int]:
        """Return the numbers of the nodes of `just_finer`."""
        index = self.index(node)
        levels = zip(node, self.lowest, self.strides, strict=True)
        return [index - stride for level, low, stride in levels if level > low]

    def finer(self, node: Node) -> Box:
        """Return the slices of an array of this shape with the node and all finer ones."""
        # Empty below the lowest level.
        levels = zip(node, self.lowest, strict=True)
        return tuple(slice(0, max(0, level - low + 1)) for level, low in levels)

    def coarser(self, node: Node) -> Box:
        """Return the slices of an array of this shape with the node and all coarser ones."""
        levels = zip(node, self.lowest, strict=True)
        return tuple(slice(max(0, level - low), None) for level, low in levels)

    def add_up(self, numbers: tuple[Floats, ...]) -> Floats:
        """Return for each node the sum over attributes of a number per level."""
        total = np.zeros(self.shape)
        for axis, of_level in enumerate(numbers):
            axes = [1] * len(self.shape)
            axes[axis] = -1
            total += of_level[self.lowest[axis] : self.highest[axis] + 1].reshape(axes)
        return total
