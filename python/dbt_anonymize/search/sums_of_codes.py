"""Sums of the codes of some attributes, kept for the nodes that share the levels of these."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import numpy as np

from dbt_anonymize.privacy.table import IntArray, Node


class SumsOfCodes:
    """Add columns to ``start``, one per attribute and level, each half of the attributes by itself.

    Nodes that share the levels of one half share its sum: most columns are then added up once for
    many nodes. ``column`` returns that of an attribute at a level, None where it is 0; ``memory``
    bytes are kept.
    """

    def __init__(
        self,
        start: IntArray,
        attributes: Sequence[int],
        column: Callable[[int, int], IntArray | None],
        *,
        memory: int,
    ) -> None:
        half = len(attributes) // 2
        self._halves = (
            (start, tuple(attributes[:half])),
            (np.zeros_like(start), tuple(attributes[half:])),
        )
        self._column = column
        self._most = max(2, memory // max(1, start.nbytes))
        self._kept: OrderedDict[tuple[int, Node], IntArray] = OrderedDict()

    def at(self, node: Node) -> IntArray:
        """Return the sum at the levels of a node."""
        return self._of_half(0, node) + self._of_half(1, node)

    def _of_half(self, half: int, node: Node) -> IntArray:
        start, attributes = self._halves[half]
        levels = tuple(node[attribute] for attribute in attributes)
        if (half, levels) in self._kept:
            self._kept.move_to_end((half, levels))
            return self._kept[half, levels]
        total = start.copy()
        for attribute, level in zip(attributes, levels, strict=True):
            column = self._column(attribute, level)
            if column is not None:
                total += column
        self._kept[half, levels] = total
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return total
