"""The best nodes of a search."""

from __future__ import annotations

import bisect
from collections.abc import Iterable

from dbt_anonymize.extensions.search.results import CheckedNode


class Leaders:
    """The feasible nodes that lose the least, at most ``size``; of equals those found first."""

    def __init__(self, size: int):
        self.nodes: list[CheckedNode] = []
        self._size = size

    def restart(self, found: Iterable[CheckedNode]) -> None:
        """Choose among nodes that are known."""
        self.nodes = []
        for checked in found:
            if checked.is_feasible:
                self.add(checked)

    def add(self, checked: CheckedNode) -> bool:
        """Take a feasible node in, or not; return whether it is one of the best."""
        place = bisect.bisect_right(self.nodes, checked.loss, key=lambda node: node.loss)
        if place >= self._size:
            return False
        self.nodes.insert(place, checked)
        del self.nodes[self._size :]
        return True

    @property
    def best(self) -> CheckedNode | None:
        """The best of all."""
        return self.nodes[0] if self.nodes else None

    @property
    def last(self) -> CheckedNode | None:
        """The last of them; None while there is room for others, so that nothing is left out."""
        return self.nodes[-1] if len(self.nodes) == self._size else None
