"""Entropy-based loss: bits of the domain that labels cover."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.search.losses.base import (
    SLIGHTLY_LESS,
    InformationLoss,
    TableSums,
    suppressed_records,
)
from dbt_anonymize.privacy.table import Classes, Table


class EntropyBasedLoss(InformationLoss):
    """Share of the bits of the domain that the labels of each record cover (Wan et al. 2015)."""

    name = "entropy_based_loss"

    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float:
        rows = np.flatnonzero(~suppressed)
        kept = float(classes.records[rows] @ self._class_losses(sums, classes, rows))
        gone = suppressed_records(classes, suppressed)
        return self.generalization_factor * kept + self.suppression_factor * gone

    def _class_losses(self, sums: TableSums, classes: Classes, rows: Ints) -> Floats:
        return sums.class_log_cells(classes, rows) / _bits(sums)

    def _lower_bounds(self, sums: TableSums, levels: Ints) -> Floats:
        generalized: Floats = sums.total * sums.mean_log_cells(levels) / _bits(sums)
        return self._least * generalized * SLIGHTLY_LESS

    @property
    def _least(self) -> float:
        # A record costs min(g x, s) with x, g, s in [0, 1] and the larger of g and s 1, which is
        # at least g s x.
        return self.generalization_factor * self.suppression_factor

    def _least_per_suppressed(self, sums: TableSums) -> float:
        return self.suppression_factor * SLIGHTLY_LESS

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: Bools, size: int
    ) -> float:
        rows = np.flatnonzero(suppressed)
        kept = float(classes.records[rows] @ self._class_losses(sums, classes, rows))
        gone = self.suppression_factor * suppressed_records(classes, suppressed)
        # The bounds of finer nodes count these records no higher.
        return max(gone - self._least * kept, 0.0) * SLIGHTLY_LESS

    def per_class(self, table: Table, classes: Classes) -> Floats:
        """Return the loss of each class, times its records."""
        rows = np.arange(len(classes.records))
        return classes.records * self._class_losses(self.sums(table), classes, rows)


def _bits(sums: TableSums) -> float:
    """Return the bits of the domain; 1 for a domain of a single combination."""
    return sums.log_domain or 1.0
