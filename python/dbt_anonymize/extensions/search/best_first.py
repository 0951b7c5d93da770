"""Search of a lattice that is too large for arrays: best-first, from the coarsest node down."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

import numpy as np

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.leaders import Leaders
from dbt_anonymize.extensions.search.results import CheckedNode, Progress, Status, VisitedNodes
from dbt_anonymize.privacy.table import Node


class BestFirstSearch:
    """Expand the node that promises the least loss, beginning with the coarsest.

    A node that proves all finer ones infeasible is not expanded. With monotone guarantees all
    feasible nodes are connected through the coarsest node; with others, feasible and infeasible
    nodes are expanded. So an empty queue means a complete search. ``k`` is the minimum size of
    released classes; the guarantees may ask for more. The search finds the best ``leaders`` nodes.
    """

    def __init__(self, checker: Checker, lattice: Lattice, *, k: int = 0, leaders: int = 1):
        self.checker = checker
        self.lattice = lattice
        self.checked_nodes: dict[Node, CheckedNode] = {}
        self.leaders = Leaders(leaders)
        self.pruned: list[Node] = []
        self.is_complete = False
        self._k = k
        self._excluded: set[Node] = set()
        self._seen: set[Node] = {lattice.highest}
        self._queue: list[tuple[float, Node]] = [(-math.inf, lattice.highest)]
        # Number of queued nodes that are checked even without time.
        self._urgent = 1

    def exclude(self, node: Node) -> None:
        """Exclude exactly this node."""
        self._excluded.add(node)

    def start(self, node: Node) -> None:
        """Check a promising node first, even without time."""
        if node not in self._seen:
            self._seen.add(node)
            self._urgent += 1
            heapq.heappush(self._queue, (-math.inf, node))

    def run(self, clock: Clock) -> CheckedNode | None:
        """Return the feasible node with the least loss, or the best until the time is over.

        The coarsest node is checked even if there is no time at all.
        """
        while self._queue and (self._urgent > 0 or not (self.checked_nodes and clock.is_over())):
            bound, node = heapq.heappop(self._queue)
            self._urgent -= 1
            last = self.leaders.last
            if node in self._excluded or (last is not None and bound >= last.loss):
                # Finer nodes may still lose less.
                self.pruned.append(node)
                self._expand(node)
                continue
            check = self.checker.check(node, self._k)
            result = check.result
            self.checked_nodes[node] = result
            if result.is_feasible:
                self.leaders.add(result)
            if not check.proves_finer_infeasible:
                self._expand(node)
            clock.report(lambda: self.progress(self.leaders.best))
        self.is_complete = not self._queue
        clock.report(lambda: self.progress(self.leaders.best), is_last=True)
        return self.leaders.best

    def bound(self, best: CheckedNode | None) -> float:
        """Return a lower bound of the loss of feasible nodes; unvisited ones may be the finest."""
        least = math.inf if best is None else float(best.loss)
        if not self._queue:
            return least
        return min(self._lower_bounds([self.lattice.lowest])[0], least)

    def progress(self, best: CheckedNode | None) -> Progress:
        """Return the progress of the search."""
        settled = len(self.checked_nodes) + len(self.pruned)
        return Progress(len(self.checked_nodes), settled, self.lattice.size, best)

    def visited(self) -> VisitedNodes:
        """Return the checked nodes, and the excluded ones."""
        return VisitedNodes(
            tuple(self.checked_nodes.values()),
            np.array(self.pruned, dtype=np.int64).reshape(-1, len(self.lattice.shape)),
            np.full(len(self.pruned), Status.PRUNED, dtype=np.uint8),
        )

    def _expand(self, node: Node) -> None:
        finer = [
            finer_node
            for finer_node in self.lattice.just_finer(node)
            if finer_node not in self._seen
        ]
        self._seen.update(finer)
        if finer:
            for bound, finer_node in zip(self._lower_bounds(finer), finer, strict=True):
                heapq.heappush(self._queue, (bound, finer_node))

    def _lower_bounds(self, nodes: Sequence[Node]) -> list[float]:
        bounds = self.checker.loss.lower_bounds(self.checker.table, np.array(nodes))
        return [float(bound) for bound in bounds]
