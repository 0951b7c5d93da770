"""Open nodes, and levels that are finer than many of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats
from dbt_anonymize.extensions.search.forecast import box_counts
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.privacy.table import Node

# Lookups between two counts of the open nodes.
BETWEEN = 32


class OpenNodes:
    """The nodes of a lattice whose ``status`` is 0 at the time of a lookup.

    ``bits`` are entropies by attribute and level, which estimate the numbers of classes.
    """

    def __init__(
        self, lattice: Lattice, status: NDArray[np.uint8], bits: tuple[Floats, ...]
    ) -> None:
        self._lattice = lattice
        self._status = status
        self._classes = np.exp2(lattice.add_up(bits))
        # Open nodes that are as coarse as each node or coarser, and lookups until the next count.
        self._coarser = np.zeros(lattice.shape)
        self._wait = 0

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
        saved = np.where(is_few, self._count()[box] * (rows - classes), 0.0)
        if start == fine:
            saved.flat[0] = 0.0
        place = int(saved.argmax())
        if place == saved.size - 1 or saved.flat[place] < max(worth * rows, 1.0):
            return None
        return self._at(start, saved, place)

    def _box(self, fine: Node, coarse: Node) -> tuple[slice, ...]:
        levels = zip(fine, coarse, self._lattice.lowest, strict=True)
        return tuple(slice(start - low, stop - low + 1) for start, stop, low in levels)

    def _at(self, fine: Node, box: Floats, place: int) -> Node:
        offsets = np.unravel_index(place, box.shape)
        return tuple(level + int(offset) for level, offset in zip(fine, offsets, strict=True))

    def _count(self) -> Floats:
        """Return a recent count of the open nodes coarser than each node."""
        if not self._wait:
            self._wait = BETWEEN
            self._coarser = box_counts((self._status == 0).astype(np.float64), coarser=True)
        self._wait -= 1
        return self._coarser
