"""Kullback-Leibler divergence of the release from the table."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from dbt_anonymize.information_loss.base import InformationLoss, TableSums, suppressed_records
from dbt_anonymize.privacy.table import BoolArray, Classes, Node, Table


class _TupleSums(TableSums):
    @cached_property
    def log_frequency(self) -> float:
        """Sum over the distinct original rows of f log2 f, f their share of the records."""
        rows = np.flatnonzero(self.table.records)
        _, position = np.unique(self.table.leaves[rows], axis=0, return_inverse=True)
        counts = np.bincount(position.reshape(-1), weights=self.table.records[rows])
        frequencies = counts / self.total
        return float(frequencies @ np.log2(frequencies))


class KLDivergence(InformationLoss):
    """Bits by which the release, spread evenly over its labels, misses the original frequencies.

    The sum over distinct rows of f log2(f / o) (Kullback & Leibler 1951). ARX adds one term per
    record instead of one per distinct row, which also changes which node is best.
    """

    name = "kl_divergence"
    column = (
        "Kullback-Leibler divergence in bits between the raw distribution and that of the "
        "release; lower is better."
    )
    # A suppressed NULL, which covers its whole domain anyway, may bring the two closer.
    is_monotone_in_suppression = False

    def sums(self, table: Table) -> _TupleSums:
        """Return the sums over a table, made at the first call with it."""
        if not isinstance(self._sums, _TupleSums) or self._sums.table is not table:
            self._sums = _TupleSums(table)
        return self._sums

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        rows = np.flatnonzero(~suppressed & (classes.records > 0))
        released = classes.records[rows] / sums.total
        divergence = self.sums(sums.table).log_frequency
        divergence += float(released @ (sums.class_log_cells(classes, rows) - np.log2(released)))
        if gone := suppressed_records(classes, suppressed) / sums.total:
            divergence += gone * (sums.log_domain - math.log2(gone))
        return divergence

    def _lower_bound(self, sums: TableSums, node: Node) -> float:
        # Without the entropy of the classes, which suppression lowers to no less than 0.
        return self.sums(sums.table).log_frequency + sums.mean_log_cells(node) - 1e-9
