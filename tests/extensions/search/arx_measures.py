"""Two measures of ARX that do not count what suppression loses; nobody can choose them here."""

from __future__ import annotations

from dbt_anonymize.arrays import Bools
from dbt_anonymize.extensions.search.losses.base import InformationLoss, TableSums
from dbt_anonymize.extensions.search.losses.measures.discernibility import Discernibility
from dbt_anonymize.extensions.search.losses.measures.non_uniform_entropy import NonUniformEntropy
from dbt_anonymize.extensions.search.losses.per_attribute import rounded_down
from dbt_anonymize.extensions.search.losses.registry import make_loss
from dbt_anonymize.extensions.search.losses.suppressed import Suppressed
from dbt_anonymize.privacy.table import Classes


class MonotoneDiscernibility(Discernibility):
    """Sum of squared class sizes (DM*): what is suppressed costs nothing more."""

    def _loss(self, sums: TableSums, classes: Classes, suppressed: Bools) -> float:
        return float(classes.records @ classes.records)

    def _suppression_bound(
        self, sums: TableSums, classes: Classes, suppressed: Bools, size: int
    ) -> float:
        return 0.0

    def _least_per_suppressed(self, sums: TableSums) -> float:
        return 0.0


class MonotoneNonUniformEntropy(NonUniformEntropy):
    """Bits of leaves given their labels (de Waal & Willenborg 1999)."""

    def _attribute_loss(
        self, sums: TableSums, gone: Suppressed, position: int, level: int
    ) -> float:
        return rounded_down(sums.lost_bits[position][level])

    def _bound(self, loss: float, gone: Suppressed) -> float:
        return loss


def make_arx_loss(name: str, *, aggregate: str | None = None) -> InformationLoss:
    """Return a measure of ours, or one of these two."""
    if name == "monotone_discernibility":
        return MonotoneDiscernibility()
    if name == "monotone_non_uniform_entropy":
        return MonotoneNonUniformEntropy(aggregate=aggregate)
    return make_loss(name, aggregate=aggregate)
