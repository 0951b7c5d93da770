"""Classification metric: records whose class misleads about the targets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from dbt_anonymize.errors import SearchError
from dbt_anonymize.information_loss.base import (
    SLIGHTLY_LESS,
    InformationLoss,
    TableSums,
    suppressed_records,
)
from dbt_anonymize.privacy.distances import Distribution
from dbt_anonymize.privacy.table import BoolArray, Classes, FloatArray, IntArray


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

    has_suppression_bound = False

    is_bounded_by_classes = True

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        gone = suppressed_records(classes, suppressed)
        costs = [
            self._misled(targets, majority, gone)
            for targets, majority in self._majorities(classes, suppressed)
        ]
        return self._weighted(sums, costs) / self._most(sums)

    def _misled(self, targets: Distribution, majority: FloatArray, gone: int) -> float:
        """Return the cost of records that are outside a majority, have none, or are gone."""
        winners = targets.sums(targets.counts == majority[targets.classes])
        is_tied = winners > 1
        tied = float(targets.totals[is_tied].sum())
        outside = float((targets.totals - majority)[~is_tied].sum())
        return self.generalization_factor * outside + self.suppression_factor * (tied + gone)

    def _majorities(
        self, classes: Classes, suppressed: BoolArray
    ) -> Iterator[tuple[Distribution, FloatArray]]:
        """Yield each target with the records of its most frequent value in each class."""
        if not classes.targets:
            raise SearchError(
                "classification_metric as measure of a search needs a target outside the "
                "quasi-identifiers; the table has none. Declare one, or choose another measure."
            )
        for counts in classes.targets:
            targets = Distribution.of(counts, len(classes.records), suppressed)
            yield targets, np.maximum(targets.largest(targets.counts.astype(np.float64)), 0.0)

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
        nobody = np.zeros(len(classes.records), np.bool_)
        outside = [
            float((targets.totals - majority).sum())
            for targets, majority in self._majorities(classes, nobody)
        ]
        cheapest = min(self.generalization_factor, self.suppression_factor)
        return cheapest * self._weighted(sums, outside) / self._most(sums) * SLIGHTLY_LESS
