"""Total information loss: widths of intervals and heights of ancestors, over all records."""

from __future__ import annotations

from dbt_anonymize.extensions.search.losses.base import SLIGHTLY_LESS, TableSums
from dbt_anonymize.extensions.search.losses.per_attribute import PerAttribute
from dbt_anonymize.extensions.search.losses.suppressed import Suppressed


class TotalInformationLoss(PerAttribute):
    """Share of the range of an interval, height of a category, over records (Byun et al. 2007)."""

    name = "total_information_loss"
    default_aggregate = "sum"

    def _attribute_loss(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        if sums.table.attributes[position].smallest_share > 0.0:
            kept = sums.height_totals[position][level] - gone.heights(position, level)
        else:
            kept = sums.share_totals[position][level] - gone.shares(position, level)
        return self.generalization_factor * kept + self.suppression_factor * gone.records

    def _bound(self, loss: float, gone: Suppressed) -> float:
        # A record costs min(g x, s) with x and the larger of g and s in [0, 1]: at least g s x.
        suppressed = self.suppression_factor * gone.records
        return (self.suppression_factor * (loss - suppressed) + suppressed) * SLIGHTLY_LESS
