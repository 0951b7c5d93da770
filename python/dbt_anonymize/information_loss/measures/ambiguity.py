"""Ambiguity: combinations of raw values that a record may stand for."""

from __future__ import annotations

import math

import numpy as np

from dbt_anonymize.information_loss.base import (
    SLIGHTLY_LESS,
    InformationLoss,
    TableSums,
    suppressed_records,
)
from dbt_anonymize.privacy.table import BoolArray, Classes, IntArray, Node


class Ambiguity(InformationLoss):
    """Combinations of leaves that each record may stand for; all of them if suppressed.

    Goldberger & Tassa 2010.
    """

    name = "ambiguity"
    column = (
        "Number of combinations of raw values that a released record may stand for, summed "
        "over records; lower is better."
    )
    is_monotone_in_suppression = True

    def _loss(self, sums: TableSums, classes: Classes, suppressed: BoolArray) -> float:
        kept = self._generalized(sums, classes, np.flatnonzero(~suppressed))
        return kept + suppressed_records(classes, suppressed) * math.exp2(sums.log_domain)

    def _generalized(self, sums: TableSums, classes: Classes, rows: IntArray) -> float:
        return float(classes.records[rows] @ np.exp2(sums.class_log_cells(classes, rows)))

    def _lower_bound(self, sums: TableSums, node: Node) -> float:
        # The mean of products is at least 2 to the mean of their logarithms (Jensen).
        return float(sums.total * 2.0 ** sums.mean_log_cells(node) * SLIGHTLY_LESS)

    def _coarser_bound(self, sums: TableSums, classes: Classes) -> float:
        rows = np.arange(len(classes.records))
        return self._generalized(sums, classes, rows) * SLIGHTLY_LESS
