"""Guided measure: how much of what models tell apart about records is lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.information_loss.base import InformationLoss, TableSums, of_levels
from dbt_anonymize.information_loss.names import GUIDED
from dbt_anonymize.privacy.grouping import column_sums, distinct_codes
from dbt_anonymize.privacy.table import BoolArray, Classes, FloatArray, IntArray, Table

# Sums in another order differ by less.
_NOTHING = 1e-9


class Guided(InformationLoss):
    """Share of the variance of predictions that is lost within classes.

    A model that was trained on original records predicts something about each record. Whoever sees
    classes alone can tell apart only their means: what varies within a class is lost, of a
    suppressed record everything that sets it apart from the mean of all. 0 where classes keep all
    that models tell apart, 1 where they keep nothing; of several targets and models it is the mean.
    ``gs`` weighs what is lost within classes against what is suppressed.
    """

    name = GUIDED
    is_bounded_by_classes = True

    def __init__(self, *, gs: float = 0.5) -> None:
        super().__init__(gs=gs)
        self._spread: tuple[Classes, Spread] | None = None
        self._finest: tuple[TableSums, list[FloatArray]] | None = None

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        spread = self._of(classes)
        within = float(spread.within.sum(where=~suppressed))
        gone = float(spread.squares.sum(where=suppressed))
        return self.generalization_factor * within + self.suppression_factor * gone

    def _of(self, classes: Classes) -> Spread:
        """Return how predictions vary in classes; loss and bound of a node share it."""
        if self._spread is None or self._spread[0] is not classes:
            self._spread = classes, Spread.of(classes)
        return self._spread[1]

    def _lower_bounds(self, sums: TableSums, levels: IntArray) -> FloatArray:
        # With the other attributes as fine as can be, nothing coarser loses less.
        if self._finest is None or self._finest[0] is not sums:
            self._finest = sums, _least_within(sums.table)
        return _less(self._cheapest * of_levels(self._finest[1], levels).max(axis=1, initial=0.0))

    def _coarser_bound(self, sums: TableSums, classes: Classes, size: int) -> float:
        # Merging classes only adds to what varies within them.
        within = self._cheapest * float(self._of(classes).within.sum())
        return float(_less(within))

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: BoolArray, size: int
    ) -> float:
        # The bounds of finer classes count no more than this of the same records.
        spread = self._of(classes)
        counted = self._cheapest * float(spread.within.sum(where=suppressed))
        gone = self.suppression_factor * float(spread.squares.sum(where=suppressed))
        return float(_less(gone - counted))

    @property
    def _cheapest(self) -> float:
        """Least cost of all that is lost within a class, released or not."""
        return min(self.generalization_factor, self.suppression_factor)


@dataclass(frozen=True)
class Spread:
    """Of the predictions in each class (classes,): their squares, and those of deviations."""

    squares: FloatArray
    within: FloatArray

    @classmethod
    def of(cls, classes: Classes) -> Spread:
        """Compute both; a `SearchError` where nothing was predicted."""
        if classes.predictions is None:
            raise SearchError(
                f"{GUIDED} as measure of a search must have predictions of the records; the table "
                "has none. Choose another measure."
            )
        return cls(classes.predictions[:, 1], _within(classes.predictions))


def _within(sums: FloatArray) -> FloatArray:
    """Return the squared deviations from the mean of each row of sums."""
    records, squares, totals = sums[:, 0], sums[:, 1], sums[:, 2:]
    explained = (totals**2).sum(axis=1) / np.maximum(records, 1.0)
    within: FloatArray = np.maximum(squares - explained, 0.0)
    return within


def _least_within(table: Table) -> list[FloatArray]:
    """Return what is lost at each level of an attribute where all others are at their lowest."""
    if table.predictions is None:
        return [np.zeros(attribute.height + 1) for attribute in table.attributes]
    rows = np.flatnonzero(table.predictions[:, 0])
    sums = table.predictions[rows]
    lowest = [
        attribute.levels[attribute.lowest][table.leaves[rows, place]]
        for place, attribute in enumerate(table.attributes)
    ]
    found = []
    for place, attribute in enumerate(table.attributes):
        others = distinct_codes([*lowest[:place], *lowest[place + 1 :]], len(rows))
        of_level = np.zeros(attribute.height + 1)
        for level in range(attribute.lowest, attribute.top + 1):
            labels = attribute.levels[level][table.leaves[rows, place]]
            groups = distinct_codes([others, labels], len(rows))
            count = int(groups.max(initial=-1)) + 1
            of_level[level] = _within(column_sums(groups, sums, count)).sum()
        found.append(of_level)
    return found


def _less(bounds: FloatArray | float) -> FloatArray:
    """Return bounds that hold whatever the order in which losses are added up."""
    found: FloatArray = np.maximum(bounds - _NOTHING, 0.0)
    return found
