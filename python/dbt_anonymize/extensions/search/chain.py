"""A chain of efforts from weak to strong: each generalizes at least as much as the one before."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from dbt_anonymize.extensions.search.best_first import BestFirstSearch
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.descent import descend
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.optimum import checks_for, lattice_search
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Node, Table


@dataclass(frozen=True)
class Chain:
    """Efforts from weak to strong.

    Attributes
    ----------
    points : tuple of (int, CheckedNode)
        Required class size, and the node that loses the least with it among those that generalize
        at least as much as the node before. Nodes differ; levels and reached class sizes rise.
    is_complete : bool
        True if every node is proven to lose the least.
    """

    points: tuple[tuple[int, CheckedNode], ...]
    is_complete: bool


def chain(
    table: Table,
    guarantees: Guarantees,
    loss: InformationLoss,
    suppression_limit: Decimal,
    length: int | Sequence[int],
    *,
    start: Node | None = None,
    work: int | None = None,
    clock: Clock | None = None,
) -> Chain:
    """Find at most ``length`` (>= 1) efforts from weak to strong, each of which releases something.

    ``length`` may also be a sequence of class sizes; see `_Builder.build_for`.

    The first effort is the optimum, no worse than the node ``start``. Required class sizes are
    spaced geometrically up to the largest one of an informative node (some attribute is below its
    root). The chain is shorter if no node above its last one reaches more, and empty if no node is
    feasible. Other arguments are those of ``optimum.search``; ``clock`` is for the whole chain.
    With ``work`` per effort (see ``optimum.checks_for``), large lattices are searched from a node
    of a quick descent, the same on every machine.
    """
    lattice = Lattice.of(table)
    checker = Checker(table, guarantees, loss, suppression_limit, must_release=True)
    builder = _Builder(checker, lattice, clock or Clock(), work)
    if isinstance(length, int):
        builder.build(length, start)
    else:
        builder.build_for(length, start)
    return Chain(tuple(builder.points), builder.is_complete)


class _Builder:
    """Builder of a chain, node by node."""

    def __init__(
        self, checker: Checker, lattice: Lattice, clock: Clock, work: int | None = None
    ) -> None:
        self.points: list[tuple[int, CheckedNode]] = []
        self.is_complete = True
        self._feasible: dict[Node, CheckedNode] = {}
        self._checker = checker
        self._lattice = lattice
        self._clock = clock
        self._work = work
        self._empty = lattice.root_of(checker.table)

    def build(self, length: int, start: Node | None) -> None:
        k = self._checker.guarantees.min_class_size
        first = self._best(self._lattice, k, (), start)
        if first is None:
            return
        self.points.append((k, first))
        for remaining in range(length - 1, 0, -1):
            if self._clock.is_over():
                # Stronger efforts may exist.
                self.is_complete = False
                return
            if not self._add(remaining):
                return

    def build_for(self, sizes: Sequence[int], start: Node | None) -> None:
        """Add a node for each class size, in ascending order, that no node before reaches.

        Class sizes that no informative node above the last one reaches are skipped.
        """
        for k in sizes:
            if self._clock.is_over():
                self.is_complete = False
                return
            last = self.points[-1][1] if self.points else None
            if last is None:
                # The first node of a chain may be any node.
                first = self._best(
                    self._lattice, k, (), start if self._is_feasible(start, k) else None
                )
                self.points += [(k, first)] if first is not None else []
            elif last.k < k:
                self._add_above(last.node, k)

    def _is_feasible(self, node: Node | None, k: int) -> bool:
        return node is not None and self._checker.check(node, k).result.is_feasible

    def _add(self, remaining: int) -> bool:
        """Add a node above the last one; ``remaining`` is the number of nodes still to add."""
        last = self.points[-1][1]
        largest = self._largest_k(last.node, self._excluded_above(last.node))
        if largest <= last.k:
            return False
        spaced = math.ceil(last.k * (largest / last.k) ** (1.0 / remaining))
        # The other guarantees may not hold at the spaced class size, but at a smaller one.
        sizes = sorted({min(max(spaced, last.k + 1), largest), last.k + 1}, reverse=True)
        return any(self._add_above(last.node, k) for k in sizes)

    def _add_above(self, node: Node, k: int) -> bool:
        """Add the best node above another with class size k; return False without any."""
        excluded = self._excluded_above(node)
        start = self._best_feasible_above(node, k, excluded)
        added = self._best(Lattice(node, self._lattice.highest), k, excluded, start)
        self.points += [(k, added)] if added is not None else []
        return added is not None

    def _excluded_above(self, node: Node) -> tuple[Node, ...]:
        """Return nodes that add nothing above another: itself, and the root."""
        return tuple({node, self._empty or node})

    def _best_feasible_above(self, node: Node, k: int, excluded: tuple[Node, ...]) -> Node | None:
        """Return the best known feasible node above another that reaches this k."""
        candidates = (
            node_above
            for node_above in self._feasible.values()
            if node_above.k >= k
            and node_above.node not in excluded
            and all(map(operator.ge, node_above.node, node))
        )
        best = min(candidates, key=lambda node_above: node_above.loss, default=None)
        return None if best is None else best.node

    def _best(
        self,
        lattice: Lattice,
        k: int,
        excluded: tuple[Node, ...],
        start: Node | None,
    ) -> CheckedNode | None:
        state = lattice_search(self._checker, lattice, k)
        for node in excluded:
            state.exclude(node)
        if start is not None:
            state.start(start)
        if self._work is not None and isinstance(state, BestFirstSearch):
            most_checks = checks_for(self._work, self._checker.table, lattice)
            heuristic = descend(self._checker, lattice, k, excluded, most_checks)
            if heuristic is not None:
                state.start(heuristic.node)
            end = self._checker.checked + most_checks
            self._clock.is_spent = lambda: self._checker.checked >= end
        best = state.run(self._clock)
        self._clock.is_spent = lambda: False
        self._feasible |= {
            checked.node: checked for checked in state.checked_nodes.values() if checked.is_feasible
        }
        self.is_complete = self.is_complete and state.is_complete
        return best

    def _largest_k(self, node: Node, excluded: tuple[Node, ...]) -> int:
        """Return the largest class size of nodes above, by the suppression limit alone.

        Finer nodes split the classes of coarser ones, so the coarsest ones not excluded suffice.
        """
        highest = self._lattice.highest
        nodes = [highest]
        if highest in excluded:
            nodes = [
                (*highest[:axis], top - 1, *highest[axis + 1 :])
                for axis, top in enumerate(highest)
                if top > node[axis]
            ]
        return max((self._largest_k_at(n) for n in nodes if n not in excluded), default=0)

    def _largest_k_at(self, node: Node) -> int:
        """Return the size of the smallest class after all allowed suppression."""
        classes = self._checker.grouper.classes(node)
        order = np.argsort(classes.people, kind="stable")
        suppressed = np.cumsum(classes.records[order])
        # Classes of one size are suppressed together or not at all.
        remaining = classes.people[order][suppressed > self._checker.most_suppressed]
        return int(remaining.min()) if len(remaining) else int(classes.people.max(initial=0))
