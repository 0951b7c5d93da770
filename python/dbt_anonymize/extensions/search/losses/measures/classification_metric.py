"""Classification metric: records outside the majority of their class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.errors import SearchError
from dbt_anonymize.extensions.search.losses.base import (
    SLIGHTLY_LESS,
    InformationLoss,
    TableSums,
    suppressed_records,
)
from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.grouping import DENSE
from dbt_anonymize.privacy.table import Classes, ValueCounts


@dataclass(frozen=True)
class Majority:
    """Majority of a target in each class (classes,): records, and those outside the majority.

    ``is_tied``: several values are the most frequent.
    """

    records: Floats
    outside: Floats
    is_tied: Bools

    @classmethod
    def of(cls, counts: ValueCounts, size: int) -> Majority:
        """Find the majority in each of ``size`` classes."""
        values = int(counts.values.max(initial=0)) + 1
        if values * size <= DENSE * len(counts.counts):
            return cls._of_cells(counts, size, values)
        distribution = Distribution(size, counts.classes, counts.values, counts.counts)
        largest = np.maximum(distribution.largest(distribution.counts), 0)
        winners = np.bincount(
            distribution.classes[distribution.counts == largest[distribution.classes]],
            minlength=size,
        )
        return cls(distribution.totals, distribution.totals - largest, winners > 1)

    @classmethod
    def _of_cells(cls, counts: ValueCounts, size: int, values: int) -> Majority:
        """Use dense counts by value and class, several times faster if most pairs occur."""
        cells = counts.values * size + counts.classes
        counts_of_cells = np.bincount(cells, weights=counts.counts, minlength=values * size)
        by_value: Floats = counts_of_cells.astype(np.float64, copy=False).reshape(values, size)
        records, largest = by_value.sum(axis=0), by_value.max(axis=0)
        is_tied = (np.count_nonzero(by_value == largest, axis=0) > 1) & (records > 0)
        return cls(records, records - largest, is_tied)


class ClassificationMetric(InformationLoss):
    """Share of the records whose target is not that of the majority of their class (Iyengar 2002).

    A record outside the majority of its class costs the generalization factor; one that is
    suppressed or in a tied class the suppression factor (a tie predicts nobody, as in ARX; Iyengar
    picks a value). In ARX a suppressed record costs ``gs``, by default half an error. Several
    targets give the weighted mean.
    """

    name = "classification_metric"

    needs_targets = True
    is_bounded_by_classes = True

    def __init__(self, *, gs: float = 0.5) -> None:
        super().__init__(gs=gs)
        self._cached_majorities: tuple[Classes, tuple[Majority, ...]] | None = None

    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float:
        gone = suppressed_records(classes, suppressed)
        costs = [self._cost(majority, suppressed, gone) for majority in self._majorities(classes)]
        return self._weighted(sums, costs) / self._largest_loss(sums)

    def _cost(self, majority: Majority, suppressed: Bools, gone: int) -> float:
        """Return the cost of records that are outside a majority, tied, or suppressed."""
        tied = float(majority.records.sum(where=majority.is_tied & ~suppressed))
        outside = float(majority.outside.sum(where=~(majority.is_tied | suppressed)))
        return self.generalization_factor * outside + self.suppression_factor * (tied + gone)

    def _majorities(self, classes: Classes) -> tuple[Majority, ...]:
        """Return the majorities of each target, cached for the loss and the bounds of a node."""
        if not classes.targets:
            raise SearchError(
                "classification_metric as measure of a search needs a target outside the "
                "quasi-identifiers; the table has none. Declare one, or choose another measure."
            )
        if self._cached_majorities is None or self._cached_majorities[0] is not classes:
            size = len(classes.records)
            self._cached_majorities = (
                classes,
                tuple(Majority.of(counts, size) for counts in classes.targets),
            )
        return self._cached_majorities[1]

    def _weighted(self, sums: TableSums, costs: Sequence[float]) -> float:
        """Return the mean of one cost per target, by weight."""
        weights = [weight for _, weight in sums.table.targets]
        whole = math.fsum(weights)
        return math.fsum(w / whole * cost for w, cost in zip(weights, costs, strict=True))

    def _largest_loss(self, sums: TableSums) -> float:
        return sums.total * max(self.generalization_factor, self.suppression_factor)

    def _lower_bounds(self, sums: TableSums, levels: Ints) -> Floats:
        return np.zeros(len(levels))

    def _least_per_suppressed(self, sums: TableSums) -> float:
        return self.suppression_factor / self._largest_loss(sums) * SLIGHTLY_LESS

    def _coarser_bound(self, sums: TableSums, classes: Classes, size: int) -> float:
        # Merging classes never reduces the records outside a majority.
        outside = [
            self._cheapest * float(majority.outside.sum()) for majority in self._majorities(classes)
        ]
        return self._weighted(sums, outside) / self._largest_loss(sums) * SLIGHTLY_LESS

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: Bools, size: int
    ) -> float:
        # In finer classes no more of these records are outside a majority.
        gone = self.suppression_factor * suppressed_records(classes, suppressed)
        increases = [
            gone - self._cheapest * float(majority.outside.sum(where=suppressed))
            for majority in self._majorities(classes)
        ]
        return self._weighted(sums, increases) / self._largest_loss(sums) * SLIGHTLY_LESS

    @property
    def _cheapest(self) -> float:
        """Return the least cost of a record outside the majority, released or not."""
        return min(self.generalization_factor, self.suppression_factor)
