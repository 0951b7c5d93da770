"""Sums of the codes of some attributes, kept for the nodes that share the levels of these."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from dbt_anonymize.privacy.table import IntArray, Node

Part = tuple[tuple[int, int], ...]


class SumsOfCodes:
    """Add up one column per attribute and level, each half of the attributes by itself.

    Nodes that share the levels of one half share its sum: most columns are then added up once for
    many nodes. ``column`` returns that of an attribute at a level, ``None`` where it is 0;
    ``memory`` bytes are kept.
    """

    def __init__(
        self, rows: int, column: Callable[[int, int], IntArray | None], *, memory: int
    ) -> None:
        self._rows = rows
        self._column = column
        self._most = max(2, memory // max(1, 8 * rows))
        self._kept: OrderedDict[Part, IntArray] = OrderedDict()

    def add_up(self, attributes: list[int], node: Node) -> IntArray:
        """Return the sum over some attributes of their columns at the levels of a node."""
        half = len(attributes) // 2
        parts = (attributes[:half], attributes[half:])
        found = [self._part(tuple((at, node[at]) for at in part)) for part in parts]
        return found[0] + found[1]

    def _part(self, levels: Part) -> IntArray:
        if levels in self._kept:
            self._kept.move_to_end(levels)
            return self._kept[levels]
        total = np.zeros(self._rows, dtype=np.int64)
        for attribute, level in levels:
            column = self._column(attribute, level)
            if column is not None:
                total += column
        self._kept[levels] = total
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return total
