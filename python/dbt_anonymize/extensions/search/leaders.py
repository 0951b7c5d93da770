"""The best nodes of a search."""

from __future__ import annotations

import bisect
from collections.abc import Iterable

from dbt_anonymize.extensions.search.results import CheckedNode


class Leaders:
    """The feasible nodes of least loss, at most ``size``; of equal ones the first."""

    def __init__(self, size: int):
        self.nodes: list[CheckedNode] = []
        self._size = size

    def restart(self, nodes: Iterable[CheckedNode]) -> None:
        """Choose the best of checked nodes."""
        self.nodes = []
        for checked in nodes:
            if checked.is_feasible:
                self.add(checked)

    def add(self, checked: CheckedNode) -> bool:
        """Add a feasible node if it is one of the best; return True if so."""
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
        """The worst of the best; None while there is room for others."""
        return self.nodes[-1] if len(self.nodes) == self._size else None
