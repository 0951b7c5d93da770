"""Sums of the codes of some attributes, kept for the nodes that share the levels of these."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.privacy.table import FloatArray, IntArray, Node

_ODD = np.uint64(0x9E3779B97F4A7C15)


class SumsOfCodes:
    """Add up the codes of some attributes, by halves, of these by halves again, and so on.

    Nodes that share the levels of some attributes share their sum, so that most are one addition.
    ``codes`` are those of each leaf, ``bits`` entropies, by attribute and level; ``leaves`` are
    those of the rows, by attribute; ``memory`` bytes are kept.
    """

    def __init__(
        self,
        codes: Sequence[Sequence[IntArray]],
        bits: Sequence[FloatArray],
        leaves: Sequence[NDArray[np.integer]],
        attributes: Sequence[int],
        *,
        memory: int,
    ) -> None:
        self._attributes = tuple(attributes)
        self._codes = codes
        self._bits = [of_level.tolist() for of_level in bits]
        self._leaves = leaves
        self._most = max(2, memory // max(1, 8 * len(leaves[0]))) if leaves else 2
        # By attributes, their levels and, of the rows of a sample, its bits.
        self._kept: OrderedDict[tuple[Node, Node, int], IntArray] = OrderedDict()

    def at(self, node: Node, rows: IntArray | None = None) -> IntArray:
        """Return the sum at the levels of a node, of some rows."""
        halves = _halves(self._attributes)
        left, right = (self._sum(half, tuple(node[a] for a in half)) for half in halves)
        return left + right if rows is None else left.take(rows) + right.take(rows)

    def sample(self, node: Node, bits: int) -> tuple[IntArray, IntArray]:
        """Return about one of 2 ** ``bits`` rows, chosen by the sum of one half, and their sums.

        These are whole classes of the node. The half is the one that tells more rows apart.
        """
        halves = [(half, tuple(node[a] for a in half)) for half in _halves(self._attributes)]
        if self._entropy(*halves[0]) > self._entropy(*halves[1]):
            halves.reverse()
        rest, chosen = halves
        key = *chosen, bits
        if key not in self._kept:
            sums = self._sum(*chosen)
            mixed = (sums.view(np.uint64) + _ODD) * _ODD
            rows = np.flatnonzero(mixed < np.uint64(1 << (64 - bits)))
            self._keep(key, np.stack((rows, sums.take(rows))))
        rows, of_half = self._get(key)
        return rows, of_half + self._sum(*rest).take(rows)

    def _entropy(self, attributes: Node, levels: Node) -> float:
        return sum(self._bits[a][level] for a, level in zip(attributes, levels, strict=True))

    def _sum(self, attributes: Node, levels: Node) -> IntArray:
        key = attributes, levels, 0
        if key not in self._kept:
            self._keep(key, self._add_up(attributes, levels))
        return self._get(key)

    def _add_up(self, attributes: Node, levels: Node) -> IntArray:
        if not attributes:
            return np.zeros(len(self._leaves[0]), dtype=np.int64)
        if len(attributes) == 1:
            return self._codes[attributes[0]][levels[0]].take(self._leaves[attributes[0]])
        left, right = zip(_halves(attributes), _halves(levels), strict=True)
        return self._sum(*left) + self._sum(*right)

    def _get(self, key: tuple[Node, Node, int]) -> IntArray:
        self._kept.move_to_end(key)
        return self._kept[key]

    def _keep(self, key: tuple[Node, Node, int], numbers: IntArray) -> None:
        self._kept[key] = numbers
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


def _halves(numbers: Node) -> tuple[Node, Node]:
    half = len(numbers) // 2
    return numbers[:half], numbers[half:]
