"""Average class size."""

from __future__ import annotations

import math

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.search.losses.base import SLIGHTLY_LESS, InformationLoss, TableSums
from dbt_anonymize.privacy.table import Classes, Table


class AverageClassSize(InformationLoss):
    """Records over released classes; all suppressed records are one more class (LeFevre 2006).

    LeFevre also divides by k. The factors have nothing to weigh here; in ARX cheaper generalization
    raises the loss.
    """

    name = "average_class_size"
    is_monotone_in_suppression = True
    is_bounded_by_classes = True

    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float:
        has_records = classes.records > 0
        kept = int(np.count_nonzero(has_records & ~suppressed))
        is_any_suppressed = bool((has_records & suppressed).any())
        return sums.total / (kept + is_any_suppressed)

    def _lower_bounds(self, sums: TableSums, levels: Ints) -> Floats:
        return sums.total / sums.most_classes(levels)

    def _coarser_bound(self, sums: TableSums, classes: Classes, size: int) -> float:
        # A released class contains a class that is large enough, or several small ones.
        is_small = classes.people < size
        large = int(np.count_nonzero(~is_small & (classes.records > 0)))
        together = int(classes.records @ is_small) // max(size, 1)
        most = min(int(np.count_nonzero(classes.records)), large + together + 1)
        return sums.total / most

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: Bools, size: int
    ) -> float:
        # The bounds count each of these classes, or its share of one by records; suppressed, they
        # form at most one class together.
        records = classes.records[suppressed]
        return max(math.ceil(float(np.minimum(records / max(size, 1), 1.0).sum())) - 1, 0)

    def raised(self, table: Table, bounds: Floats, by: Floats) -> Floats:
        """Return lower bounds of nodes that release ``by`` fewer classes."""
        most: Floats = np.maximum(table.total / bounds - by, 1.0)
        return table.total / most * SLIGHTLY_LESS
