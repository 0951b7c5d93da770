"""Records in small classes as witnesses: how large the class of one record is at all nodes.

Where nothing may be suppressed, one record in a small class makes a node infeasible. A record that
stands out at one node stands out at many, which need no check then.
"""

from __future__ import annotations

import numpy as np

from dbt_anonymize.extensions.search.forecast import box_counts
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.privacy.table import FloatArray, IntArray, Table


class Witnesses:
    """The classes of single records of a table without subjects; hierarchies are nested."""

    def __init__(self, table: Table, lattice: Lattice) -> None:
        self._table = table
        self._lattice = lattice
        self._columns = [np.ascontiguousarray(column) for column in table.leaves.T]
        self._commonness = self._how_common()

    def choose(self, rows: IntArray) -> int | None:
        """Return the row whose values are the rarest; None if none of them has a record."""
        rows = rows[self._table.records[rows] > 0]
        return int(rows[self._commonness[rows].argmin()]) if len(rows) else None

    def class_sizes(self, row: int) -> FloatArray:
        """Return the records in the class of a row at each node of the lattice."""
        size = self._lattice.size
        # Number of the finest node at which each row is in the class, or more than there are.
        finest = np.zeros(len(self._table.records), dtype=np.int64)
        for position, column in enumerate(self._columns):
            finest += self._least_levels(position, int(column[row])).take(column)
        inside = np.flatnonzero(finest < size)
        records = self._table.records[inside]
        found = np.bincount(finest[inside], weights=records, minlength=size).astype(np.float64)
        return box_counts(found.reshape(self._lattice.shape), coarser=False)

    def _least_levels(self, position: int, leaf: int) -> IntArray:
        """Return for each leaf where it has the label of another one first, as a node's number."""
        lattice, attribute = self._lattice, self._table.attributes[position]
        low, top = lattice.lowest[position], lattice.highest[position]
        found = np.full(len(attribute.levels[0]), lattice.size, dtype=np.int64)
        for level in range(top, low - 1, -1):
            labels = attribute.levels[level]
            found[labels == labels[leaf]] = (level - low) * lattice.strides[position]
        return found

    def _how_common(self) -> FloatArray:
        """Return the sum of the logarithms of how common the labels of each row are."""
        total = np.zeros(len(self._table.records))
        for attribute, column in zip(self._table.attributes, self._columns, strict=True):
            labels = attribute.levels[attribute.height // 2][column]
            total += np.log1p(np.bincount(labels, weights=self._table.records))[labels]
        return total
