"""Samples of the rows of a table: all rows of some classes of a node.

Classes are chosen by the labels at levels that are coarser than many nodes: whole classes of all of
these. A larger sample starts with the rows of the smaller ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from operator import le

import numpy as np

from dbt_anonymize.extensions.search.grouped import GroupedClasses
from dbt_anonymize.extensions.search.hashing import Words, mixed
from dbt_anonymize.extensions.search.keys import Keys
from dbt_anonymize.extensions.search.open_nodes import OpenNodes
from dbt_anonymize.privacy.table import Node

# Parts of the rows, in bits of their number, and how many of them a sample has at most.
BITS, MOST = 5, 16
# How many times as many classes as parts the labels should tell apart.
SPARE = 4


class Sample:
    """About half of some rows, in the order of the hash of their class."""

    def __init__(self, rows: GroupedClasses, keys: Words) -> None:
        self._rows = rows
        self.size = len(rows)
        parts = (mixed(keys, 0) >> np.uint64(64 - BITS)).astype(np.uint8)
        chosen = np.flatnonzero(parts < MOST)
        parts = parts[chosen]
        # Sorted by counting.
        self._chosen = chosen[parts.argsort(kind="stable")].astype(np.int32)
        self._ends = np.cumsum(np.bincount(parts, minlength=MOST)).tolist()
        self._first = rows.some(self._chosen[:0])

    def end(self, rows: float) -> int | None:
        """Return how many rows are in the fewest parts with so many; None if all have fewer."""
        place = bisect_left(self._ends, rows)
        return self._ends[place] if place < MOST else None

    def part(self, start: int, end: int) -> GroupedClasses:
        """Return the rows from ``start`` to ``end``, both of which are ends."""
        if end > len(self._first):
            self._first = self._rows.some(self._chosen[:end])
        return self._first.stretch(start, end)

    @property
    def bytes(self) -> int:
        """Memory that it takes."""
        return self._chosen.nbytes + self._first.bytes


class Samples:
    """Samples of some rows; for lack of ``memory`` (bytes) those go that were not used longest."""

    def __init__(self, keys: Keys, rows: GroupedClasses, memory: int) -> None:
        self._keys = keys
        self._rows = rows
        self._memory = memory
        # By the levels that classes are told apart by.
        self._kept: OrderedDict[Node, Sample] = OrderedDict()

    def of(self, node: Node, rows: GroupedClasses, nodes: OpenNodes) -> Sample | None:
        """Return a sample with whole classes of a node; None if that is not worth it.

        ``rows`` are what the node would be grouped from instead.
        """
        for levels in reversed(self._kept):
            if all(map(le, node, levels)):
                self._kept.move_to_end(levels)
                return self._kept[levels]
        # The time is that of grouping the node.
        if rows is not self._rows:
            return None
        found = nodes.coarser_levels(node, SPARE << BITS)
        if found is None:
            return None
        while self._kept and sum(kept.bytes for kept in self._kept.values()) > self._memory:
            self._kept.popitem(last=False)
        self._kept[found] = Sample(self._rows, self._keys.at(self._rows, found))
        return self._kept[found]
