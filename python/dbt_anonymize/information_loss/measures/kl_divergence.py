"""Kullback-Leibler divergence of the release from the table."""

from __future__ import annotations

import math

import numpy as np

from dbt_anonymize.information_loss.base import InformationLoss, TableSums, suppressed_records
from dbt_anonymize.privacy.table import BoolArray, Classes, Node


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

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        rows = np.flatnonzero(~suppressed & (classes.records > 0))
        released = classes.records[rows] / sums.total
        divergence = sums.log_frequency
        divergence += float(released @ (sums.class_log_cells(classes, rows) - np.log2(released)))
        if gone := suppressed_records(classes, suppressed) / sums.total:
            divergence += gone * (sums.log_domain - math.log2(gone))
        return divergence

    def _lower_bound(self, sums: TableSums, node: Node) -> float:
        # Without the entropy of the classes, which suppression lowers to no less than 0.
        return sums.log_frequency + sums.mean_log_cells(node) - 1e-9
