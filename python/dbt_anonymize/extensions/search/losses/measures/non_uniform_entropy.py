"""Non-uniform entropy: bits about raw values that labels lose."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.extensions.search.losses.base import SLIGHTLY_LESS, TableSums
from dbt_anonymize.extensions.search.losses.per_attribute import PerAttribute, rounded_down
from dbt_anonymize.extensions.search.losses.suppressed import Suppressed


class NonUniformEntropy(PerAttribute):
    """Lost bits: of leaves given their labels, and of suppressed labels.

    Generalization counts over all records. Gionis & Tassa 2009; in ARX "Non-monotonic non-uniform
    entropy".
    """

    name = "non_uniform_entropy"
    default_aggregate = "sum"
    is_monotone_in_suppression = True

    def _attribute_loss(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        lost = self.generalization_factor * sums.lost_bits[position][level]
        return rounded_down(
            lost + self.suppression_factor * _suppressed_bits(gone, position, level)
        )

    def _bound(self, loss: float, gone: Suppressed) -> float:
        return loss * SLIGHTLY_LESS if gone.records else loss


def _suppressed_bits(gone: Suppressed, position: int, level: int) -> float:
    if gone.records == 0:
        return 0.0
    counts = gone.label_counts(position, level)
    counts = counts[counts > 0]
    return float(counts @ np.log2(gone.records / counts))
