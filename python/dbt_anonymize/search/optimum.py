"""Find the node of the generalization lattice that keeps every guarantee and loses the least."""

from __future__ import annotations

from decimal import Decimal

from dbt_anonymize.errors import SearchError
from dbt_anonymize.information_loss.registry import InformationLoss, Loss
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Table
from dbt_anonymize.search.best_first import BestFirstSearch
from dbt_anonymize.search.checking import Checker
from dbt_anonymize.search.clock import Clock
from dbt_anonymize.search.enumerated import EnumeratedSearch
from dbt_anonymize.search.lattice import Lattice
from dbt_anonymize.search.results import ProgressCallback, SearchResult

# Share of a time limit in which other measures look for a good node by the loss, which has sharp
# bounds: a search that ends early has that node at least.
_SHARE_OF_START = 0.3
# Beyond, the arrays of all nodes take longer than the nodes that can be checked.
MOST_ENUMERATED = 1_000_000


def search(
    table: Table,
    guarantees: Guarantees,
    loss: InformationLoss,
    suppression_limit: Decimal,
    *,
    time_limit: float | None = None,
    progress: ProgressCallback | None = None,
) -> SearchResult:
    """Find the feasible node with the least information loss.

    Parameters
    ----------
    table : Table
        Distinct rows with counts; its attributes bound the levels.
    guarantees : Guarantees
        Compiled for the table.
    loss : InformationLoss
        What is minimized.
    suppression_limit : Decimal
        Share of the records that may be suppressed, in [0, 1]; rounded down to whole records.
    time_limit : float, optional
        Seconds after which the best node so far is returned. With other measures than the loss,
        which are slower to find a good node, it is no worse than what the loss found in a part of
        them.
    progress : callable, optional
        Called with a `Progress` about ten times a second.

    Returns
    -------
    SearchResult
        With the global optimum where ``is_complete``. The same input gives the same node.
        Above a million nodes the search is best-first from the coarsest node down; it finds a
        feasible node at once where the coarsest is one, but may take long to prove the optimum.

    Raises
    ------
    SearchError
        If the limit or the level bounds are not as above.

    References
    ----------
    .. [1] Kohlmayer et al. 2012, Flash (predictive tagging and roll-up).
    """
    check_limit(suppression_limit)
    lattice = Lattice.of(table)
    clock = Clock(time_limit, progress)
    start = None
    if time_limit is not None and not isinstance(loss, Loss):
        first = search(
            table,
            guarantees,
            Loss(),
            suppression_limit,
            time_limit=time_limit * _SHARE_OF_START,
            progress=progress,
        )
        start = first.optimum
    checker = Checker(table, guarantees, loss, suppression_limit, lattice.lowest)
    state: EnumeratedSearch | BestFirstSearch
    if lattice.size > MOST_ENUMERATED:
        state = BestFirstSearch(checker, lattice)
    else:
        state = EnumeratedSearch(checker, lattice)
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
        elapsed=clock.elapsed,
    )


def check_limit(suppression_limit: Decimal) -> None:
    """Raise where the suppression limit is not a share."""
    if not 0 <= suppression_limit <= 1:
        raise SearchError(
            f"suppression_limit must be from 0 to 1; got {suppression_limit}. "
            "0.05 allows 5 % of the records to be suppressed."
        )
