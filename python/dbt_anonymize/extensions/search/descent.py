"""Find a good node quickly, without proof, by iterated local search from the coarsest node."""

from __future__ import annotations

from collections.abc import Collection

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.privacy.table import Node


def descend(
    checker: Checker, lattice: Lattice, k: int, excluded: Collection[Node], most_checks: int
) -> CheckedNode | None:
    """Return a feasible node of small loss after about ``most_checks`` checks; None without any.

    Each step goes to the feasible finer node that loses the least. At the end each attribute is
    made coarser in turn, and others finer, as long as that loses less (iterated local search:
    Lourenço, Martin and Stützle 2003).
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
        self._checked: dict[Node, CheckedNode] = {}

    def run(self) -> CheckedNode | None:
        """Return the best node that is not excluded."""
        top = self._check(self._lattice.highest)
        if not top.is_feasible:
            return None
        best, axes = self._down(top), [*range(len(top.node))]
        tried = 0
        # Each axis is made coarser in turn; after a better node all are tried again.
        while tried < len(axes) and self._has_time():
            axis = axes[0]
            axes = [*axes[1:], axis]
            tried += 1
            for coarser in self._coarser(best.node, axis):
                candidate = self._down(self._check(coarser), fixed=axis)
                if candidate.loss < best.loss:
                    best, tried = candidate, 0
                    break
        usable_nodes = [node for node in self._checked.values() if self._is_usable(node)]
        return min(usable_nodes, key=lambda node: (node.loss, node.node), default=None)

    def _has_time(self) -> bool:
        return self._checker.checked < self._most_checked

    def _check(self, node: Node) -> CheckedNode:
        if node not in self._checked:
            self._checked[node] = self._checker.check(node, self._k).result
        return self._checked[node]

    def _is_usable(self, checked: CheckedNode) -> bool:
        return checked.is_feasible and checked.node not in self._excluded

    def _down(self, start: CheckedNode, fixed: int | None = None) -> CheckedNode:
        """Follow the feasible finer nodes that lose the least; a ``fixed`` attribute last."""
        best = start
        while self._has_time():
            finer = [
                checked
                for node in self._lattice.just_finer(best.node)
                if (fixed is None or node[fixed] == best.node[fixed])
                and (checked := self._check(node)).is_feasible
            ]
            next_node = min(finer, key=lambda checked: (checked.loss, checked.node), default=None)
            if next_node is None:
                return best if fixed is None else self._down(best)
            best = next_node
        return best

    def _coarser(self, node: Node, axis: int) -> list[Node]:
        """Return a node with one attribute coarser by one level and by two."""
        highest = self._lattice.highest[axis]
        return [
            (*node[:axis], level, *node[axis + 1 :])
            for level in range(node[axis] + 1, min(node[axis] + 2, highest) + 1)
        ]
