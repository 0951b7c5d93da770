"""Records in small classes as witnesses: class sizes of one record at all nodes.

Without suppression, one record in a small class makes a node infeasible. A record that is rare at
one node is rare at many, which need no check then.
"""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.extensions.search.forecast import box_counts
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.privacy.table import Table


class Witnesses:
    """The classes of single records of a table without subjects; hierarchies are nested."""

    def __init__(self, table: Table, lattice: Lattice) -> None:
        self._table = table
        self._lattice = lattice
        self._columns = [np.ascontiguousarray(column) for column in table.leaves.T]
        self._commonness = self._label_commonness()

    def choose(self, rows: Ints) -> int | None:
        """Return the row with the rarest values; None if no row has records."""
        rows = rows[self._table.records[rows] > 0]
        return int(rows[self._commonness[rows].argmin()]) if len(rows) else None

    def class_sizes(self, row: int) -> Floats:
        """Return the records in the class of a row at each node of the lattice."""
        size = self._lattice.size
        # Number of the finest node at which each row is in the class, or more than there are.
        finest = np.zeros(len(self._table.records), dtype=np.int64)
        for position, column in enumerate(self._columns):
            finest += self._least_levels(position, int(column[row])).take(column)
        inside = np.flatnonzero(finest < size)
        records = self._table.records[inside]
        counts = np.bincount(finest[inside], weights=records, minlength=size).astype(np.float64)
        return box_counts(counts.reshape(self._lattice.shape), coarser=False)

    def _least_levels(self, position: int, leaf: int) -> Ints:
        """Return, for each leaf, the first level at which it shares the label of ``leaf``.

        Levels are counted in strides of the lattice; leaves that never share it have its size.
        """
        lattice, attribute = self._lattice, self._table.attributes[position]
        low, top = lattice.lowest[position], lattice.highest[position]
        least = np.full(len(attribute.levels[0]), lattice.size, dtype=np.int64)
        for level in range(top, low - 1, -1):
            labels = attribute.levels[level]
            least[labels == labels[leaf]] = (level - low) * lattice.strides[position]
        return least

    def _label_commonness(self) -> Floats:
        """Return the sum of the logarithms of the frequencies of the labels of each row."""
        total = np.zeros(len(self._table.records))
        for attribute, column in zip(self._table.attributes, self._columns, strict=True):
            labels = attribute.levels[attribute.height // 2][column]
            total += np.log1p(np.bincount(labels, weights=self._table.records))[labels]
        return total
