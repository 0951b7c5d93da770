"""Local recoding: generalize again, at other levels, the records that one node would suppress."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.recoding.local import protected_rows
from dbt_anonymize.extensions.search.guided import Guided
from dbt_anonymize.extensions.search.optimum import search
from dbt_anonymize.extensions.search.results import ProgressCallback
from dbt_anonymize.information_loss.base import InformationLoss
from dbt_anonymize.information_loss.measures.loss import Loss
from dbt_anonymize.information_loss.measures.precision import Precision
from dbt_anonymize.information_loss.per_attribute import PerAttribute
from dbt_anonymize.privacy.grouping import classes_of, part_of
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import BoolArray, Node, Table

# At most fifty rounds. ARX asks for a share of the records left, which makes hundreds of rounds.
SMALLEST_SHARE = Decimal("0.02")

# Of other measures than those of each attribute, which have sharp bounds, so many nodes are checked
# in a round, beginning with the one that is best by the loss: whole lattices take minutes.
CHECKS_OF_A_ROUND = 50


@dataclass(frozen=True)
class Round:
    """The node of a round, and which rows of the whole table it releases."""

    node: Node
    rows: BoolArray


def local_rounds(
    table: Table,
    guarantees: Guarantees,
    loss: InformationLoss,
    *,
    smallest_share: Decimal = SMALLEST_SHARE,
    time_limit: float | None = None,
    progress: ProgressCallback | None = None,
) -> list[tuple[Node, int]]:
    """Return levels and released records (> 0) of each round that `find_rounds` finds."""
    rounds = find_rounds(
        *(table, guarantees, loss),
        smallest_share=smallest_share,
        time_limit=time_limit,
        progress=progress,
    )
    return [(r.node, int(table.records[r.rows].sum())) for r in rounds]


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
    """Find levels for one part of the records after the other until none is left.

    Each round searches the node that loses the least for the records left, of which it may suppress
    all but ``smallest_share`` of the table; the node of the first one may be given. Classes that
    keep every guarantee about classes are released, the others are left to the next round;
    guarantees about the whole release suppress later. If the rest cannot be released by itself,
    rounds are taken back from the last one on until a node releases their records and the rest.

    ``guarantees`` are compiled for this table, so that distances refer to all records. A low
    generalization/suppression factor of ``loss`` (ARX: 0 to 0.05) makes suppression cheap, so that
    rounds release a few records with little generalization; with 0.5 the first releases nearly all.
    ``time_limit`` (seconds) ends searches early: rounds may then lose more. So do
    `CHECKS_OF_A_ROUND` by measures that depend on classes.

    Together rounds release all records, unless not even the coarsest node keeps the guarantees;
    then records are left, or the list is empty.

    References
    ----------
    .. [1] Prasser, Kohlmayer and Kuhn 2016, and ARX's `optimizeIterativeFast`.
    """
    check_population(table)
    # What holds for every class holds for the classes of all rounds; other rules are for the whole.
    guarantees = replace(guarantees, release_rules=[])
    best_node = _BestNode(table, guarantees, loss, time_limit, time.monotonic(), progress)
    rounds: list[Round] = []
    left = table.records > 0
    while left.any():
        given = None if rounds else first
        node = given or best_node(left, _limit(table, left, smallest_share))
        released = left if node is None else _released(table, left, guarantees, node)
        if node is None or not released.any():
            break
        rounds.append(Round(node, released))
        left = left & ~released
    return _completed(table, guarantees, rounds, left, best_node) if left.any() else rounds


def check_population(table: Table) -> None:
    """Raise a `SearchError` where a population is declared."""
    if table.population is not None:
        raise SearchError(
            "local recoding must have a table without a population, since nobody outside the "
            "source has a record in it; got one. Search full-domain efforts instead."
        )


@dataclass(frozen=True)
class _BestNode:
    """Search the best node for a part of the rows, of which a share may be suppressed."""

    table: Table
    guarantees: Guarantees
    loss: InformationLoss
    time_limit: float | None
    started: float
    progress: ProgressCallback | None

    def __call__(self, left: BoolArray, limit: Decimal) -> Node | None:
        remaining = None
        if self.time_limit is not None:
            remaining = max(0.0, self.time_limit - (time.monotonic() - self.started))
        found = search(
            part_of(self.table, left),
            self.guarantees,
            self.loss,
            limit,
            time_limit=remaining,
            most_checks=None if isinstance(self.loss, PerAttribute) else CHECKS_OF_A_ROUND,
            progress=self.progress,
        ).optimum
        return None if found is None else found.node


def measure_rounds(
    table: Table, guarantees: Guarantees, loss: InformationLoss, nodes: Sequence[Node]
) -> tuple[int, float | None]:
    """Return the records that rounds of local recoding suppress, and their loss.

    ``nodes`` are the levels of each round. Suppressed is what the last round leaves over, and the
    smallest classes that guarantees about the whole release ask for: an upper bound, since equal
    classes of several rounds join. The loss is None where the measure depends on classes, or the
    whole release asks for suppression.
    """
    parts: list[tuple[Node, BoolArray, bool]] = []
    left = table.records > 0
    for node in nodes:
        released = _released(table, left, guarantees, node)
        parts.append((node, released, False))
        left = left & ~released
    # What is left over is suppressed at the levels of the last round.
    parts.append((nodes[-1], left, True))
    left_over = int(table.records[left].sum())
    small = _in_classes_too_small(table, guarantees, parts[:-1])
    return left_over + small, None if small else _loss_of_parts(table, loss, parts)


def _in_classes_too_small(
    table: Table, guarantees: Guarantees, parts: Sequence[tuple[Node, BoolArray, bool]]
) -> int:
    """Count the records that guarantees about the whole release suppress."""
    if not guarantees.release_rules:
        return 0
    released = [classes_of(part_of(table, rows), node) for node, rows, _ in parts if rows.any()]
    people = np.concatenate([classes.people for classes in released])
    records = np.concatenate([classes.records for classes in released])
    order = np.argsort(people, kind="stable")
    return int(records[order][: guarantees.first_released(people[order])].sum())


def _loss_of_parts(
    table: Table, loss: InformationLoss, parts: Sequence[tuple[Node, BoolArray, bool]]
) -> float | None:
    """Combine the losses of parts of a table: node, rows, whether they are suppressed."""
    if isinstance(loss, Guided):
        return _added_up(table, loss, parts)
    if not isinstance(loss, (Loss, Precision)):
        return None
    measure: PerAttribute = loss
    losses = np.zeros(len(table.attributes))
    for node, rows, is_suppressed in parts:
        if rows.any():
            part = part_of(table, rows)
            classes = classes_of(part, node)
            suppressed = np.full(len(classes.records), is_suppressed)
            # Each loss is a mean over the records of its part.
            losses += measure.per_attribute(part, classes, suppressed) * part.total / table.total
    return float(measure.combine(losses[np.newaxis])[0])


def _added_up(table: Table, loss: Guided, parts: Sequence[tuple[Node, BoolArray, bool]]) -> float:
    """Add up what is lost within the classes of each part; equal classes of several may join."""
    lost = 0.0
    for node, rows, is_suppressed in parts:
        if rows.any():
            part = part_of(table, rows)
            classes = classes_of(part, node)
            lost += loss.loss(part, classes, np.full(len(classes.records), is_suppressed))
    return lost


def _completed(
    table: Table,
    guarantees: Guarantees,
    rounds: list[Round],
    left: BoolArray,
    best_node: Callable[[BoolArray, Decimal], Node | None],
) -> list[Round]:
    """Return rounds that release everything, or the rounds as they are if there are none."""
    for kept in range(len(rounds) - 1, -1, -1):
        left = left | rounds[kept].rows
        node = best_node(left, Decimal(0))
        # A search that ran out of time may have found none.
        for candidate in (node, tuple(attribute.top for attribute in table.attributes)):
            if candidate is None:
                continue
            released = _released(table, left, guarantees, candidate)
            if bool((released == left).all()):
                return [*rounds[:kept], Round(candidate, released)]
    return rounds


def _limit(table: Table, left: BoolArray, smallest_share: Decimal) -> Decimal:
    share_left = Decimal(int(table.records[left].sum())) / table.total
    return max(Decimal(0), 1 - smallest_share / share_left)


def _released(table: Table, rows: BoolArray, guarantees: Guarantees, node: Node) -> BoolArray:
    """Return which rows are in released classes, formed by some rows alone."""
    kept = np.zeros(len(rows), dtype=np.bool_)
    kept[rows] = protected_rows(table, np.flatnonzero(rows), guarantees, node)
    return kept
