"""Precision: how far up their hierarchies values are generalized."""

from __future__ import annotations

from dbt_anonymize.information_loss.base import Suppressed, TableSums
from dbt_anonymize.information_loss.per_attribute import PerAttribute


class Precision(PerAttribute):
    """Mean level over the height of the hierarchy, 1 for suppressed (Sweeney 2002)."""

    name = "precision"
    column = (
        "1 minus the mean height of generalization, 0 to 1; higher is better. NULL for a "
        "multidimensional effort whose intervals are no levels of the hierarchy."
    )
    of_attribute_column = "Precision of {} alone, 0 to 1; higher is better."
    higher_is_better = True
    default_aggregate = "arithmetic_mean"

    @property
    def is_monotone_in_suppression(self) -> bool:
        """Whether the root costs no more than suppression."""
        return self.generalization_factor <= self.suppression_factor

    def of_attribute(self, sums: TableSums, gone: Suppressed, position: int, level: int) -> float:
        """Return the loss of one quasi-identifier at a level, before weights."""
        kept = self._kept(sums, position, level)
        share = gone.records / sums.total
        return kept + share * (self.suppression_factor - kept)

    def bound_of_attribute(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        """Return the loss itself, or that of suppressing everything where that is cheaper."""
        if self._kept(sums, position, level) >= self.suppression_factor:
            return self.suppression_factor * (1.0 - 1e-15)
        return self.of_attribute(sums, gone, position, level) * (1.0 - 1e-15)

    def _kept(self, sums: TableSums, position: int, level: int) -> float:
        # A hierarchy that is the root alone has nothing to lose.
        return self.generalization_factor * level / max(sums.table.attributes[position].height, 1)
