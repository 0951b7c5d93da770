"""Find the optimum: the node of the lattice that keeps every guarantee and loses the least."""

from __future__ import annotations

from decimal import Decimal

from dbt_anonymize.extensions.search.best_first import BestFirstSearch
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.enumerated import EnumeratedSearch
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.losses.measures.loss import Loss
from dbt_anonymize.extensions.search.results import CheckedNode, ProgressCallback, SearchResult
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Table

# Share of a time limit in which searches by other measures first find a good node by the measure
# loss, which has sharp bounds, for the case that time runs out.
_SHARE_OF_START = 0.3
# Limit of these checks: enough to complete the search of nearly all lattices by the measure loss.
_CHECKS_OF_START = 20_000
# Beyond, arrays of all nodes take longer than checks.
MOST_ENUMERATED = 1_000_000
# Least work of a check in rows, and fewest checks for any amount of work.
_LEAST_OF_A_CHECK, _FEWEST_CHECKS = 5_000, 200


def search(
    table: Table,
    guarantees: Guarantees,
    loss: InformationLoss,
    suppression_limit: Decimal,
    *,
    time_limit: float | None = None,
    most_checks: int | None = None,
    progress: ProgressCallback | None = None,
) -> SearchResult:
    """Find the feasible node with the least information loss.

    The level bounds are those of the table's attributes; ``suppression_limit`` is a share of the
    records, 0 to 1, rounded down to whole records. Equal input gives the same node.

    After ``time_limit`` (seconds) or ``most_checks`` checked nodes the best node so far is
    returned; with a slow measure it is no worse than the node that the fast measure loss finds in a
    part of the limit. ``progress`` is called about ten times a second. Above a million nodes the
    search is best-first: it finds a feasible node at once if the coarsest is one, but may take long
    to prove the optimum.

    References
    ----------
    .. [1] Kohlmayer et al. 2012, Flash (predictive tagging and roll-up).
    """
    lattice = Lattice.of(table)
    clock = Clock(time_limit, progress)
    start = None
    if (time_limit, most_checks) != (None, None) and not isinstance(loss, Loss):
        first = search(
            table,
            guarantees,
            Loss(),
            suppression_limit,
            time_limit=None if time_limit is None else time_limit * _SHARE_OF_START,
            most_checks=None if most_checks is None else _CHECKS_OF_START,
            progress=progress,
        )
        start = first.optimum
    checker = Checker(table, guarantees, loss, suppression_limit)
    if most_checks is not None:
        clock.is_spent = lambda: checker.checked >= most_checks
    state = lattice_search(checker, lattice)
    if start is not None:
        state.start(start.node)
    optimum = state.run(clock)
    return SearchResult(
        optimum=optimum,
        visited=state.visited(),
        lattice_size=lattice.size,
        checked=checker.checked,
        is_complete=state.is_complete,
        bound=state.bound(optimum),
    )


def lattice_search(
    checker: Checker, lattice: Lattice, k: int = 0, leaders: int = 1
) -> EnumeratedSearch | BestFirstSearch:
    """Return the search that fits the size of a lattice, for the best ``leaders`` nodes."""
    kind = BestFirstSearch if lattice.size > MOST_ENUMERATED else EnumeratedSearch
    return kind(checker, lattice, k=k, leaders=leaders)


def checks_for(work: int, table: Table, lattice: Lattice) -> int:
    """Return the number of checks for an amount of work, the same on every machine.

    A check reads the distinct rows, and updates the arrays of all nodes.
    """
    nodes = lattice.size if lattice.size <= MOST_ENUMERATED else 0
    return max(_FEWEST_CHECKS, work // (_LEAST_OF_A_CHECK + len(table.records) + nodes))


def best_nodes(
    checker: Checker,
    lattice: Lattice,
    k: int,
    clock: Clock,
    count: int = 1,
    *,
    work: int | None = None,
) -> list[CheckedNode]:
    """Return the informative feasible nodes of least loss with class size k.

    ``work`` limits the search; see `checks_for`.
    """
    if work is not None:
        last_check = checker.checked + checks_for(work, checker.table, lattice)
        clock.is_spent = lambda: checker.checked >= last_check
    state = lattice_search(checker, lattice, k, leaders=count)
    root = lattice.root_of(checker.table)
    if root is not None and lattice.size > 1:
        state.exclude(root)
    state.run(clock)
    return state.leaders.nodes
