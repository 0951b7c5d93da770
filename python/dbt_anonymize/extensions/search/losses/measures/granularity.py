"""Granularity: the share of the detail that labels keep."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.extensions.search.losses.base import SLIGHTLY_LESS, TableSums
from dbt_anonymize.extensions.search.losses.per_attribute import PerAttribute
from dbt_anonymize.extensions.search.losses.suppressed import Suppressed


class Granularity(PerAttribute):
    """Mean share of the domains that labels cover beyond raw values, 1 for suppressed.

    1 minus the loss is the granularity (Iyengar 2002). Shares are averaged before scaling, so a
    quasi-identifier counts in proportion to its largest loss; factors do not apply.
    """

    name = "granularity"
    higher_is_better = True
    default_aggregate = "arithmetic_mean"
    is_monotone_in_suppression = True

    def _attribute_loss(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        kept = sums.share_totals[position][level] - gone.shares(position, level)
        least = sums.table.attributes[position].smallest_share
        most = _largest_loss(sums)
        return ((kept + gone.records) / sums.total - least) / most if most else 0.0

    def _bound(self, loss: float, gone: Suppressed) -> float:
        return max(loss, 0.0) * SLIGHTLY_LESS


def _largest_loss(sums: TableSums) -> float:
    """Return the weighted mean of the largest losses of the quasi-identifiers."""
    smallest = np.array([attribute.smallest_share for attribute in sums.table.attributes])
    return float((sums.weights * (1.0 - smallest)).mean())
