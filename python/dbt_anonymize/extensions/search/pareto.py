"""The Pareto front of class size and information loss."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dbt_anonymize.extensions.search.best_first import BestFirstSearch
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.enumerated import EnumeratedSearch
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.optimum import lattice_search
from dbt_anonymize.extensions.search.results import CheckedNode, ProgressCallback
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Table

Point = tuple[int, CheckedNode]


@dataclass(frozen=True)
class ParetoFront:
    """Nodes of least loss for the class size that they reach.

    ``points`` are class sizes and nodes; both class size and loss rise. ``is_complete``: every
    point is proven and none is missing.
    """

    points: tuple[Point, ...]
    is_complete: bool


def pareto_front(
    table: Table,
    guarantees: Guarantees,
    loss: InformationLoss,
    suppression_limit: Decimal,
    *,
    time_limit: float | None = None,
    progress: ProgressCallback | None = None,
) -> ParetoFront:
    """Find the node of least loss for every class size from the guaranteed one on.

    The front is empty if no node is feasible; a released node has records. Arguments are those of
    ``optimum.search``.
    """
    lattice = Lattice.of(table)
    clock = Clock(time_limit, progress)
    checker = Checker(table, guarantees, loss, suppression_limit, must_release=True)
    state = lattice_search(checker, lattice, guarantees.min_class_size)
    optima: list[CheckedNode] = []
    best = state.run(clock)
    while best is not None and state.is_complete:
        optima.append(best)
        k = _next_k(state, best, loss)
        if isinstance(state, EnumeratedSearch):
            state.require(k)
        else:
            state = lattice_search(checker, lattice, k)
        best = state.run(clock)
    if best is not None:
        # The best node so far when time ran out.
        optima.append(best)
    return ParetoFront(_non_dominated(optima), state.is_complete)


def _next_k(
    state: EnumeratedSearch | BestFirstSearch, best: CheckedNode, loss: InformationLoss
) -> int:
    """Return the next class size that may change the optimum.

    Up to the class size of the optimum nothing changes, unless another node loses less with more
    suppression.
    """
    if loss.is_monotone_in_suppression:
        return best.k + 1
    return min(node.k for node in state.checked_nodes.values() if node.is_feasible) + 1


def _non_dominated(nodes: list[CheckedNode]) -> tuple[Point, ...]:
    points: list[Point] = []
    for node in sorted(nodes, key=lambda node: -node.k):
        if not points or node.loss < points[-1][1].loss:
            points.append((node.k, node))
    return tuple(reversed(points))
