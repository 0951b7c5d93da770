"""Ambiguity: combinations of raw values that a record may stand for."""

from __future__ import annotations

import math

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.search.losses.base import (
    SLIGHTLY_LESS,
    InformationLoss,
    TableSums,
    suppressed_records,
)
from dbt_anonymize.privacy.grouping import distinct_codes, distinct_rows
from dbt_anonymize.privacy.grouping import sums as group_sums
from dbt_anonymize.privacy.table import Classes

# From this many nodes on, the matrix product of `_summed_products` pays off.
_MANY = 64
_ROWS_AT_ONCE = 4096


class Ambiguity(InformationLoss):
    """Combinations of leaves that each record may stand for; for suppressed ones all.

    Goldberger & Tassa 2010.
    """

    name = "ambiguity"
    is_monotone_in_suppression = True

    def __init__(self, *, gs: float = 0.5) -> None:
        super().__init__(gs=gs)
        self._cached_products: tuple[Classes, Floats] | None = None

    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float:
        kept = self._generalized(sums, classes, np.flatnonzero(~suppressed))
        return kept + suppressed_records(classes, suppressed) * math.exp2(sums.log_domain)

    def _generalized(self, sums: TableSums, classes: Classes, rows: Ints) -> float:
        if self._cached_products is None or self._cached_products[0] is not classes:
            bits = sums.class_log_cells(classes, np.arange(len(classes.records)))
            self._cached_products = classes, np.exp2(bits)
        return float(classes.records[rows] @ self._cached_products[1][rows])

    def _lower_bounds(self, sums: TableSums, levels: Ints) -> Floats:
        if len(levels) < _MANY:
            # The mean of products is at least 2 to the mean of their logarithms (Jensen).
            bounds: Floats = sums.total * np.exp2(sums.mean_log_cells(levels))
            return bounds * SLIGHTLY_LESS
        return _summed_products(sums, levels) * SLIGHTLY_LESS

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: Bools, size: int
    ) -> float:
        rows = np.flatnonzero(suppressed)
        gone = suppressed_records(classes, suppressed) * math.exp2(sums.log_domain)
        # The bounds of finer nodes count these records no higher.
        return (gone - self._generalized(sums, classes, rows)) * SLIGHTLY_LESS

    def _least_per_suppressed(self, sums: TableSums) -> float:
        return math.exp2(sums.log_domain) * SLIGHTLY_LESS


def _summed_products(sums: TableSums, levels: Ints) -> Floats:
    """Return the ambiguity of nodes without suppression.

    One matrix product for all nodes, of the combinations of one half of the attributes with those
    of the other half.
    """
    half = levels.shape[1] // 2
    left, left_of_node = np.unique(levels[:, :half], axis=0, return_inverse=True)
    right, right_of_node = np.unique(levels[:, half:], axis=0, return_inverse=True)
    totals = np.zeros((len(left), len(right)))
    representatives, records = _equivalent_rows(sums)
    for start in range(0, len(representatives), _ROWS_AT_ONCE):
        rows = representatives[start : start + _ROWS_AT_ONCE]
        weighted = _products(sums, rows, left, 0) * records[start : start + _ROWS_AT_ONCE]
        totals += weighted @ _products(sums, rows, right, half).T
    exact: Floats = totals[left_of_node.reshape(-1), right_of_node.reshape(-1)]
    return exact


def _equivalent_rows(sums: TableSums) -> tuple[Ints, Ints]:
    """Return one of the rows that cover as much at every level, and the records of all of them."""
    columns = []
    for leaves, levels in zip(sums.columns, sums.log_cells, strict=True):
        codes = (np.unique(bits, return_inverse=True)[1].reshape(-1) for bits in levels)
        columns.append(distinct_codes(codes, len(levels[0])).take(leaves))
    records = sums.table.records
    if not columns:
        return np.arange(len(records)), records
    first, group_of_row = distinct_rows(columns)
    return first, group_sums(group_of_row, records, len(first))


def _products(sums: TableSums, rows: Ints, levels: Ints, first: int) -> Floats:
    """Return the values that attributes from ``first`` on cover at ``levels``, (nodes, rows)."""
    bits = np.zeros((len(levels), len(rows)))
    for offset in range(levels.shape[1]):
        leaves = sums.table.leaves[rows, first + offset]
        by_level = np.stack([cells[leaves] for cells in sums.log_cells[first + offset]])
        bits += by_level[levels[:, offset]]
    return np.exp2(bits)
