"""Group many nodes of one table quickly: packed keys, and roll-up from finer nodes.

The labels of all attributes fit into one or a few 64-bit words. A node is grouped from the rows of
the table, or from the smallest cached base (`bases`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.extensions.search.bases import Bases
from dbt_anonymize.extensions.search.grouped import CountedColumns, GroupedClasses
from dbt_anonymize.extensions.search.hashing import Words, distinct, slots
from dbt_anonymize.extensions.search.keys import Keys
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.open_nodes import OpenNodes
from dbt_anonymize.privacy.table import Node, Table

MEMORY = 1 << 30


class UngroupedNode:
    """A node whose rows are not grouped yet."""

    def __init__(
        self, counted: CountedColumns, keys: Keys, node: Node, rows: GroupedClasses
    ) -> None:
        self._counted = counted
        self._keys = keys
        self.node = node
        self.rows = rows
        # Hash slot of each row, and the records in each slot, once they are counted.
        self._slot: Ints | None = None
        self._slot_counts = np.zeros(0, dtype=np.int64)

    def least_small_records(self, size: int) -> int:
        """Return a lower bound of the records in classes of fewer than ``size`` records.

        Classes that share a hash slot count as one. This takes a fraction of the time of grouping,
        and nearly always proves an infeasible node.
        """
        self._slot, slot_bits = slots(self.words, 0)
        weights = self.rows.weights
        counts = np.bincount(self._slot, weights=weights, minlength=1 << slot_bits)
        self._slot_counts = counts
        is_small = counts < size
        # For merged rows, sums of doubles are several times faster.
        return int(counts.sum(where=is_small) if weights is None else counts @ is_small)

    def small_rows(self, size: int) -> Ints:
        """Return a row of the table for each small row of the last count."""
        assert self._slot is not None
        small = np.flatnonzero(self._slot_counts.take(self._slot) < size)
        return self.rows.first.take(small).astype(np.int64, copy=False)

    @cached_property
    def words(self) -> Words:
        """Packed label codes of each row."""
        return self._keys.at(self.rows, self.node)

    def classes(self) -> GroupedClasses:
        """Return the equivalence classes, in the order of their first rows."""
        words, rows = self.words, self.rows
        leaders, leader = distinct(words, self._slot)
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
        self._nodes: OpenNodes | None = None

    def expect(self, lattice: Lattice, status: NDArray[np.uint8]) -> None:
        """Choose bases for the nodes of a lattice whose current ``status`` is 0."""
        self._nodes = OpenNodes(lattice, status, self.entropies)

    def classes(self, node: Node) -> GroupedClasses:
        """Return the equivalence classes of a node, in the order of their first rows."""
        return self.ungrouped(node).classes()

    def ungrouped(self, node: Node) -> UngroupedNode:
        """Return a node before its rows are grouped."""
        rows = self._bases.of(node)
        levels = self._bases.worth_making(node, rows, self._nodes)
        if levels is not None:
            rows = self._node(levels, rows).classes().narrow()
            self._bases.keep(rows)
        return self._node(node, rows)

    # The result has no reference to the grouper: a cycle would keep the memory of one search during
    # the next.
    def _node(self, node: Node, rows: GroupedClasses) -> UngroupedNode:
        return UngroupedNode(self._counted, self._keys, node, rows)


def _group_sums(numbers: Ints | Floats | None, leaders: Ints, leader: Ints) -> Ints:
    """Return the sums of the groups; exact below 2**53."""
    sums = np.bincount(leader, weights=numbers, minlength=len(leader)).take(leaders)
    return sums.astype(np.int64, copy=False)
