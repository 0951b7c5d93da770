"""Sums of the codes of some attributes, cached for nodes that share the levels of these."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Ints
from dbt_anonymize.privacy.table import Node


class SumsOfCodes:
    """Sums of the codes of some attributes, by recursive halves.

    Nodes that share the levels of half of the attributes share its sum, so that most sums are one
    addition. ``codes`` are those of each leaf, by attribute and level; ``leaves`` are those of the
    rows, by attribute; the cache takes ``memory`` bytes.
    """

    def __init__(
        self,
        codes: Sequence[Sequence[Ints]],
        leaves: Sequence[NDArray[np.integer]],
        attributes: Sequence[int],
        *,
        memory: int,
    ) -> None:
        self._attributes = tuple(attributes)
        self._codes = codes
        self._leaves = leaves
        self._rows = len(leaves[0]) if leaves else 0
        self._free_bytes = memory
        # By attributes and their levels.
        self._cache: OrderedDict[tuple[Node, Node], Ints] = OrderedDict()

    def at(self, node: Node) -> Ints:
        """Return the sum at the levels of a node."""
        left, right = (self._sum(half, node) for half in _halves(self._attributes))
        return left + right

    def _sum(self, attributes: Node, node: Node) -> Ints:
        key = attributes, tuple(node[a] for a in attributes)
        if key not in self._cache:
            self._cache[key] = numbers = self._compute(attributes, node)
            self._free_bytes -= numbers.nbytes
            # The last sum is about to be used.
            while self._free_bytes < 0 and len(self._cache) > 1:
                self._free_bytes += self._cache.popitem(last=False)[1].nbytes
        self._cache.move_to_end(key)
        return self._cache[key]

    def _compute(self, attributes: Node, node: Node) -> Ints:
        if not attributes:
            return np.zeros(self._rows, dtype=np.int64)
        if len(attributes) == 1:
            of_level = self._codes[attributes[0]][node[attributes[0]]]
            return of_level.take(self._leaves[attributes[0]])
        left, right = _halves(attributes)
        return self._sum(left, node) + self._sum(right, node)


def _halves(numbers: Node) -> tuple[Node, Node]:
    half = len(numbers) // 2
    return numbers[:half], numbers[half:]
