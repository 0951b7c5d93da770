"""Local recoding: generalize again, at other levels, the records that one node would suppress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from dbt_anonymize.arrays import Bools
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.recoding.judging import select_rows
from dbt_anonymize.extensions.recoding.local import protected_rows
from dbt_anonymize.extensions.search.clock import Clock
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.losses.base import InformationLoss
from dbt_anonymize.extensions.search.losses.measures.loss import Loss
from dbt_anonymize.extensions.search.losses.measures.precision import Precision
from dbt_anonymize.extensions.search.losses.per_attribute import PerAttribute
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.results import ProgressCallback
from dbt_anonymize.privacy.grouping import classes_of
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Node, Table

# At most fifty rounds. The share in ARX is of the remaining records, and gives hundreds of rounds.
SMALLEST_SHARE = Decimal("0.02")

# Most checks of a round by measures over classes, from the best node by the loss on: whole lattices
# take minutes. Measures per attribute have sharp bounds and no limit.
CHECKS_OF_A_ROUND = 50


@dataclass(frozen=True)
class Round:
    """The node of a round, and a mask of the rows of the whole table that it releases."""

    node: Node
    rows: Bools


def find_rounds(
    table: Table,
    guarantees: Guarantees,
    loss: InformationLoss,
    *,
    first: Node | None = None,
    smallest_share: Decimal = SMALLEST_SHARE,
    time_limit: float | None = None,
    progress: ProgressCallback | None = None,
) -> list[Round]:
    """Find levels for one part of the records after the other until none remains.

    Each round searches the node of least loss for the remaining records, of which it may suppress
    all but ``smallest_share`` of the table; ``first`` is the node of the first round. Classes that
    keep every guarantee about classes are released, the others go to the next round; guarantees
    about the whole release suppress later. If the rest cannot be released by itself, rounds are
    undone from the last one on until one node releases their records and the rest.

    ``guarantees`` are compiled for this table, so that distances refer to all records. A low
    generalization/suppression factor of ``loss`` (ARX: 0 to 0.05) makes suppression cheap, so that
    rounds release a few records with little generalization; with 0.5 the first releases nearly all.
    ``time_limit`` (seconds) ends searches early: rounds may then lose more. So does
    `CHECKS_OF_A_ROUND` by measures over classes.

    Together rounds release all records, unless not even the coarsest node keeps the guarantees;
    then records remain, or the list is empty.

    References
    ----------
    .. [1] Prasser, Kohlmayer and Kuhn 2016, and ARX's `optimizeIterativeFast`.
    """
    check_population(table)
    # Class rules hold for the classes of all rounds; release rules need the whole release.
    guarantees = replace(guarantees, release_rules=[])
    clock = Clock(time_limit)

    def best_node(rows: Bools, limit: Decimal) -> Node | None:
        optimum = search(
            *(select_rows(table, rows), guarantees, loss, limit),
            time_limit=clock.remaining(),
            most_checks=None if isinstance(loss, PerAttribute) else CHECKS_OF_A_ROUND,
            progress=progress,
        ).optimum
        return None if optimum is None else optimum.node

    rounds: list[Round] = []
    remaining = table.records > 0
    while remaining.any():
        node = None if rounds else first
        node = node or best_node(remaining, _limit(table, remaining, smallest_share))
        released_rows = (
            remaining if node is None else _released_rows(table, remaining, guarantees, node)
        )
        if node is None or not released_rows.any():
            break
        rounds.append(Round(node, released_rows))
        remaining = remaining & ~released_rows
    return _complete(table, guarantees, rounds, remaining, best_node) if remaining.any() else rounds


def check_population(table: Table) -> None:
    """Raise a `SearchError` where a population is declared."""
    if table.population is not None:
        raise SearchError(
            "local recoding must have a table without a population, since nobody outside the "
            "source has a record in it; got one. Search full-domain efforts instead."
        )


def measure_rounds(
    table: Table, guarantees: Guarantees, loss: InformationLoss, nodes: Sequence[Node]
) -> tuple[int, float | None]:
    """Return the records that rounds of local recoding suppress, and their loss.

    ``nodes`` are the levels of each round. Suppressed are the records that no round releases, and
    the smallest classes by guarantees about the whole release: an upper bound, since equal classes
    of several rounds join. The loss is None for a measure over classes, or if guarantees about the
    whole release suppress records.
    """
    parts: list[tuple[Node, Bools, bool]] = []
    remaining = table.records > 0
    for node in nodes:
        released = _released_rows(table, remaining, guarantees, node)
        parts.append((node, released, False))
        remaining = remaining & ~released
    # The remaining records are suppressed at the levels of the last round.
    parts.append((nodes[-1], remaining, True))
    left_over = int(table.records[remaining].sum())
    small = _suppressed_by_release_rules(table, guarantees, parts[:-1])
    return left_over + small, None if small else _loss_of_parts(table, loss, parts)


def _suppressed_by_release_rules(
    table: Table, guarantees: Guarantees, parts: Sequence[tuple[Node, Bools, bool]]
) -> int:
    """Count the records that guarantees about the whole release suppress."""
    if not guarantees.release_rules:
        return 0
    released = [classes_of(select_rows(table, rows), node) for node, rows, _ in parts if rows.any()]
    people = np.concatenate([classes.people for classes in released])
    records = np.concatenate([classes.records for classes in released])
    order = np.argsort(people, kind="stable")
    return int(records[order][: guarantees.first_released(people[order])].sum())


def _loss_of_parts(
    table: Table, loss: InformationLoss, parts: Sequence[tuple[Node, Bools, bool]]
) -> float | None:
    """Combine the losses of parts of a table: node, rows, and True if these are suppressed."""
    if not isinstance(loss, (Guided, Loss, Precision)):
        return None
    losses = np.zeros(1 if isinstance(loss, Guided) else len(table.attributes))
    for node, rows, is_suppressed in parts:
        if rows.any():
            part = select_rows(table, rows)
            classes = classes_of(part, node)
            suppressed = np.full(len(classes.records), is_suppressed)
            if isinstance(loss, Guided):
                # The sum is an upper bound, since equal classes may join.
                losses += loss.loss(part, classes, suppressed)
            else:
                # Each loss is a mean over the records of its part.
                losses += loss.per_attribute(part, classes, suppressed) * part.total / table.total
    return float(losses[0] if isinstance(loss, Guided) else loss.combine(losses[np.newaxis])[0])


def _complete(
    table: Table,
    guarantees: Guarantees,
    rounds: list[Round],
    remaining: Bools,
    best_node: Callable[[Bools, Decimal], Node | None],
) -> list[Round]:
    """Return rounds that release all records, or the rounds unchanged if that is impossible."""
    for complete_rounds in range(len(rounds) - 1, -1, -1):
        remaining = remaining | rounds[complete_rounds].rows
        node = best_node(remaining, Decimal(0))
        # A search without enough time may return None.
        for candidate in (node, tuple(attribute.top for attribute in table.attributes)):
            if candidate is None:
                continue
            released = _released_rows(table, remaining, guarantees, candidate)
            if bool((released == remaining).all()):
                return [*rounds[:complete_rounds], Round(candidate, released)]
    return rounds


def _limit(table: Table, remaining: Bools, smallest_share: Decimal) -> Decimal:
    remaining_share = Decimal(int(table.records[remaining].sum())) / table.total
    return max(Decimal(0), 1 - smallest_share / remaining_share)


def _released_rows(table: Table, rows: Bools, guarantees: Guarantees, node: Node) -> Bools:
    """Return a mask of the rows in released classes of some rows alone."""
    released = np.zeros(len(rows), dtype=np.bool_)
    released[rows] = protected_rows(table, np.flatnonzero(rows), guarantees, node)
    return released
