"""Classification metric: records whose class misleads about the target."""

from __future__ import annotations

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
    suppression factor. ARX lets a suppressed record cost ``gs``, half an error by default.
    """

    name = "classification_metric"
    column = (
        "Share of records that a majority vote in their class gets wrong, suppressed records "
        "included (Iyengar 2002); lower is better."
    )

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        targets, majority = self._majorities(classes, suppressed)
        winners = targets.sums(targets.counts == majority[targets.classes])
        is_tied = winners > 1
        tied = float(targets.totals[is_tied].sum())
        outside = float((targets.totals - majority)[~is_tied].sum())
        gone = suppressed_records(classes, suppressed)
        cost = self.generalization_factor * outside + self.suppression_factor * (tied + gone)
        return cost / self._most(sums)

    def _majorities(
        self, classes: Classes, suppressed: BoolArray
    ) -> tuple[Distribution, FloatArray]:
        if classes.targets is None:
            raise SearchError(
                "classification_metric as measure of a search needs a target outside the "
                "quasi-identifiers; the table has none. Declare one, or choose another measure."
            )
        targets = Distribution.of(classes.targets, len(classes.records), suppressed)
        return targets, np.maximum(targets.largest(targets.counts.astype(np.float64)), 0.0)

    def _most(self, sums: TableSums) -> float:
        return sums.total * max(self.generalization_factor, self.suppression_factor)

    def _lower_bounds(self, sums: TableSums, levels: IntArray) -> FloatArray:
        return np.zeros(len(levels))

    def _coarser_bound(self, sums: TableSums, classes: Classes) -> float:
        # Merging classes never brings a record into a majority.
        targets, majority = self._majorities(classes, np.zeros(len(classes.records), np.bool_))
        outside = float((targets.totals - majority).sum())
        cheapest = min(self.generalization_factor, self.suppression_factor)
        return cheapest * outside / self._most(sums) * SLIGHTLY_LESS
