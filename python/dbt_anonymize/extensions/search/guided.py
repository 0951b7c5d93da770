"""Guided measure: the loss of differences between records that models predict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.losses.base import InformationLoss, TableSums, of_levels
from dbt_anonymize.extensions.search.measure_names import GUIDED
from dbt_anonymize.privacy.grouping import column_sums, distinct_codes
from dbt_anonymize.privacy.table import Classes, Table

# Sums in another order differ by less.
_NOTHING = 1e-9


class Guided(InformationLoss):
    """Share of the variance of predictions that is lost within classes.

    A model trained on original records predicts a value for each record. Classes reveal only their
    mean predictions: the variance within a class is lost, and for a suppressed record its whole
    deviation from the mean of all. 0 if classes keep all differences, 1 if they keep none; several
    targets and models give the mean. ``gs`` weighs the loss within classes against suppression.
    """

    name = GUIDED
    is_bounded_by_classes = True

    def __init__(self, *, gs: float = 0.5) -> None:
        super().__init__(gs=gs)
        self._spread: tuple[Classes, Spread] | None = None
        self._finest: tuple[TableSums, list[Floats]] | None = None

    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float:
        spread = self._spread_of(classes)
        within = float(spread.within.sum(where=~suppressed))
        gone = float(spread.squares.sum(where=suppressed))
        return self.generalization_factor * within + self.suppression_factor * gone

    def _spread_of(self, classes: Classes) -> Spread:
        """Return the spread of predictions, cached for the loss and the bounds of a node."""
        if self._spread is None or self._spread[0] is not classes:
            self._spread = classes, Spread.of(classes)
        return self._spread[1]

    def _lower_bounds(self, sums: TableSums, levels: Ints) -> Floats:
        # Nodes lose no less than with all other attributes at their lowest levels.
        if self._finest is None or self._finest[0] is not sums:
            self._finest = sums, _least_within(sums.table)
        return _with_tolerance(
            self._cheapest * of_levels(self._finest[1], levels).max(axis=1, initial=0.0)
        )

    def _coarser_bound(self, sums: TableSums, classes: Classes, size: int) -> float:
        # Merging classes only adds variance within them.
        within = self._cheapest * float(self._spread_of(classes).within.sum())
        return float(_with_tolerance(within))

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: Bools, size: int
    ) -> float:
        # The bounds of finer classes count these records no higher.
        spread = self._spread_of(classes)
        counted = self._cheapest * float(spread.within.sum(where=suppressed))
        gone = self.suppression_factor * float(spread.squares.sum(where=suppressed))
        return float(_with_tolerance(gone - counted))

    @property
    def _cheapest(self) -> float:
        """Least factor of the variance within a class, released or not."""
        return min(self.generalization_factor, self.suppression_factor)


@dataclass(frozen=True)
class Spread:
    """Sums of squared predictions, and of squared deviations, of each class (classes,)."""

    squares: Floats
    within: Floats

    @classmethod
    def of(cls, classes: Classes) -> Spread:
        """Compute both; a `SearchError` where nothing was predicted."""
        if classes.predictions is None:
            raise SearchError(
                f"{GUIDED} as measure of a search must have predictions of the records; the table "
                "has none. Choose another measure."
            )
        return cls(classes.predictions[:, 1], _within(classes.predictions))


def _within(sums: Floats) -> Floats:
    """Return the squared deviations from the mean of each row of sums."""
    records, squares, totals = sums[:, 0], sums[:, 1], sums[:, 2:]
    explained = (totals**2).sum(axis=1) / np.maximum(records, 1.0)
    within: Floats = np.maximum(squares - explained, 0.0)
    return within


def _least_within(table: Table) -> list[Floats]:
    """Return the loss of each level of each attribute with all others at their lowest."""
    if table.predictions is None:
        return [np.zeros(attribute.height + 1) for attribute in table.attributes]
    rows = np.flatnonzero(table.predictions[:, 0])
    sums = table.predictions[rows]
    lowest = [
        attribute.levels[attribute.lowest][table.leaves[rows, place]]
        for place, attribute in enumerate(table.attributes)
    ]
    losses = []
    for place, attribute in enumerate(table.attributes):
        others = distinct_codes([*lowest[:place], *lowest[place + 1 :]], len(rows))
        losses_of_attribute = np.zeros(attribute.height + 1)
        for level in range(attribute.lowest, attribute.top + 1):
            labels = attribute.levels[level][table.leaves[rows, place]]
            groups = distinct_codes([others, labels], len(rows))
            count = int(groups.max(initial=-1)) + 1
            losses_of_attribute[level] = _within(column_sums(groups, sums, count)).sum()
        losses.append(losses_of_attribute)
    return losses


def _with_tolerance(bounds: Floats | float) -> Floats:
    """Return bounds that hold for any order of summation."""
    lowered: Floats = np.maximum(bounds - _NOTHING, 0.0)
    return lowered
