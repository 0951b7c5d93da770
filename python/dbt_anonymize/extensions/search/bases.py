"""Classes that coarser nodes are grouped from.

A node can be grouped from the classes of any finer node, its *base*. Where the table has many rows,
a finer node than the one that is asked for is grouped first: one that has a part of the rows, and
is finer than many nodes that are still open.
"""

from __future__ import annotations

import math
from collections import OrderedDict

import numpy as np

from dbt_anonymize.extensions.search.grouped import GroupedClasses
from dbt_anonymize.extensions.search.open_nodes import OpenNodes
from dbt_anonymize.privacy.table import FloatArray, Node

# Bases that are kept at most: looking for one takes longer the more there are.
MOST = 256
# Rows that are worth a base; the share of those of the table, or of another base, that it has at
# most, by its entropy.
WORTH_A_BASE, SHARE, SHARE_OF_BASE = 8000, 0.4, 0.1
# How many times as many rows as one grouping takes it saves if every open node is asked for: few
# of them are.
WORTH_SAVING = 25
# Share of the rows that they were grouped from up to which classes are worth keeping: entropy tells
# too few where most records are alike.
MOST_OF_PARENT = 0.8
_NO_LEVEL = np.iinfo(np.int16).max


class Bases:
    """Cache of classes by their levels; beyond its memory (bytes), it evicts least recently used.

    The classes of ``bottom`` always stay. ``bits`` are entropies by attribute and level, of which
    the numbers of classes are estimated.
    """

    def __init__(self, bottom: GroupedClasses, bits: tuple[FloatArray, ...], memory: int) -> None:
        self._bottom = bottom
        self._bits = [of_level.tolist() for of_level in bits]
        self._memory = memory
        # With the bytes and the place of each.
        self._kept: OrderedDict[Node, tuple[GroupedClasses, int, int]] = OrderedDict()
        self._bytes = 0
        self._refused: set[Node] = set()
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
        self._kept.move_to_end(found)
        return self._kept[found][0]

    def worth_making(
        self, node: Node, rows: GroupedClasses, nodes: OpenNodes | None
    ) -> Node | None:
        """Return levels to group rows to before a node is; None if that is not worth it.

        Without ``nodes`` it is not known which others are still open.
        """
        count = len(rows)
        if count < WORTH_A_BASE:
            return None
        share = SHARE if rows is self._bottom else SHARE_OF_BASE
        if nodes is None:
            found = self._finer_levels(node, rows, math.log2(count * share))
        else:
            found = nodes.finer_levels(node, rows.levels, count, share, WORTH_SAVING)
        return None if found == rows.levels or found in self._refused else found

    def _finer_levels(self, node: Node, rows: GroupedClasses, most: float) -> Node | None:
        """Return levels below a node that tell so many bits apart at most; None if it does."""
        levels, found = list(node), None
        left = most - sum(of_level[level] for of_level, level in zip(self._bits, node, strict=True))
        while True:
            # What tells the fewest rows apart makes the base fit the most nodes.
            steps = (
                (of_level[level - 1] - of_level[level], attribute)
                for attribute, (of_level, level) in enumerate(zip(self._bits, levels, strict=True))
                if level > rows.levels[attribute]
            )
            added, attribute = min(steps, default=(math.inf, 0))
            left -= added
            if left <= 0.0:
                return found
            levels[attribute] -= 1
            found = tuple(levels)

    def keep(self, rows: GroupedClasses) -> None:
        """Keep classes; if they take too much memory, or are many, do not make them again."""
        node, size = rows.levels, rows.bytes
        if node in self._kept:
            return
        of = len(rows) if rows.parent is None else len(rows.parent)
        if size > self._memory or len(rows) > MOST_OF_PARENT * of:
            self._refused.add(node)
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
