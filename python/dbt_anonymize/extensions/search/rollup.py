"""Group many nodes of one table quickly: packed keys, and roll-up from finer nodes.

The labels of all attributes fit into one or a few 64-bit words. A node is grouped from the rows of
the table, or from the smallest cached base (`bases`). For many rows, a sample of the classes
(`samples`) shows if too many records are in small classes.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.extensions.search.bases import Bases
from dbt_anonymize.extensions.search.grouped import CountedColumns, GroupedClasses
from dbt_anonymize.extensions.search.hashing import Words, distinct, slots
from dbt_anonymize.extensions.search.keys import Keys
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.open_nodes import OpenNodes
from dbt_anonymize.extensions.search.samples import Sample, Samples
from dbt_anonymize.privacy.table import FloatArray, IntArray, Node, Table

MEMORY = 1 << 30
# Fewest rows for samples, and least number of rows per row of a sample.
SAMPLED_FROM, WORTH = 1 << 15, 2
# Surplus of small records to aim for in a sample.
MARGIN = 1.1


class UngroupedNode:
    """A node whose rows are not grouped yet."""

    def __init__(
        self,
        counted: CountedColumns,
        keys: Keys,
        node: Node,
        rows: GroupedClasses,
        sample: Sample | None = None,
    ):
        self._counted = counted
        self._keys = keys
        self.node = node
        self.rows = rows
        self._sample = sample
        # Rows of the last count, and the slot of each.
        self._counted_rows: GroupedClasses | None = None
        self._slot: IntArray | None = None
        self._slot_counts = np.zeros(0, dtype=np.int64)
        # Estimate of the records in small classes, from the last count.
        self.estimated_small_records = 0

    def least_small_records(self, size: int, enough: float = math.inf) -> int:
        """Return a lower bound of the records in classes of fewer than ``size`` records.

        Classes that share a hash slot count as one. This takes a fraction of the time of grouping,
        and nearly always proves an infeasible node; a sample does if ``enough`` records are a part
        of those in small classes.
        """
        if self._sample is not None and enough < math.inf:
            count = self._count_sample(self._sample, size, max(enough, 1.0))
            if count >= enough:
                return count
        self.estimated_small_records = self._count(self.rows, self.words, size)
        return self.estimated_small_records

    def _count_sample(self, sample: Sample, size: int, enough: float) -> int:
        """Count records of small classes in growing parts of a sample, while that pays off."""
        count, start, end = 0, 0, sample.end(1)
        while end is not None and WORTH * (end - start) <= len(self.rows):
            part = sample.part(start, end)
            count += self._count(part, self._keys.at(part, self.node), size)
            start = end
            self.estimated_small_records = count * sample.size // start
            if count >= enough:
                break
            end = sample.end(MARGIN * start * enough / max(count, 1))
        return count

    def _count(self, rows: GroupedClasses, words: Words, size: int) -> int:
        slot, slot_bits = slots(words, 0)
        counts = np.bincount(slot, weights=rows.weights, minlength=1 << slot_bits)
        self._counted_rows, self._slot, self._slot_counts = rows, slot, counts
        is_small = counts < size
        # For merged rows, sums of doubles are several times faster.
        return int(counts.sum(where=is_small) if rows.weights is None else counts @ is_small)

    def small_rows(self, size: int) -> IntArray:
        """Return a row of the table for each small row of the last count."""
        assert self._counted_rows is not None
        assert self._slot is not None
        small = np.flatnonzero(self._slot_counts.take(self._slot) < size)
        return self._counted_rows.first.take(small).astype(np.int64, copy=False)

    @cached_property
    def words(self) -> Words:
        """Packed label codes of each row."""
        return self._keys.at(self.rows, self.node)

    def classes(self) -> GroupedClasses:
        """Return the equivalence classes, in the order of their first rows."""
        words, rows = self.words, self.rows
        leaders, leader = distinct(words, self._slot if self._counted_rows is rows else None)
        return GroupedClasses(
            self._counted,
            self.node,
            words=tuple(word.take(leaders) for word in words),
            first=rows.first.take(leaders).astype(np.int64, copy=False),
            records=_group_sums(rows.weights, leaders, leader),
            population=None
            if rows.population is None
            else _group_sums(rows.population, leaders, leader),
            parent=rows,
            links=(leaders, leader),
        )


class Grouper:
    """Group nodes of a table, all at ``lowest`` or above; keep ``memory`` bytes of classes.

    Without ``values`` or ``targets`` these are not counted.
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
        self._counted = CountedColumns.of(
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
        self._bases = Bases(bottom, self.entropies, memory - memory // 8)
        self._samples = Samples(self._keys, bottom, memory // 8)
        self._nodes: OpenNodes | None = None

    def expect(self, lattice: Lattice, status: NDArray[np.uint8]) -> None:
        """Choose bases for the nodes of a lattice whose current ``status`` is 0."""
        self._nodes = OpenNodes(lattice, status, self.entropies)

    def classes(self, node: Node) -> GroupedClasses:
        """Return the equivalence classes of a node, in the order of their first rows."""
        return self.ungrouped(node).classes()

    def ungrouped(self, node: Node) -> UngroupedNode:
        """Return a node before its rows are grouped."""
        rows, sample = self._bases.of(node), None
        levels = self._bases.worth_making(node, rows, self._nodes)
        if levels is not None:
            rows = self._node(levels, rows).classes().narrow()
            self._bases.keep(rows)
        if self._nodes is not None and len(rows) >= SAMPLED_FROM:
            sample = self._samples.of(node, rows, self._nodes)
        return self._node(node, rows, sample)

    # The result has no reference to the grouper: a cycle would keep the memory of one search during
    # the next.
    def _node(
        self, node: Node, rows: GroupedClasses, sample: Sample | None = None
    ) -> UngroupedNode:
        return UngroupedNode(self._counted, self._keys, node, rows, sample)


def _group_sums(
    numbers: IntArray | FloatArray | None, leaders: IntArray, leader: IntArray
) -> IntArray:
    """Return the sums of the groups; exact below 2**53."""
    sums = np.bincount(leader, weights=numbers, minlength=len(leader)).take(leaders)
    return sums.astype(np.int64, copy=False)
