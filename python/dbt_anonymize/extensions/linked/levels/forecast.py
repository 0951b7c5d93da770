"""Forecast of what levels of linked tables lose, and lower bounds of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.linked.levels.coded import (
    Aim,
    CodedColumn,
    CodedTable,
    CodedTables,
    Node,
)
from dbt_anonymize.extensions.linked.suppression.kernel import (
    HIDDEN,
    LEFT_OUT,
    RAISED,
    Suppression,
)
from dbt_anonymize.extensions.linked.suppression.records import (
    LinkError,
    Links,
    combined_codes,
    lowest_of_groups,
)
from dbt_anonymize.extensions.linked.suppression.sensitive import Sensitive, sensitive_of
from dbt_anonymize.privacy.aggregates import AGGREGATES

# Levels of all tables.
Nodes = tuple[Node, ...]
# Subjects of whom all records are counted, and size of classes of which a part may do.
MOST_SUBJECTS, _LARGE = 10_000, 1_000


@dataclass(frozen=True)
class TableOutcome:
    """Shares of the records of a table that are raised, hidden and left out, and their loss."""

    raised: float
    hidden: float
    left_out: float
    loss: float


@dataclass(frozen=True)
class _Part:
    """The counted records of a table: their rows, subjects, weights, and what is beside them.

    ``scale`` times the weights are all records of released subjects. ``subject`` is a place among
    the counted subjects.
    """

    table: CodedTable
    rows: Ints
    subject: Ints
    parent: Ints
    weight: Floats
    scale: float
    rows_of_nobody: Ints
    _lost_beside: dict[tuple[int, int], float] = field(default_factory=dict)

    @property
    def of_nobody(self) -> int:
        """Number of records of subjects who are left out."""
        return len(self.rows_of_nobody)

    @property
    def records(self) -> int:
        """Number of all records."""
        return len(self.table.subject)

    def is_within_limit(self, lost: float) -> bool:
        """Tell whether so many records of released subjects may be lost."""
        table = self.table
        counted = lost + (1 - table.spared) * self.of_nobody
        return not self.records or counted / self.records <= table.most_lost

    def lost(self, is_lost: Bools) -> float:
        """Return how many records of released subjects are lost."""
        return float(self.weight[is_lost].sum()) * self.scale

    def shares(self, place: int, level: int) -> Floats:
        """Return the share that the label of each record covers, of a column at a level."""
        return self._shares_of(place, level, self.rows)

    def _shares_of(self, place: int, level: int, rows: Ints) -> Floats:
        column = self.columns[place]
        shares: Floats = column.shares[level][column.leaves[rows]]
        return shares

    @cached_property
    def columns(self) -> list[CodedColumn]:
        """The quasi-identifiers."""
        return [*self.table.columns.values()]

    def loss(self, place: int, level: int, costs: Floats, factors: tuple[float, float]) -> float:
        """Return the loss of a column at a level, of what each counted record costs in it.

        See ``information_loss/loss.sql``.
        """
        if (place, level) not in self._lost_beside:
            shares = self._shares_of(place, level, self.rows_of_nobody)
            self._lost_beside[place, level] = float(cost_if_lost(shares, factors).sum())
        least = factors[0] * self.records * self.columns[place].smallest
        added = float(self.weight @ costs) * self.scale + self._lost_beside[place, level]
        return max(added - least, 0.0) / (self.records - least) if least < self.records else 0.0


class Forecast:
    """Counts for subjects in classes of own values, -1 if left out: what levels lose.

    Of many subjects it counts some classes, of all sizes: classes are independent of each other,
    and small ones lose more. Of classes that are too large themselves some subjects are counted.
    """

    def __init__(self, tables: CodedTables, classes: Ints, aim: Aim) -> None:
        self.tables = tables
        self.aim = aim
        gs = aim.generalization_suppression_factor
        self._factors = min(1.0, 2.0 - 2.0 * gs), min(1.0, 2.0 * gs)
        weights = _weights(classes, aim, tables.sensitive)
        counted = np.flatnonzero(weights > 0)
        self.is_estimate = len(counted) < int((classes >= 0).sum())
        self._own = np.unique(classes[counted], return_inverse=True)[1].astype(np.int64)
        self._parts = self._read(classes, weights, counted)
        self._sensitive = self._read_sensitive(counted) if aim.diversity else None
        self._rare: dict[tuple[int, Node], Bools] = {}
        self._outcomes: dict[Nodes, list[TableOutcome] | None] = {}

    def _read(self, classes: Ints, weights: Floats, counted: Ints) -> list[_Part]:
        place = np.full(len(classes), -1)
        place[counted] = np.arange(len(counted))
        parts: list[_Part] = []
        # The place of each record among the counted ones of all tables.
        places: list[Ints] = []
        first = 0
        for table in self.tables.listed:
            of_record = weights[table.subject]
            is_counted = of_record > 0
            rows = np.flatnonzero(is_counted)
            weight = of_record[rows]
            of_nobody = np.flatnonzero(classes[table.subject] < 0)
            released, total = len(table.subject) - len(of_nobody), float(weight.sum())
            parent = np.full(len(rows), -1)
            if table.over >= 0:
                parent = places[table.over][table.parent[rows]]
            places.append(np.where(is_counted, first + np.cumsum(is_counted) - 1, -1))
            first += len(rows)
            subject, scale = place[table.subject[rows]], released / total if total else 1.0
            parts.append(_Part(table, rows, subject, parent, weight, scale, of_nobody))
        return parts

    def _read_sensitive(self, counted: Ints) -> Sensitive:
        """Return the sensitive values of counted subjects and their records."""
        everybody, nothing = np.arange(len(counted)), np.full(len(counted), -1)
        columns = [(everybody, nothing, codes[counted]) for codes in self.tables.sensitive]
        first = 0
        for part in self._parts:
            records = first + np.arange(len(part.rows))
            listed = part.table.sensitive
            columns += [(part.subject, records, codes[part.rows]) for codes in listed]
            first += len(part.rows)
        return sensitive_of(self.aim.diversity or 0, columns)

    def free_bounds(self, place: int) -> Floats:
        """Return the loss of each node of a table if none of its released records were lost.

        It is a lower bound, which rises with the levels.
        """
        part = self._parts[place]
        losses = [
            [self._free_loss(part, at, level) for level in range(height + 1)]
            for at, height in enumerate(part.table.heights)
        ]
        nodes = part.table.nodes
        return self._aggregated(
            np.array([[losses[at][level] for at, level in enumerate(node)] for node in nodes])
        )

    def _free_loss(self, part: _Part, place: int, level: int) -> float:
        costs = self._factors[0] * part.shares(place, level)
        return part.loss(place, level, costs, self._factors)

    def bound(self, place: int, node: Node) -> float:
        """Return a lower bound of the loss of a table at a node; infinite beyond its limit.

        A record whose labels fewer than k of its class have tells somebody. It is released one
        level up at best, and lost if its labels are rare there, too. The records that are lost so
        get fewer with the levels.
        """
        part = self._parts[place]
        above = part.table.above(node)
        is_rare, is_lost = self._is_rare(place, node), self._is_rare(place, above)
        if not part.is_within_limit(part.lost(is_lost)):
            return float("inf")
        losses = []
        for at, (level, next_level) in enumerate(zip(node, above, strict=True)):
            if_lost = cost_if_lost(part.shares(at, level), self._factors)
            raised = np.minimum(self._factors[0] * part.shares(at, next_level), if_lost)
            costs = np.where(is_rare, raised, self._factors[0] * part.shares(at, level))
            costs = np.where(is_lost, if_lost, costs)
            losses.append(part.loss(at, level, costs, self._factors))
        return float(self._aggregated(np.array(losses)))

    def _is_rare(self, place: int, node: Node) -> Bools:
        """Tell of each record whether fewer than k subjects of its class have its labels."""
        if (place, node) not in self._rare:
            part = self._parts[place]
            (value,) = part.table.values([node], part.rows)
            item = combined_codes(self._own[part.subject], value)
            held = item * len(self._own) + part.subject
            items = np.unique(held) // max(len(self._own), 1)
            self._rare[place, node] = np.bincount(items)[item] < self.aim.k
        return self._rare[place, node]

    def outcome(self, nodes: Nodes, most: float = np.inf) -> list[TableOutcome] | None:
        """Return what becomes of each table by suppression; None beyond a limit.

        None, too, once the sum of losses is ``most`` or more.
        """
        if nodes not in self._outcomes:
            status = self._suppressed(nodes, most)
            if status is None and most < np.inf:
                return None
            self._outcomes[nodes] = self._table_outcomes(nodes, status) if status else None
        return self._outcomes[nodes]

    def _suppressed(self, nodes: Nodes, most: float) -> list[Ints] | None:
        """Return the status of counted records by table; None as soon as it is hopeless."""
        sizes = [len(part.rows) for part in self._parts]
        ends = np.cumsum(sizes)[:-1]
        if not len(self._own):
            empty = [np.zeros(0, dtype=np.int64) for _ in self._parts]
            return empty if self._is_hopeful(nodes, empty, most) else None
        of_tables = zip(self._parts, nodes, strict=True)
        values = [p.table.values([node, p.table.above(node)], p.rows) for p, node in of_tables]
        links = Links(
            self._own,
            np.concatenate([part.subject for part in self._parts]),
            np.repeat(np.arange(len(sizes)), sizes),
            np.concatenate([value for value, _ in values]),
            np.concatenate([raised for _, raised in values]),
            np.concatenate([part.parent for part in self._parts]),
        )
        aim, can_rise = self.aim, links.can_be_raised
        try:
            suppression = Suppression(
                links,
                aim.k,
                aim.known_records,
                known_count=aim.known_count,
                sensitive=self._sensitive,
            )
            while suppression.step():
                # What is lost so far is lost in the end, or raised at best.
                is_open = can_rise & (suppression.status >= HIDDEN)
                status = np.where(is_open, RAISED, suppression.status)
                if not self._is_hopeful(nodes, np.split(status, ends), most):
                    return None
            suppression.run()
        except LinkError:  # a build could not count combinations or keep diversity either
            return None
        parts = np.split(suppression.status, ends)
        return parts if self._is_hopeful(nodes, parts, np.inf) else None

    def _is_hopeful(self, nodes: Nodes, status: Sequence[Ints], most: float) -> bool:
        of_tables = zip(self._parts, status, strict=True)
        if not all(part.is_within_limit(part.lost(s >= HIDDEN)) for part, s in of_tables):
            return False
        if most == np.inf:
            return True
        outcomes = self._table_outcomes(nodes, status, at_best=True)
        return sum(outcome.loss for outcome in outcomes) < most

    def _table_outcomes(
        self, nodes: Nodes, status: Sequence[Ints], *, at_best: bool = False
    ) -> list[TableOutcome]:
        """Return the outcome of each table; ``at_best`` raised records may be lost if that is less.

        So it is where suppression costs less than generalization.
        """
        outcomes = []
        for part, node, of_record in zip(self._parts, nodes, status, strict=True):
            above, records = part.table.above(node), max(part.records, 1)
            is_raised, is_lost = of_record == RAISED, of_record >= HIDDEN
            losses = []
            for at, (level, next_level) in enumerate(zip(node, above, strict=True)):
                shares = part.shares(at, level)
                released = np.where(is_raised, part.shares(at, next_level), shares)
                if_lost, costs = cost_if_lost(shares, self._factors), self._factors[0] * released
                is_cheaper = is_raised & (if_lost < costs) if at_best else False
                costs = np.where(is_lost | is_cheaper, if_lost, costs)
                losses.append(part.loss(at, level, costs, self._factors))
            left_out = part.lost(of_record == LEFT_OUT)
            outcomes.append(
                TableOutcome(
                    part.lost(is_raised) / records,
                    (part.lost(is_lost) - left_out) / records,
                    (left_out + part.of_nobody) / records,
                    float(self._aggregated(np.array(losses))),
                )
            )
        return outcomes

    def _aggregated(self, losses: Floats) -> Floats:
        return AGGREGATES[self.aim.aggregate](losses, np.ones(losses.shape[-1]))


def cost_if_lost(shares: Floats, factors: tuple[float, float]) -> Floats:
    """Return what records cost that are hidden or left out, by the factor of suppression."""
    costs: Floats = shares + factors[1] * (1.0 - shares)
    return costs


def _weights(classes: Ints, aim: Aim, sensitive: Sequence[Ints]) -> Floats:
    """Return how many subjects each stands for; 0 for those who are not counted."""
    is_released = classes >= 0
    number = int(is_released.sum())
    if number <= MOST_SUBJECTS:
        return is_released.astype(np.float64)
    sizes = np.bincount(classes[is_released])
    # Evenly from the smallest to the largest.
    step = -(-number // MOST_SUBJECTS)
    by_size = np.argsort(sizes, kind="stable")[::-1]
    by_size = by_size[sizes[by_size] > 0]
    drawn = by_size[step // 2 :: step] if len(by_size) > step // 2 else by_size[:1]
    most = np.zeros(len(sizes), dtype=np.int64)
    most[drawn] = max(MOST_SUBJECTS // len(drawn), _LARGE, aim.k)
    of_class = np.where(is_released, classes, len(sizes))
    by_class = np.lexsort((*sensitive, of_class))[:number]
    class_ = classes[by_class]
    # Of a class, evenly by own values.
    taken_of, size = np.minimum(most, sizes)[class_], sizes[class_]
    place_in_class = np.arange(number) - (sizes.cumsum() - sizes)[class_]
    taken = by_class[place_in_class * taken_of % size < taken_of]
    if aim.diversity:
        taken = _diverse(taken, classes, sensitive, aim.diversity)
    counted = np.bincount(classes[taken], minlength=len(sizes))
    weights = np.zeros(len(classes))
    weights[taken] = (sizes / np.maximum(counted, 1))[classes[taken]]
    return weights


def _diverse(taken: Ints, classes: Ints, sensitive: Sequence[Ints], diversity: int) -> Ints:
    """Return subjects without some whose own values a part of their class tells, by chance.

    No own value may be held by more than a share of 1 / ``diversity`` of a class.
    """
    is_told = True
    while is_told:
        is_told = False
        for codes in sensitive:
            class_ = classes[taken]
            pair = combined_codes(class_, codes[taken])
            excess = np.bincount(pair)[pair] * diversity - np.bincount(class_)[class_]
            # Each who goes is one holder less, and one of the class.
            most = np.maximum(-(-excess // (diversity - 1)), 0)
            gone = lowest_of_groups(np.arange(len(taken)), pair, np.zeros_like(pair), most)
            is_told |= len(gone) > 0
            taken = np.delete(taken, gone)
    return taken
