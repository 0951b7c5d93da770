"""Measures that are a weighted aggregate of losses per quasi-identifier."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from dbt_anonymize.arrays import Bools, Floats
from dbt_anonymize.extensions.search.losses.base import InformationLoss, TableSums
from dbt_anonymize.extensions.search.losses.suppressed import Suppressed, bounds_by_level
from dbt_anonymize.privacy.aggregates import AGGREGATES
from dbt_anonymize.privacy.table import Classes, Node, Table

# ARX rounds the loss of an attribute down to this many parts of 1.
_PARTS = 1e10
# A loss that is summed in another order may be rounded down one step further.
ONE_STEP = 1.01e-10


class PerAttribute(InformationLoss):
    """A measure with one loss per quasi-identifier."""

    default_aggregate: str
    has_attribute_bounds = True

    def __init__(self, *, gs: float = 0.5, aggregate: str | None = None) -> None:
        super().__init__(gs=gs)
        self.aggregate = aggregate or self.default_aggregate

    @abstractmethod
    def _attribute_loss(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        """Return the loss of one quasi-identifier at a level, before weights."""

    def _bound(self, loss: float, gone: Suppressed) -> float:
        """Return a lower bound of the loss of an attribute for any further suppression."""
        return loss

    def _bound_at(self, sums: TableSums, gone: Suppressed, position: int, level: int) -> float:
        return self._bound(self._attribute_loss(sums, gone, position, level), gone)

    def per_attribute(self, table: Table, classes: Classes, suppressed: Bools) -> Floats:
        """Return the loss of each quasi-identifier, before weights, for a table with records."""
        sums = self.sums(table)
        gone = Suppressed(sums, suppressed, classes)
        losses = [self._attribute_loss(sums, gone, *at) for at in enumerate(classes.levels)]
        return np.array(losses)

    def attribute_bounds(
        self, table: Table, suppressed: Bools | None = None, highest: Node | None = None
    ) -> tuple[Floats, ...]:
        """Return lower bounds of the loss of each quasi-identifier, one per level."""
        sums = self.sums(table)
        return bounds_by_level(
            sums, suppressed, highest, lambda gone, *at: self._bound_at(sums, gone, *at)
        )

    def combine(self, losses: Floats) -> Floats:
        """Combine losses (nodes, attributes) into one per node."""
        if self._sums is None:
            raise ValueError("combine needs the weights of a table: ask for its bounds first")
        return AGGREGATES[self.aggregate](losses, self._sums.weights)

    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float:
        losses = self.per_attribute(sums.table, classes, suppressed)
        return float(AGGREGATES[self.aggregate](losses, sums.weights))


def rounded_down(loss: float) -> float:
    """Cut off after ten decimals, as ARX does, so that rounding alone makes no difference."""
    return math.floor(loss * _PARTS) / _PARTS
