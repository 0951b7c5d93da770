"""Precision: how far up their hierarchies values are generalized."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.extensions.search.losses.base import SLIGHTLY_LESS, TableSums
from dbt_anonymize.extensions.search.losses.per_attribute import PerAttribute
from dbt_anonymize.extensions.search.losses.suppressed import Suppressed


class Precision(PerAttribute):
    """Mean level over the height of the hierarchy, 1 for suppressed (Sweeney 2002)."""

    name = "precision"
    higher_is_better = True
    default_aggregate = "arithmetic_mean"

    def _attribute_loss(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        kept = sums.height_totals[position][level] - gone.heights(position, level)
        lost = self.generalization_factor * kept + self.suppression_factor * gone.records
        return lost / sums.total

    def _bound_at(self, sums: TableSums, gone: Suppressed, position: int, level: int) -> float:
        # Suppressing a record may be cheaper, above all one whose value is missing.
        costs = self.generalization_factor * sums.heights[position][level]
        kept = sums.leaf_counts[position] - gone.leaf_counts(position)
        least = kept @ np.minimum(costs, self.suppression_factor)
        return float(least + self.suppression_factor * gone.records) / sums.total * SLIGHTLY_LESS
