"""Discernibility: how many records each record looks like."""

from __future__ import annotations

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.search.losses.base import (
    InformationLoss,
    TableSums,
    suppressed_records,
)
from dbt_anonymize.privacy.table import Classes


class Discernibility(InformationLoss):
    """Records that each record cannot be told from: squared class sizes, N if suppressed.

    Bayardo & Agrawal 2005.
    """

    name = "discernibility"
    is_monotone_in_suppression = True

    is_bounded_by_classes = True

    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float:
        kept = classes.records[~suppressed]
        return float(kept @ kept + sums.total * suppressed_records(classes, suppressed))

    def _lower_bounds(self, sums: TableSums, levels: Ints) -> Floats:
        # The sum of squares is least for equal classes; a suppressed record costs most.
        return sums.total * sums.total / sums.most_classes(levels)

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: Bools, size: int
    ) -> float:
        # Classes of finer nodes are no larger.
        gone = classes.records[suppressed]
        return float(gone.sum() * sums.total - gone @ gone)

    def _least_per_suppressed(self, sums: TableSums) -> float:
        return float(sums.total)

    def _coarser_bound(self, sums: TableSums, classes: Classes, size: int) -> float:
        return float(classes.records @ classes.records)
