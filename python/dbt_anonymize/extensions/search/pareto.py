"""The Pareto front of class size and information loss."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dbt_anonymize.extensions.search.best_first import BestFirstSearch
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.enumerated import EnumeratedSearch
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.optimum import lattice_search
from dbt_anonymize.extensions.search.results import CheckedNode, ProgressCallback
from dbt_anonymize.information_loss.base import InformationLoss
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Table

Point = tuple[int, CheckedNode]


@dataclass(frozen=True)
class ParetoFront:
    """Nodes that lose the least for the class size they reach.

    ``points`` are the required class size, which the node reaches exactly, and the node; both class
    size and loss rise. ``is_complete``: every point is proven and none is missing.
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
    """Find, for every class size from the guaranteed one on, the node that loses the least.

    Empty where no node is feasible; releases without any record are left out. Arguments are those
    of ``optimum.search``.
    """
    lattice = Lattice.of(table)
    clock = Clock(time_limit, progress)
    checker = Checker(table, guarantees, loss, suppression_limit, lattice.lowest, must_release=True)
    state = lattice_search(checker, lattice, guarantees.min_class_size)
    found: list[CheckedNode] = []
    best = state.run(clock)
    while best is not None and state.is_complete:
        found.append(best)
        k = _next_k(state, best, loss)
        if isinstance(state, EnumeratedSearch):
            state.require(k)
        else:
            state = lattice_search(checker, lattice, k)
        best = state.run(clock)
    if best is not None:
        # Out of time: the best so far.
        found.append(best)
    return ParetoFront(_non_dominated(found), state.is_complete)


def _next_k(
    state: EnumeratedSearch | BestFirstSearch, best: CheckedNode, loss: InformationLoss
) -> int:
    """Return the next class size that may change the optimum.

    Up to the class size that the optimum reaches nothing changes, unless another node loses less
    when more of it is suppressed.
    """
    if loss.is_monotone_in_suppression:
        return best.k + 1
    return min(found.k for found in state.found.values() if found.is_feasible) + 1


def _non_dominated(found: list[CheckedNode]) -> tuple[Point, ...]:
    points: list[Point] = []
    for node in sorted(found, key=lambda node: -node.k):
        if not points or node.loss < points[-1][1].loss:
            points.append((node.k, node))
    return tuple(reversed(points))
