"""Loss: how much of its domain each label covers."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Floats
from dbt_anonymize.extensions.search.losses.base import TableSums
from dbt_anonymize.extensions.search.losses.per_attribute import (
    ONE_STEP,
    PerAttribute,
    rounded_down,
)
from dbt_anonymize.extensions.search.losses.suppressed import Suppressed
from dbt_anonymize.privacy.aggregates import AGGREGATES
from dbt_anonymize.privacy.table import Classes, Table


class Loss(PerAttribute):
    """Mean share of the hierarchy that the labels cover, 1 for suppressed (Iyengar 2002).

    Scaled per attribute so that a single leaf everywhere is 0 and the root everywhere is 1. With a
    suppression factor s below 1 a suppressed record costs share + s (1 - share).
    """

    name = "loss"
    default_aggregate = "geometric_mean"
    is_monotone_in_suppression = True

    def _attribute_loss(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        lost = gone.shares(position, level)
        kept = self.generalization_factor * (sums.share_totals[position][level] - lost)
        added = kept + lost + self.suppression_factor * (gone.records - lost)
        smallest_share = sums.table.attributes[position].smallest_share
        least = self.generalization_factor * sums.total * smallest_share
        # A hierarchy of one row has nothing to lose.
        scaled = (added - least) / (sums.total - least) if least < sums.total else 0.0
        return rounded_down(max(scaled, 0.0))

    def _bound(self, loss: float, gone: Suppressed) -> float:
        return max(loss - ONE_STEP, 0.0)

    def per_class(self, table: Table, classes: Classes) -> Floats:
        """Return the aggregate of shares of each class, times its records."""
        sums, leaves = self.sums(table), table.leaves[classes.first]
        shares = [
            sums.shares[position][level][leaves[:, position]]
            for position, level in enumerate(classes.levels)
        ]
        losses = np.column_stack(shares) * classes.records[:, np.newaxis]
        return AGGREGATES[self.aggregate](losses, sums.weights)
