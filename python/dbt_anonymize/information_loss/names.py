"""Names of the measures, which are those of their modules: importing these would take a while."""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING, Literal

from dbt_anonymize.information_loss import measures

# What a search can minimize; the last are not of information alone, but of what models predict and
# of the guarantee profitable.
GUIDED, PUBLISHER_PAYOUT = "guided", "publisher_payout"
MEASURE_NAMES = (
    *sorted(module.name for module in pkgutil.iter_modules(measures.__path__)),
    GUIDED,
    PUBLISHER_PAYOUT,
)
if TYPE_CHECKING:
    MeasureName = str
else:
    MeasureName = Literal[MEASURE_NAMES]
