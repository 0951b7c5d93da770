"""Group many nodes of one table quickly: packed keys, and roll-up from finer nodes.

The labels of all attributes fit into one or a few 64-bit words. A node is grouped from the rows of
the table, or from the fewest classes of a finer node that are kept (`bases`). Whether too many
records are in small classes is seen in a sample of the classes, where they are many.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.privacy.table import FloatArray, IntArray, Node, Table
from dbt_anonymize.search.bases import Bases
from dbt_anonymize.search.grouped import Counted, GroupedClasses
from dbt_anonymize.search.hashing import Words, distinct, slots
from dbt_anonymize.search.keys import Keys
from dbt_anonymize.search.lattice import Lattice

MEMORY = 1 << 30
# Rows that classes are sampled from at least, in bits; a sample has about 2 ** SAMPLED.
SAMPLED_FROM, SAMPLED = 15, 13
# By how much more than enough small records are hoped for in a sample.
MARGIN = 1.5


class UngroupedNode:
    """A node whose rows are not grouped yet."""

    def __init__(self, counted: Counted, keys: Keys, node: Node, rows: GroupedClasses):
        self._counted = counted
        self._keys = keys
        self.node = node
        self.rows = rows
        # Of what was counted last: its rows, None for all, the slot of each and what is in them.
        self._chosen: IntArray | None = None
        self._slot: IntArray | None = None
        self._in_slot = np.zeros(0, dtype=np.int64)
        # In small classes, by what was counted.
        self.about_small_records = 0
        self.formed: GroupedClasses | None = None

    def least_small_records(self, size: int, enough: float = math.inf) -> int:
        """Return a lower bound of the records in classes of fewer than ``size`` records.

        Counts by hash alone: classes that share a slot count as one. A fraction of the time of
        grouping nearly always proves an infeasible node, and some of the classes do if ``enough``
        are a part of what is in small ones.
        """
        rows = len(self.rows).bit_length()
        is_sampled = rows > SAMPLED_FROM and self._keys.can_sample(self.rows)
        bits = rows - SAMPLED if is_sampled else 0
        while bits > 0:
            self._chosen, words = self._keys.sample(self.node, bits)
            count = self._count(words, bits, size)
            if count >= enough:
                return count
            found = self.about_small_records
            bits = int(math.log2(found / (MARGIN * enough))) if found >= 2 * enough else 0
        self._chosen = None
        return self._count(self.words, 0, size)

    def _count(self, words: Words, bits: int, size: int) -> int:
        slot, slot_bits = slots(words, 0)
        weights = self.rows.weights
        if weights is not None and self._chosen is not None:
            weights = weights.take(self._chosen)
        counts = np.bincount(slot, weights=weights, minlength=1 << slot_bits)
        self._slot, self._in_slot = slot, counts
        is_small = counts < size
        # Doubles, as they are where rows are merged, are added up several times as fast so.
        count = int(counts.sum(where=is_small) if weights is None else counts @ is_small)
        self.about_small_records = count << bits
        return count

    def small_rows(self, size: int) -> IntArray:
        """Return a row of the table for each of the rows that were counted, after counting."""
        assert self._slot is not None
        small = np.flatnonzero(self._in_slot.take(self._slot) < size)
        chosen = small if self._chosen is None else self._chosen[small]
        return self.rows.first[chosen].astype(np.int64, copy=False)

    @cached_property
    def words(self) -> Words:
        """Packed label codes of each row."""
        return self._keys.at(self.rows, self.node)

    def classes(self) -> GroupedClasses:
        """Return the equivalence classes, in the order of their first rows."""
        words, rows = self.words, self.rows
        leaders, leader = distinct(words, self._slot if self._chosen is None else None)
        self.formed = GroupedClasses(
            self._counted,
            self.node,
            words=tuple(word.take(leaders) for word in words),
            first=rows.first.take(leaders).astype(np.int64, copy=False),
            records=_add_up(rows.weights, leaders, leader),
            population=None
            if rows.population is None
            else _add_up(rows.population, leaders, leader),
            parent=rows,
            leaders=leaders,
            leader=leader,
        )
        return self.formed


class Grouper:
    """Group nodes of a table, all at ``lowest`` or above; keep ``memory`` bytes of classes.

    Without ``values`` or ``targets`` their counts are not asked for.
    """

    def __init__(
        self,
        table: Table,
        lowest: Node,
        *,
        values: bool = True,
        targets: bool = True,
        memory: int = MEMORY,
    ):
        self._counted = Counted.of(
            replace(
                table,
                sensitive=table.sensitive if values else (),
                targets=table.targets if targets else (),
            )
        )
        self._keys = Keys(self._counted, memory // 8)
        self.entropies = self._keys.entropies
        bottom = self._keys.rows_of_table(lowest)
        # Other rows are distinct.
        if any(lowest) or table.sensitive or table.targets or table.subject is not None:
            bottom = self._node(lowest, bottom).classes()
        self._keys.set_bottom(bottom)
        self._bases = Bases(bottom, self.entropies, memory)
        # Whose classes are kept if they are formed.
        self._last: UngroupedNode | None = None

    def expect(self, lattice: Lattice, status: NDArray[np.uint8]) -> None:
        """Choose bases for the nodes of a lattice whose ``status`` is 0 by then."""
        self._bases.expect(lattice, status)

    def classes(self, node: Node) -> GroupedClasses:
        """Return the equivalence classes of a node, in the order of their first rows."""
        return self.ungrouped(node).classes()

    def ungrouped(self, node: Node) -> UngroupedNode:
        """Return a node before its rows are grouped."""
        if self._last is not None and self._last.formed is not None:
            self._bases.keep_if_few(self._last.formed)
        rows = self._bases.of(node)
        if (levels := self._bases.between(node, rows)) is not None:
            rows = self._node(levels, rows).classes().narrow()
            self._bases.keep(rows)
        self._last = self._node(node, rows)
        return self._last

    # Not kept by what it returns: a cycle of references would keep the memory of one search beside
    # that of the next.
    def _node(self, node: Node, rows: GroupedClasses) -> UngroupedNode:
        return UngroupedNode(self._counted, self._keys, node, rows)


def _add_up(numbers: IntArray | FloatArray | None, leaders: IntArray, leader: IntArray) -> IntArray:
    """Return the sums of the groups; exact below 2**53."""
    found = np.bincount(leader, weights=numbers, minlength=len(leader)).take(leaders)
    return found.astype(np.int64, copy=False)
