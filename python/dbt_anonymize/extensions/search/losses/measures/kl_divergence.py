"""Kullback-Leibler divergence of the release from the table."""

from __future__ import annotations

import math

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.search.losses.base import (
    InformationLoss,
    TableSums,
    suppressed_records,
)
from dbt_anonymize.privacy.table import Classes

# Bits; above the rounding error of sums of logarithms.
_ROUNDING = 1e-9


class KLDivergence(InformationLoss):
    """Bits by which the release, spread evenly over its labels, misses the original frequencies.

    The sum over distinct rows of f log2(f / o) (Kullback & Leibler 1951). ARX adds one term per
    record instead of one per distinct row, which also changes which node is best.
    """

    name = "kl_divergence"
    # A suppressed NULL, which covers its whole domain anyway, may bring the two closer.
    is_monotone_in_suppression = False

    is_bounded_by_classes = True

    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float:
        rows = np.flatnonzero(~suppressed & (classes.records > 0))
        released = classes.records[rows] / sums.total
        divergence = sums.log_frequency
        divergence += float(released @ (sums.class_log_cells(classes, rows) - np.log2(released)))
        if gone := suppressed_records(classes, suppressed) / sums.total:
            divergence += gone * (sums.log_domain - math.log2(gone))
        return divergence

    def _lower_bounds(self, sums: TableSums, levels: Ints) -> Floats:
        # Without the entropy of the classes, which suppression lowers to no less than 0.
        joint: Floats = sums.log_frequency + sums.mean_log_cells(levels)
        # Or with the part of the table's entropy that remains after that of each attribute.
        marginal = sums.marginal_divergence(levels) - sums.overlap
        return np.maximum(joint, marginal) - _ROUNDING

    def _coarser_bound(self, sums: TableSums, classes: Classes, size: int) -> float:
        # Merging classes, also suppressed ones, spreads their records more widely (log sum
        # inequality), except for overlapping labels.
        if sums.nulls:
            none_suppressed = np.zeros(len(classes.records), dtype=np.bool_)
            return self._loss(sums, classes, none_suppressed) - sums.overlap - _ROUNDING
        # Without NULL all records of a label cover as much, so the sum over records is known.
        shares = classes.records[classes.records > 0] / sums.total
        covered = float(sums.mean_log_cells(np.array([classes.levels]))[0])
        divergence = sums.log_frequency + covered - float(shares @ np.log2(shares))
        return divergence - sums.overlap - _ROUNDING

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: Bools, size: int
    ) -> float:
        rows = np.flatnonzero(suppressed & (classes.records > 0))
        shares = classes.records[rows] / sums.total
        gone = float(shares.sum())
        if not gone:
            return 0.0
        added = float(shares @ (np.log2(shares) - sums.class_log_cells(classes, rows)))
        # Least value for any further suppression, up to all records.
        rest = 1.0 - gone
        added += gone * sums.log_domain + (rest * math.log2(rest) if rest > 0.0 else 0.0)
        return max(added - 2 * sums.overlap - _ROUNDING, 0.0)
