"""A good node at once, without any proof: down from the coarsest one, and down again beside it."""

from __future__ import annotations

from collections.abc import Collection

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.privacy.table import Node


def descend(
    checker: Checker, lattice: Lattice, k: int, excluded: Collection[Node], most_checks: int
) -> CheckedNode | None:
    """Return a feasible node of a small loss, after at most about so many checks; None of none.

    The feasible finer node that loses the least follows on the one before. At the end each
    attribute is made coarser in turn, and others finer, as long as that loses less (iterated local
    search: Lourenço, Martin and Stützle 2003).
    """
    return _Descent(checker, lattice, k, excluded, checker.checked + most_checks).run()


class _Descent:
    def __init__(
        self,
        checker: Checker,
        lattice: Lattice,
        k: int,
        excluded: Collection[Node],
        most_checked: int,
    ) -> None:
        self._checker, self._lattice, self._k = checker, lattice, k
        self._excluded, self._most_checked = excluded, most_checked
        self._known: dict[Node, CheckedNode] = {}

    def run(self) -> CheckedNode | None:
        """Return the best node that is no excluded one."""
        top = self._check(self._lattice.highest)
        if not top.is_feasible:
            return None
        best, axes = self._down(top), [*range(len(top.node))]
        tried = 0
        # Axis after axis is lifted; after a better node all are tried again.
        while tried < len(axes) and self._has_time():
            axis = axes[0]
            axes = [*axes[1:], axis]
            tried += 1
            for lifted in self._lifted(best.node, axis):
                found = self._down(self._check(lifted), fixed=axis)
                if found.loss < best.loss:
                    best, tried = found, 0
                    break
        usable = [one for one in self._known.values() if self._is_usable(one)]
        return min(usable, key=lambda one: (one.loss, one.node), default=None)

    def _has_time(self) -> bool:
        return self._checker.checked < self._most_checked

    def _check(self, node: Node) -> CheckedNode:
        if node not in self._known:
            self._known[node] = self._checker.check(node, self._k).result
        return self._known[node]

    def _is_usable(self, one: CheckedNode) -> bool:
        return one.is_feasible and one.node not in self._excluded

    def _down(self, start: CheckedNode, fixed: int | None = None) -> CheckedNode:
        """Follow the feasible finer nodes that lose the least; a ``fixed`` attribute last."""
        best = start
        while self._has_time():
            finer = [
                one
                for node in self._lattice.just_finer(best.node)
                if (fixed is None or node[fixed] == best.node[fixed])
                and (one := self._check(node)).is_feasible
            ]
            found = min(finer, key=lambda one: (one.loss, one.node), default=None)
            if found is None:
                return best if fixed is None else self._down(best)
            best = found
        return best

    def _lifted(self, node: Node, axis: int) -> list[Node]:
        """Return a node with one attribute coarser by one level and by two."""
        highest = self._lattice.highest[axis]
        return [
            (*node[:axis], level, *node[axis + 1 :])
            for level in range(node[axis] + 1, min(node[axis] + 2, highest) + 1)
        ]
