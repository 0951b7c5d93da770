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
from dbt_anonymize.extensions.search.optimum import checks_for, lattice_search
from dbt_anonymize.extensions.search.results import CheckedNode
from dbt_anonymize.information_loss.base import InformationLoss
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
        Whether every node is proven to lose the least.
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

    Instead of how many, ``length`` may say their class sizes; see `_Builder.build_for`.

    The first is the optimum, no worse than the node ``start``. Required class sizes are spaced
    geometrically up to the largest that a node reaches which still tells something (not every
    attribute is at its root). The chain is shorter where nothing is left above its last node, and
    empty where no node is feasible. Other arguments are those of ``optimum.search``; ``clock`` is
    for the whole chain. With ``work`` (see ``optimum.checks_for``) for each effort, large lattices
    are searched beside a good node that is found at once, the same on every machine.
    """
    lattice = Lattice.of(table)
    checker = Checker(table, guarantees, loss, suppression_limit, lattice.lowest, must_release=True)
    builder = _Builder(checker, lattice, clock or Clock(None, None), work)
    if isinstance(length, int):
        builder.build(length, start)
    else:
        builder.build_for(length, start)
    return Chain(tuple(builder.points), builder.is_complete)


class _Builder:
    """Add one node after the other."""

    def __init__(
        self, checker: Checker, lattice: Lattice, clock: Clock, work: int | None = None
    ) -> None:
        self.points: list[tuple[int, CheckedNode]] = []
        self.is_complete = True
        self._known: dict[Node, CheckedNode] = {}
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
        for left in range(length - 1, 0, -1):
            if self._clock.is_over():
                # Perhaps there are more: nobody looked.
                self.is_complete = False
                return
            if not self._add(left):
                return

    def build_for(self, sizes: Sequence[int], start: Node | None) -> None:
        """Add a node for each class size, in ascending order, that none before reaches.

        One that nothing above the last node reaches, but for what tells nothing, is left out.
        """
        for k in sizes:
            if self._clock.is_over():
                self.is_complete = False
                return
            last = self.points[-1][1] if self.points else None
            if last is None:
                # What the first node of all may be is what the first of any chain may be.
                first = self._best(self._lattice, k, (), start if self._reaches(start, k) else None)
                self.points += [(k, first)] if first is not None else []
            elif last.k < k:
                excluded = tuple({last.node, self._empty or last.node})
                above = Lattice(last.node, self._lattice.highest)
                known = self._known_above(last.node, k, excluded)
                found = self._best(above, k, excluded, known)
                self.points += [(k, found)] if found is not None else []

    def _reaches(self, node: Node | None, k: int) -> bool:
        return node is not None and self._checker.check(node, k).result.is_feasible

    def _add(self, left: int) -> bool:
        """Add a node above the last one, where ``left`` are still to be added."""
        last = self.points[-1][1]
        excluded = tuple({last.node, self._empty or last.node})
        largest = self._largest_k(last.node, excluded)
        if largest <= last.k:
            return False
        spaced = math.ceil(last.k * (largest / last.k) ** (1.0 / left))
        above = Lattice(last.node, self._lattice.highest)
        # The other guarantees may not hold at the spaced class size, but at a smaller one.
        for k in sorted({min(max(spaced, last.k + 1), largest), last.k + 1}, reverse=True):
            found = self._best(above, k, excluded, self._known_above(last.node, k, excluded))
            if found is not None:
                self.points.append((k, found))
                return True
        return False

    def _known_above(self, node: Node, k: int, excluded: tuple[Node, ...]) -> Node | None:
        """Return the best known node above another that reaches this k."""
        known = (
            found
            for found in self._known.values()
            if found.k >= k
            and found.node not in excluded
            and all(map(operator.ge, found.node, node))
        )
        best = min(known, key=lambda found: found.loss, default=None)
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
            most = checks_for(self._work, self._checker.table, lattice)
            good = descend(self._checker, lattice, k, excluded, most)
            if good is not None:
                state.start(good.node)
            end = self._checker.checked + most
            self._clock.is_spent = lambda: self._checker.checked >= end
        best = state.run(self._clock)
        self._clock.is_spent = lambda: False
        self._known |= {found.node: found for found in state.found.values() if found.is_feasible}
        self.is_complete = self.is_complete and state.is_complete
        return best

    def _largest_k(self, node: Node, excluded: tuple[Node, ...]) -> int:
        """Return the largest class size that any node above can reach, as far as size matters.

        Finer nodes split the classes of coarser ones: the coarsest ones not excluded are enough.
        """
        highest = self._lattice.highest
        nodes = [highest]
        if highest in excluded:
            nodes = [
                (*highest[:axis], top - 1, *highest[axis + 1 :])
                for axis, top in enumerate(highest)
                if top > node[axis]
            ]
        return max((self._reached(n) for n in nodes if n not in excluded), default=0)

    def _reached(self, node: Node) -> int:
        """Return the size of the smallest class after suppressing as much as is allowed."""
        classes = self._checker.grouper.classes(node)
        order = np.argsort(classes.people, kind="stable")
        gone = np.cumsum(classes.records[order])
        # Classes of one size are suppressed together or not at all.
        kept = classes.people[order][gone > self._checker.most_suppressed]
        return int(kept.min()) if len(kept) else int(classes.people.max(initial=0))
