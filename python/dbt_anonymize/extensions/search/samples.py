"""Samples of the rows of a table: all rows of some classes of a node.

Rows are sampled by a hash of their labels at levels that are coarser than many nodes, so that a
sample has whole classes of all these nodes. A larger sample starts with the rows of smaller ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from operator import le

import numpy as np

from dbt_anonymize.extensions.search.grouped import GroupedClasses
from dbt_anonymize.extensions.search.hashing import Words, hash_rows
from dbt_anonymize.extensions.search.keys import Keys
from dbt_anonymize.extensions.search.open_nodes import OpenNodes
from dbt_anonymize.privacy.table import Node

# Number of parts of the rows in bits, and most parts of a sample.
BITS, MOST = 5, 16
# Least number of classes per part.
SPARE = 4


class Sample:
    """About half of take rows, in the order of the hash of their class."""

    def __init__(self, rows: GroupedClasses, keys: Words) -> None:
        self._rows = rows
        self.size = len(rows)
        parts = (hash_rows(keys, 0) >> np.uint64(64 - BITS)).astype(np.uint8)
        sampled = np.flatnonzero(parts < MOST)
        parts = parts[sampled]
        # For uint8 the stable sort is a radix sort.
        self._sampled = sampled[parts.argsort(kind="stable")].astype(np.int32)
        self._ends = np.cumsum(np.bincount(parts, minlength=MOST)).tolist()
        self._first = rows.take(self._sampled[:0])

    def end(self, rows: float) -> int | None:
        """Return the number of rows in the fewest parts with ``rows``; None if all have fewer."""
        place = bisect_left(self._ends, rows)
        return self._ends[place] if place < MOST else None

    def part(self, start: int, end: int) -> GroupedClasses:
        """Return the rows from ``start`` to ``end``, both of them results of `end`."""
        if end > len(self._first):
            self._first = self._rows.take(self._sampled[:end])
        return self._first.subrange(start, end)

    @property
    def bytes(self) -> int:
        """Memory of the sample."""
        return self._sampled.nbytes + self._first.bytes


class Samples:
    """Cache of samples; beyond ``memory`` (bytes), it evicts least recently used."""

    def __init__(self, keys: Keys, rows: GroupedClasses, memory: int) -> None:
        self._keys = keys
        self._rows = rows
        self._memory = memory
        # By the levels that are hashed.
        self._samples: OrderedDict[Node, Sample] = OrderedDict()

    def of(self, node: Node, rows: GroupedClasses, nodes: OpenNodes) -> Sample | None:
        """Return a sample with whole classes of a node; None if that does not pay off.

        ``rows`` are the rows from which the node would be grouped instead.
        """
        for levels in reversed(self._samples):
            if all(map(le, node, levels)):
                self._samples.move_to_end(levels)
                return self._samples[levels]
        # A new sample takes as long as grouping the node.
        if rows is not self._rows:
            return None
        coarser = nodes.coarser_levels(node, SPARE << BITS)
        if coarser is None:
            return None
        while (
            self._samples and sum(sample.bytes for sample in self._samples.values()) > self._memory
        ):
            self._samples.popitem(last=False)
        self._samples[coarser] = Sample(self._rows, self._keys.at(self._rows, coarser))
        return self._samples[coarser]
