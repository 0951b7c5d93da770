"""Open nodes, and levels that are finer or coarser than many of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.extensions.search.forecast import box_counts
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.privacy.table import FloatArray, Node

# Lookups between two counts of the open nodes.
BETWEEN = 32


class OpenNodes:
    """The nodes of a lattice whose ``status`` is 0 at the time of a lookup.

    ``bits`` are entropies by attribute and level, which estimate the numbers of classes.
    """

    def __init__(
        self, lattice: Lattice, status: NDArray[np.uint8], bits: tuple[FloatArray, ...]
    ) -> None:
        self._lattice = lattice
        self._status = status
        self._classes = np.exp2(lattice.add_up(bits))
        self._counts: dict[bool, FloatArray] = {}
        self._waits = {False: 0, True: 0}

    def finer_levels(
        self, node: Node, fine: Node, rows: int, share: float, worth: float
    ) -> Node | None:
        """Return the levels between two nodes that save the most as a base of open nodes.

        They have at most a ``share`` of the ``rows`` of the finer node, by estimate. None if they
        save less than ``worth`` times these rows for all open nodes together, or if the coarser
        node has more than the share. The finer node may lie below the lattice.
        """
        start = tuple(map(max, fine, self._lattice.lowest))
        box = self._box(start, node)
        classes = self._classes[box]
        is_few = classes <= share * rows
        if not is_few.flat[-1]:
            return None
        saved = np.where(is_few, self._count(coarser=True)[box] * (rows - classes), 0.0)
        if start == fine:
            saved.flat[0] = 0.0
        place = int(saved.argmax())
        if place == saved.size - 1 or saved.flat[place] < max(worth * rows, 1.0):
            return None
        return self._at(start, saved, place)

    def coarser_levels(self, fine: Node, least: float) -> Node | None:
        """Return the levels of ``least`` or more classes that are coarser than most open nodes.

        None if the node ``fine`` has fewer classes.
        """
        box = self._box(fine, self._lattice.highest)
        is_enough = self._classes[box] >= least
        if not is_enough.flat[0]:
            return None
        counts = np.where(is_enough, self._count(coarser=False)[box], -1.0)
        return self._at(fine, counts, int(counts.argmax()))

    def _box(self, fine: Node, coarse: Node) -> tuple[slice, ...]:
        levels = zip(fine, coarse, self._lattice.lowest, strict=True)
        return tuple(slice(start - low, stop - low + 1) for start, stop, low in levels)

    def _at(self, fine: Node, box: FloatArray, place: int) -> Node:
        offsets = np.unravel_index(place, box.shape)
        return tuple(level + int(offset) for level, offset in zip(fine, offsets, strict=True))

    def _count(self, *, coarser: bool) -> FloatArray:
        """Return a recent count of the open nodes coarser or finer than each node."""
        if not self._waits[coarser]:
            self._waits[coarser] = BETWEEN
            is_open = (self._status == 0).astype(np.float64)
            self._counts[coarser] = box_counts(is_open, coarser=coarser)
        self._waits[coarser] -= 1
        return self._counts[coarser]
