"""Classes that coarser nodes are grouped from.

A node can be grouped from the classes of any finer node, its *base*. If the table has many rows, a
base is grouped first: a node with a part of the rows that is finer than many open nodes.
"""

from __future__ import annotations

import math
from collections import OrderedDict

import numpy as np

from dbt_anonymize.arrays import Floats
from dbt_anonymize.extensions.search.grouped import GroupedClasses
from dbt_anonymize.extensions.search.open_nodes import OpenNodes
from dbt_anonymize.privacy.table import Node

# Most bases in the cache: with more, looking one up takes longer.
MOST = 256
# Fewest rows that are worth a base; largest share of the rows of the table, or of another base,
# that it may have, by its entropy.
WORTH_A_BASE, SHARE, SHARE_OF_BASE = 8000, 0.4, 0.1
# Rows that a base must save for all open nodes together, as a multiple of those that it takes to
# group; few open nodes are checked in the end.
WORTH_SAVING = 25
# Largest share of their parent's rows for classes to be cached: entropy underestimates classes if
# most records are alike.
MOST_OF_PARENT = 0.8
_NO_LEVEL = np.iinfo(np.int16).max


class Bases:
    """Cache of classes by their levels; beyond its memory (bytes), it evicts least recently used.

    The classes of ``bottom`` always stay. ``bits`` are entropies by attribute and level, which
    estimate the numbers of classes.
    """

    def __init__(self, bottom: GroupedClasses, bits: tuple[Floats, ...], memory: int) -> None:
        self._bottom = bottom
        self._bits = [of_level.tolist() for of_level in bits]
        self._memory = memory
        # Classes, their bytes and their place.
        self._kept: OrderedDict[Node, tuple[GroupedClasses, int, int]] = OrderedDict()
        self._bytes = 0
        self._refused: set[Node] = set()
        # For lookups in `of`, by place: levels (attributes, places), and numbers of classes.
        self._levels = np.full((len(bottom.levels), MOST + 1), _NO_LEVEL, dtype=np.int16)
        self._counts = np.full(MOST + 1, len(bottom) + 1)
        self._nodes: list[Node | None] = [None] * (MOST + 1)
        self._free = list(range(MOST, 0, -1))
        self._levels[:, 0], self._counts[0] = bottom.levels, len(bottom)

    def of(self, node: Node) -> GroupedClasses:
        """Return the base with the fewest classes, at the levels of a node or finer."""
        levels = np.array(node, dtype=np.int16)
        is_finer = (self._levels <= levels[:, np.newaxis]).all(axis=0)
        base = self._nodes[int(np.where(is_finer, self._counts, len(self._bottom) + 1).argmin())]
        if base is None:
            return self._bottom
        self._kept.move_to_end(base)
        return self._kept[base][0]

    def worth_making(
        self, node: Node, rows: GroupedClasses, nodes: OpenNodes | None
    ) -> Node | None:
        """Return the levels of a base to group before a node; None if no base pays off.

        Without ``nodes`` the open nodes are unknown.
        """
        count = len(rows)
        if count < WORTH_A_BASE:
            return None
        share = SHARE if rows is self._bottom else SHARE_OF_BASE
        if nodes is None:
            levels = self._finer_levels(node, rows, math.log2(count * share))
        else:
            levels = nodes.finer_levels(node, rows.levels, count, share, WORTH_SAVING)
        return None if levels == rows.levels or levels in self._refused else levels

    def _finer_levels(self, node: Node, rows: GroupedClasses, bits: float) -> Node | None:
        """Return the finest levels below a node of at most ``bits`` entropy; None without any."""
        levels, finer = list(node), None
        remaining = bits - sum(
            of_level[level] for of_level, level in zip(self._bits, node, strict=True)
        )
        while True:
            # The step with the least entropy leaves the base finer than the most nodes.
            steps = (
                (of_level[level - 1] - of_level[level], attribute)
                for attribute, (of_level, level) in enumerate(zip(self._bits, levels, strict=True))
                if level > rows.levels[attribute]
            )
            added, attribute = min(steps, default=(math.inf, 0))
            remaining -= added
            if remaining <= 0.0:
                return finer
            levels[attribute] -= 1
            finer = tuple(levels)

    def keep(self, rows: GroupedClasses) -> None:
        """Cache classes; if they are too large or too many, remember not to group them again."""
        node, size = rows.levels, rows.bytes
        if node in self._kept:
            return
        parent = rows if rows.parent is None else rows.parent
        if size > self._memory or len(rows) > MOST_OF_PARENT * len(parent):
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
