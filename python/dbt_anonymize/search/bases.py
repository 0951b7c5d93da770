"""Merged rows that nodes are grouped from, and which of them are worth merging.

A node can be grouped from the merged rows of any finer node, its *base*. Nodes that are grouped one
after the other have finer nodes in common: such a node becomes a base once it would have saved more
rows in the latest groupings than it takes to merge it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.privacy.table import BoolArray, FloatArray, IntArray, Node
from dbt_anonymize.search.hashing import Words

# Groupings that are looked back on.
LOOK_BACK = 64
# Rows that it takes to merge a base, per row that it is merged from.
MERGING = 2.0
# Rows that are grouped before a base is looked for: looking takes as long as some 20,000.
LOOKING = 200_000
# The number doubles with each look in vain, up to this.
MOST_PATIENCE = 800_000


@dataclass(frozen=True)
class Rows:
    """Rows that are distinct at some levels: those of the table, or merged ones.

    Attributes
    ----------
    levels : tuple of int
        One per attribute.
    words : tuple of int arrays (rows,)
        Packed label codes; rows with the same words are in one class.
    apart : tuple of int arrays (rows,)
        Packed codes of what keeps rows of one class apart: sensitive values, targets, subject.
    first : int array (rows,)
        Smallest row of the table in each; ascending.
    records, population : int array (rows,)
        Sums; the population may be None.
    leaves : tuple of integer arrays (rows,)
        Leaf code of the first row, per attribute, in few bytes.
    parent : Rows or None
        The rows that were merged; None for the table.
    merged_into : int array (rows of the parent,)
        The row here of each row of the parent.
    """

    levels: Node
    words: Words
    apart: Words
    first: IntArray
    records: IntArray
    population: IntArray | None
    leaves: tuple[NDArray[np.integer], ...]
    parent: Rows | None = None
    merged_into: IntArray | None = None

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def weights(self) -> FloatArray | None:
        """Records as `bincount` takes them: None where each row is one."""
        return None if (self.records == 1).all() else self.records.astype(np.float64)

    @property
    def bytes(self) -> int:
        """Memory that these rows take."""
        arrays = (*self.words, *self.apart, *self.leaves, self.first, self.records)
        optional = (self.population, self.merged_into)
        return sum(array.nbytes for array in (*arrays, *optional) if array is not None)

    def spread(self, mask: BoolArray) -> BoolArray:
        """Return a mask over these rows as a mask over the table's."""
        if self.parent is None or self.merged_into is None:
            return mask
        return self.parent.spread(mask[self.merged_into])


class Bases:
    """Rows by their levels; for lack of memory (bytes) those go that were not used the longest.

    The rows of ``bottom`` always stay. ``bits`` are entropies by attribute and level, of which the
    numbers of rows are estimated.
    """

    def __init__(self, bottom: Rows, bits: tuple[FloatArray, ...], memory: int) -> None:
        self._bottom = bottom
        self._bits = bits
        self._memory = memory
        self._kept: OrderedDict[Node, Rows] = OrderedDict()
        self._bytes = 0
        self._index()
        # The latest nodes, and the rows that each was grouped from, or would be now.
        self._latest: deque[Node] = deque(maxlen=LOOK_BACK)
        self._grouped: deque[int] = deque(maxlen=LOOK_BACK)
        # Rows that were grouped since a base was last looked for.
        self._spent = 0
        self._patience = LOOKING
        # By how many bits rows were fewer or more than estimated.
        self._expected = self._bias = 0.0

    def of(self, node: Node) -> Rows:
        """Return the fewest rows whose levels are those of a node or finer."""
        is_finer = (self._levels <= np.array(node, dtype=np.int64)).all(axis=1)
        found = self._nodes[int(np.where(is_finer, self._counts, len(self._bottom) + 1).argmin())]
        if found is None:
            return self._bottom
        self._kept.move_to_end(found)
        return self._kept[found]

    def worthwhile(self, node: Node, rows: Rows, classes: Callable[[], int]) -> Node | None:
        """Take in that a node was grouped from rows; return levels that are worth merging them to.

        ``classes`` counts those of the node, or nearly as many.
        """
        found = None
        self._spent += len(rows)
        if self._latest and self._spent > self._patience:
            self._spent = 0
            found = self._of_many(node, rows, classes())
            self._patience = LOOKING if found else min(2 * self._patience, MOST_PATIENCE)
        self._latest.append(node)
        self._grouped.append(len(rows))
        return found

    def keep(self, rows: Rows) -> None:
        """Keep merged rows."""
        self._bias += (np.log2(max(len(rows), 1)) - self._expected) / 2
        for place, node in enumerate(self._latest):
            if all(low <= level for low, level in zip(rows.levels, node, strict=True)):
                self._grouped[place] = min(self._grouped[place], len(rows))
        self._kept[rows.levels] = rows
        self._bytes += rows.bytes
        while len(self._kept) > 1 and self._bytes > self._memory:
            self._bytes -= self._kept.popitem(last=False)[1].bytes
        self._index()

    def _index(self) -> None:
        """Make the arrays that `of` looks into."""
        self._nodes: list[Node | None] = [None, *self._kept]
        self._levels = np.array([self._bottom.levels, *self._kept], dtype=np.int64)
        self._counts = np.array([len(self._bottom), *(len(rows) for rows in self._kept.values())])

    def _of_many(self, node: Node, rows: Rows, classes: int) -> Node | None:
        """Return the levels that this node and one of the latest have in common, if worthwhile."""
        latest = np.array(self._latest)
        candidates = np.minimum(latest, node)
        candidates = candidates[(candidates >= rows.levels).all(axis=1)]
        if not len(candidates):
            return None
        bits = self._bits_of(candidates) - self._bits_of(np.array([node]))
        bits += np.log2(max(classes, 1)) + self._bias
        is_finer = np.ones((len(candidates), len(latest)), dtype=np.bool_)
        for attribute in range(latest.shape[1]):
            is_finer &= latest[:, attribute] >= candidates[:, attribute, np.newaxis]
        saved = np.maximum(np.array(self._grouped) - np.exp2(bits)[:, np.newaxis], 0.0)
        gains: FloatArray = (is_finer * saved).sum(axis=1)
        best = int(gains.argmax())
        if gains[best] <= MERGING * len(rows):
            return None
        self._expected = float(bits[best])
        return tuple(candidates[best].tolist())

    def _bits_of(self, nodes: IntArray) -> FloatArray:
        found = np.zeros(len(nodes))
        for attribute, bits in enumerate(self._bits):
            found += bits[nodes[:, attribute]]
        return found
