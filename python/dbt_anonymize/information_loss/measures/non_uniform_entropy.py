"""Non-uniform entropy: bits about raw values that labels do not carry."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dbt_anonymize.information_loss.base import Suppressed, TableSums
from dbt_anonymize.information_loss.per_attribute import PerAttribute, rounded_down
from dbt_anonymize.privacy.table import Table


class EntropySums(TableSums):
    """Bits that generalization loses, per attribute and level."""

    @cached_property
    def lost_bits(self) -> list[list[float]]:
        """Sum over the records of log2(records of the label / records of the leaf)."""
        found = []
        for attribute, counts in zip(self.table.attributes, self.label_counts, strict=True):
            leaves = np.flatnonzero(counts[0])
            records = counts[0][leaves]
            found.append(
                [
                    float(records @ np.log2(of_label[labels[leaves]] / records))
                    for labels, of_label in zip(attribute.levels, counts, strict=True)
                ]
            )
        return found


class NonUniformEntropy(PerAttribute):
    """Bits lost: of leaves given their labels, and of labels given that they are suppressed.

    Generalization counts over all records. Gionis & Tassa 2009; in ARX "Non-monotonic non-uniform
    entropy".
    """

    name = "non_uniform_entropy"
    column = "Bits about raw values that labels do not carry; lower is better."
    of_attribute_column = "Non-uniform entropy of {} alone, in bits; lower is better."
    default_aggregate = "sum"
    is_monotone_in_suppression = True

    def sums(self, table: Table) -> EntropySums:
        """Return the sums over a table, made at the first call with it."""
        if not isinstance(self._sums, EntropySums) or self._sums.table is not table:
            self._sums = EntropySums(table)
        return self._sums

    def of_attribute(self, sums: TableSums, gone: Suppressed, position: int, level: int) -> float:
        """Return the loss of one quasi-identifier at a level, before weights."""
        lost = self.generalization_factor * self.sums(sums.table).lost_bits[position][level]
        return rounded_down(lost + self.suppression_factor * _suppressed(gone, position, level))

    def bound_of_attribute(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        """Return the loss itself: each further record has bits of its own."""
        lost = self.of_attribute(sums, gone, position, level)
        return lost * (1.0 - 1e-12) if gone.records else lost


def _suppressed(gone: Suppressed, position: int, level: int) -> float:
    if gone.records == 0:
        return 0.0
    counts = gone.label_counts(position, level)
    counts = counts[counts > 0]
    return float(counts @ np.log2(gone.records / counts))
