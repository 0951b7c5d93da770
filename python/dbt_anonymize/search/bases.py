"""Classes that coarser nodes are grouped from.

A node can be grouped from the classes of any finer node, its *base*. The latest nodes whose classes
were formed are bases. Where they have many rows, a finer node than the one that is asked for is
grouped first: one that has a part of the rows, and is finer than many others.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from dbt_anonymize.privacy.table import Node
from dbt_anonymize.search.grouped import GroupedClasses
from dbt_anonymize.search.open_nodes import OpenNodes

# Bases that are kept at most: looking for one takes longer the more there are.
MOST = 256
# How many times as many rows as classes make these worth keeping.
WORTH_KEEPING = 6
# Rows that are worth a base in between; the bits by which it has fewer at least, by its entropy.
WORTH_A_BASE, SHARE = 8000, 0.35
NODES_PER_BASE = 25
_NO_LEVEL = np.iinfo(np.int16).max


class Bases:
    """Classes by their levels; for lack of memory (bytes) those go that were not used the longest.

    The classes of ``bottom`` always stay.
    """

    def __init__(self, bottom: GroupedClasses, memory: int) -> None:
        self._bottom = bottom
        self._memory = memory
        # With the bytes and the place of each.
        self._kept: OrderedDict[Node, tuple[GroupedClasses, int, int]] = OrderedDict()
        self._bytes = 0
        # What `of` looks into, by place: levels (attributes, places), and classes.
        self._levels = np.full((len(bottom.levels), MOST + 1), _NO_LEVEL, dtype=np.int16)
        self._counts = np.full(MOST + 1, len(bottom) + 1)
        self._nodes: list[Node | None] = [None] * (MOST + 1)
        self._free = list(range(MOST, 0, -1))
        self._levels[:, 0], self._counts[0] = bottom.levels, len(bottom)

    def of(self, node: Node) -> GroupedClasses:
        """Return the fewest classes whose levels are those of a node or finer."""
        levels = np.array(node, dtype=np.int16)
        is_finer = (self._levels <= levels[:, np.newaxis]).all(axis=0)
        found = self._nodes[int(np.where(is_finer, self._counts, len(self._bottom) + 1).argmin())]
        if found is None:
            return self._bottom
        rows = self._kept[found][0]
        # What it was put together from takes memory as long as it is kept.
        for used in (*rows.ancestors, found):
            if used in self._kept:
                self._kept.move_to_end(used)
        return rows

    def between(self, node: Node, rows: GroupedClasses, nodes: OpenNodes) -> Node | None:
        """Return levels to group rows to before a node is; None if that is not worth it."""
        if len(rows) < WORTH_A_BASE:
            return None
        return nodes.finer_levels(node, rows.levels, len(rows), SHARE, NODES_PER_BASE)

    def keep_if_few(self, rows: GroupedClasses) -> None:
        """Keep classes if they are much fewer than what they were put together from."""
        if rows.parent is not None and WORTH_KEEPING * len(rows) <= len(rows.parent):
            self.keep(rows.narrow())

    def keep(self, rows: GroupedClasses) -> None:
        """Keep classes, unless there is no memory for them."""
        node, size = rows.levels, rows.bytes
        if node in self._kept or size > self._memory:
            return
        while self._kept and (not self._free or self._bytes + size > self._memory):
            self._drop()
        place = self._free.pop()
        self._kept[node] = rows, size, place
        self._bytes += size
        self._nodes[place] = node
        self._levels[:, place], self._counts[place] = node, len(rows)

    def _drop(self) -> None:
        _, (_, size, place) = self._kept.popitem(last=False)
        self._bytes -= size
        self._levels[:, place] = _NO_LEVEL
        self._free.append(place)
