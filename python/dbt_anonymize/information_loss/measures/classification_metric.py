"""Classification metric: records whose class misleads about the targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.information_loss.base import (
    SLIGHTLY_LESS,
    InformationLoss,
    TableSums,
    suppressed_records,
)
from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.grouping import DENSE
from dbt_anonymize.privacy.table import BoolArray, Classes, FloatArray, IntArray, ValueCounts


@dataclass(frozen=True)
class Majority:
    """Of a target in each class (classes,): its records, and those without the commonest value.

    ``is_tied``: several values are as common.
    """

    records: FloatArray
    outside: FloatArray
    is_tied: BoolArray

    @classmethod
    def of(cls, counts: ValueCounts, size: int) -> Majority:
        """Look for the majority in each of ``size`` classes."""
        values = int(counts.values.max(initial=0)) + 1
        if values * size <= DENSE * len(counts.counts):
            return cls._of_cells(counts, size, values)
        found = Distribution(size, counts.classes, counts.values, counts.counts)
        most = np.maximum(found.largest(found.counts), 0)
        winners = np.bincount(found.classes[found.counts == most[found.classes]], minlength=size)
        return cls(found.totals, found.totals - most, winners > 1)

    @classmethod
    def _of_cells(cls, counts: ValueCounts, size: int, values: int) -> Majority:
        """Do so with a count for each value and class, several times as fast where most occur."""
        cells = counts.values * size + counts.classes
        found = np.bincount(cells, weights=counts.counts, minlength=values * size)
        by_value: FloatArray = found.astype(np.float64, copy=False).reshape(values, size)
        records, most = by_value.sum(axis=0), by_value.max(axis=0)
        is_tied = (np.count_nonzero(by_value == most, axis=0) > 1) & (records > 0)
        return cls(records, records - most, is_tied)


class ClassificationMetric(InformationLoss):
    """Share of the records whose class does not tell their value of the target (Iyengar 2002).

    A record outside the majority of its class costs the generalization factor; one that is
    suppressed or in a tie, which predicts nobody (ARX alike; Iyengar picks a value), the
    suppression factor. ARX lets a suppressed record cost ``gs``, half an error by default. Of
    several targets it is the weighted mean.
    """

    name = "classification_metric"
    column = (
        "Share of records that a majority vote in their class gets wrong, suppressed records "
        "included (Iyengar 2002){targets}; lower is better."
    )

    needs_targets = True
    is_bounded_by_classes = True

    def __init__(self, *, gs: float = 0.5) -> None:
        super().__init__(gs=gs)
        self._counted: tuple[Classes, tuple[Majority, ...]] | None = None

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        gone = suppressed_records(classes, suppressed)
        costs = [self._misled(found, suppressed, gone) for found in self._majorities(classes)]
        return self._weighted(sums, costs) / self._most(sums)

    def _misled(self, found: Majority, suppressed: BoolArray, gone: int) -> float:
        """Return the cost of records that are outside a majority, have none, or are gone."""
        tied = float(found.records.sum(where=found.is_tied & ~suppressed))
        outside = float(found.outside.sum(where=~(found.is_tied | suppressed)))
        return self.generalization_factor * outside + self.suppression_factor * (tied + gone)

    def _majorities(self, classes: Classes) -> tuple[Majority, ...]:
        """Return what the classes tell about each target; loss and bound of a node share it."""
        if not classes.targets:
            raise SearchError(
                "classification_metric as measure of a search needs a target outside the "
                "quasi-identifiers; the table has none. Declare one, or choose another measure."
            )
        if self._counted is None or self._counted[0] is not classes:
            size = len(classes.records)
            self._counted = classes, tuple(Majority.of(one, size) for one in classes.targets)
        return self._counted[1]

    def _weighted(self, sums: TableSums, costs: Sequence[float]) -> float:
        """Return the mean of one cost per target, by weight."""
        weights = [weight for _, weight in sums.table.targets]
        whole = math.fsum(weights)
        return math.fsum(w / whole * cost for w, cost in zip(weights, costs, strict=True))

    def _most(self, sums: TableSums) -> float:
        return sums.total * max(self.generalization_factor, self.suppression_factor)

    def _lower_bounds(self, sums: TableSums, levels: IntArray) -> FloatArray:
        return np.zeros(len(levels))

    def _least_per_suppressed(self, sums: TableSums) -> float:
        return self.suppression_factor / self._most(sums) * SLIGHTLY_LESS

    def _coarser_bound(self, sums: TableSums, classes: Classes, size: int) -> float:
        # Merging classes never brings a record into a majority, of no target.
        outside = [
            self._cheapest * float(found.outside.sum()) for found in self._majorities(classes)
        ]
        return self._weighted(sums, outside) / self._most(sums) * SLIGHTLY_LESS

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: BoolArray, size: int
    ) -> float:
        # In finer classes, whose bounds count these records too, no more are outside a majority.
        gone = self.suppression_factor * suppressed_records(classes, suppressed)
        more = [
            gone - self._cheapest * float(found.outside.sum(where=suppressed))
            for found in self._majorities(classes)
        ]
        return self._weighted(sums, more) / self._most(sums) * SLIGHTLY_LESS

    @property
    def _cheapest(self) -> float:
        """Return the least cost of a record outside the majority, released or not."""
        return min(self.generalization_factor, self.suppression_factor)
