"""The Pareto front of class size and information loss."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dbt_anonymize.information_loss.registry import InformationLoss
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Table
from dbt_anonymize.search.best_first import BestFirstSearch
from dbt_anonymize.search.checking import Checker
from dbt_anonymize.search.clock import Clock
from dbt_anonymize.search.enumerated import EnumeratedSearch
from dbt_anonymize.search.lattice import Lattice
from dbt_anonymize.search.optimum import MOST_ENUMERATED, check_limit
from dbt_anonymize.search.results import CheckedNode, ProgressCallback

Point = tuple[int, CheckedNode]


@dataclass(frozen=True)
class ParetoFront:
    """Nodes that lose the least for the class size they reach.

    Attributes
    ----------
    points : tuple of (int, CheckedNode)
        Required class size, which the node reaches exactly, and node; both the class size and the
        loss rise from one point to the next.
    is_complete : bool
        Whether every point is proven and none is missing.
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
    """Find, for every class size, the node that loses the least.

    Parameters
    ----------
    table, guarantees, loss, suppression_limit, time_limit, progress
        As for `dbt_anonymize.search.optimum.search`. The guarantees hold at every point; the class
        size k rises from the one they ask for.

    Returns
    -------
    ParetoFront
        Empty where no node is feasible. Releases without any record are left out.
    """
    check_limit(suppression_limit)
    lattice = Lattice.of(table)
    clock = Clock(time_limit, progress)
    checker = Checker(table, guarantees, loss, suppression_limit, lattice.lowest, must_release=True)
    state = _state(checker, lattice, guarantees.min_class_size)
    found: list[CheckedNode] = []
    best = state.run(clock)
    while best is not None and state.is_complete:
        found.append(best)
        k = _next_k(state, best, loss)
        if isinstance(state, EnumeratedSearch):
            state.require(k)
        else:
            state = _state(checker, lattice, k)
        best = state.run(clock)
    if best is not None:
        # Out of time: the best so far.
        found.append(best)
    return ParetoFront(_non_dominated(found), state.is_complete)


def _state(checker: Checker, lattice: Lattice, k: int) -> EnumeratedSearch | BestFirstSearch:
    if lattice.size > MOST_ENUMERATED:
        return BestFirstSearch(checker, lattice, k=k)
    return EnumeratedSearch(checker, lattice, k=k)


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
