"""Sums of the codes of some attributes, kept for the nodes that share the levels of these."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.privacy.table import FloatArray, IntArray, Node

_ODD = np.uint64(0x9E3779B97F4A7C15)
# By how many bits labels should tell more apart than a sample leaves out.
_SPARE = 3.0
# Rows per row of a sample from which on sums are added up for its rows alone.
_FEW = 32


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
        self._rows = len(leaves[0]) if leaves else 0
        self._left = memory
        # By attributes, their levels and, of the rows of a sample and their sums, its bits.
        self._kept: OrderedDict[tuple[Node, Node, int], IntArray] = OrderedDict()
        # What a sample may be chosen by, the fewest attributes first.
        self._parts = _parts(self._attributes)

    def at(self, node: Node) -> IntArray:
        """Return the sum at the levels of a node."""
        left, right = (self._sum(half, node) for half in _halves(self._attributes))
        return left + right

    def at_rows(self, node: Node, rows: IntArray) -> IntArray:
        """Return the sum of some rows."""
        return self._of_rows(self._attributes, node, rows, (), rows)

    def sample(self, node: Node, bits: int) -> tuple[IntArray, IntArray]:
        """Return about one of 2 ** ``bits`` rows, chosen by some attributes, and their sums.

        These are whole classes of the node. Few attributes are the same at more nodes.
        """
        entropies = [sum(self._bits[a][node[a]] for a in part) for part in self._parts]
        enough = (p for p, e in zip(self._parts, entropies, strict=True) if e >= bits + _SPARE)
        part = next(enough, self._parts[entropies.index(max(entropies))])
        key = part, tuple(node[a] for a in part), bits
        if key not in self._kept:
            sums = self._sum(part, node)
            mixed = (sums.view(np.uint64) + _ODD) * _ODD
            rows = np.flatnonzero(mixed < np.uint64(1 << (64 - bits)))
            self._keep(key, np.stack((rows, sums.take(rows))))
        rows, of_part = self._get(key)
        return rows, self._of_rows(self._attributes, node, rows, part, of_part)

    def _of_rows(
        self, attributes: Node, node: Node, rows: IntArray, part: Node, of_part: IntArray
    ) -> IntArray:
        """Add up some rows, whose sum over a part of the attributes is known."""
        if part and attributes == part:
            return of_part
        if not part or attributes[0] > part[-1] or attributes[-1] < part[0]:
            levels = tuple(node[a] for a in attributes)
            is_kept = (attributes, levels, 0) in self._kept
            if is_kept or _FEW * len(rows) > self._rows or not attributes:
                return self._sum(attributes, node).take(rows)
            if len(attributes) == 1:
                leaves = self._leaves[attributes[0]].take(rows)
                return self._codes[attributes[0]][levels[0]].take(leaves)
        left, right = _halves(attributes)
        of_left = self._of_rows(left, node, rows, part, of_part)
        return of_left + self._of_rows(right, node, rows, part, of_part)

    def _sum(self, attributes: Node, node: Node) -> IntArray:
        key = attributes, tuple(node[a] for a in attributes), 0
        if key not in self._kept:
            self._keep(key, self._add_up(attributes, node))
        return self._get(key)

    def _add_up(self, attributes: Node, node: Node) -> IntArray:
        if not attributes:
            return np.zeros(self._rows, dtype=np.int64)
        if len(attributes) == 1:
            of_level = self._codes[attributes[0]][node[attributes[0]]]
            return of_level.take(self._leaves[attributes[0]])
        left, right = _halves(attributes)
        return self._sum(left, node) + self._sum(right, node)

    def _get(self, key: tuple[Node, Node, int]) -> IntArray:
        self._kept.move_to_end(key)
        return self._kept[key]

    def _keep(self, key: tuple[Node, Node, int], numbers: IntArray) -> None:
        self._kept[key] = numbers
        self._left -= numbers.nbytes
        # What was made last is about to be used.
        while self._left < 0 and len(self._kept) > 1:
            self._left += self._kept.popitem(last=False)[1].nbytes


def _halves(numbers: Node) -> tuple[Node, Node]:
    half = len(numbers) // 2
    return numbers[:half], numbers[half:]


def _parts(attributes: Node) -> list[Node]:
    """Return the halves, their halves and so on, the fewest attributes first."""
    found: list[Node] = []
    left = list(_halves(attributes))
    while left:
        part = left.pop()
        if part:
            found.append(part)
        if len(part) > 1:
            left += _halves(part)
    return sorted(found, key=len)
