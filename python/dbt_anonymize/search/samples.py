"""Samples of the rows of a table: all rows of some classes of a node.

Classes are chosen by the labels at levels that are coarser than many nodes: whole classes of all of
these. A larger sample has the rows of the smaller ones.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from dbt_anonymize.privacy.table import IntArray, Node
from dbt_anonymize.search.grouped import GroupedClasses
from dbt_anonymize.search.hashing import mixed
from dbt_anonymize.search.keys import Keys
from dbt_anonymize.search.open_nodes import OpenNodes

# A sample has about 2 ** SAMPLED rows, or twice as many, at least.
SAMPLED = 13
# Of the smallest and the largest part of the rows, in bits; how many bits more the labels should
# tell apart.
MOST_BITS, LEAST_BITS, SPARE = 5, 2, 2


class Samples:
    """Samples of some rows; for lack of ``memory`` (bytes) those go that were not used longest."""

    def __init__(self, keys: Keys, rows: GroupedClasses, memory: int) -> None:
        self._keys = keys
        self._rows = rows
        self._memory = memory
        # By levels: the rows, ordered by hash, and how many of them are in a sample, by its bits.
        self._chosen: OrderedDict[Node, tuple[IntArray, list[int]]] = OrderedDict()
        self._parts: OrderedDict[tuple[Node, int], GroupedClasses] = OrderedDict()
        self._bytes = 0
        self.size=len(rows)
        self.fewest_bits = min(MOST_BITS, max(0, len(rows).bit_length() - SAMPLED))

    def levels(self, node: Node, nodes: OpenNodes, few: bool) -> Node | None:
        """Return levels to choose classes of a node by; None if it has too few classes."""
        for levels in self._chosen:
            if all(level <= of for level, of in zip(node, levels, strict=True)):
                return levels
        if few: return None
        return nodes.coarser_levels(node, 2.0 ** (self.fewest_bits + SPARE))

    def part(self, levels: Node, bits: int) -> GroupedClasses:
        """Return about one of 2 ** ``bits`` rows: whole classes of all nodes finer than levels."""
        key = levels, bits
        if key not in self._parts:
            chosen, ends = self._choose(levels)
            self._keep(key, self._rows.some(chosen[: ends[bits]]))
        self._parts.move_to_end(key)
        return self._parts[key]

    def _choose(self, levels: Node) -> tuple[IntArray, list[int]]:
        if levels not in self._chosen:
            hashed = mixed(self._keys.at(self._rows, levels), 0) >> np.uint64(64 - MOST_BITS)
            parts = hashed.astype(np.uint8)
            rows = np.flatnonzero(parts < 1 << (MOST_BITS - LEAST_BITS))
            parts = parts[rows]
            rows = rows[parts.argsort(kind="stable")].astype(np.int32)
            counts = np.cumsum(np.bincount(parts, minlength=1 << MOST_BITS))
            ends = [int(counts[(1 << (MOST_BITS - bits)) - 1]) for bits in range(MOST_BITS + 1)]
            self._chosen[levels] = rows, ends
            self._bytes += rows.nbytes
        return self._chosen[levels]

    def _keep(self, key: tuple[Node, int], part: GroupedClasses) -> None:
        self._parts[key] = part
        self._bytes += part.bytes
        while self._bytes > self._memory and len(self._parts) > 1:
            (levels, _), dropped = self._parts.popitem(last=False)
            self._bytes -= dropped.bytes
            if levels != key[0] and not any(levels == other for other, _ in self._parts):
                self._bytes -= self._chosen.pop(levels)[0].nbytes
