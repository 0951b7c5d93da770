"""Names of the measures, read from the names of their modules, since importing those is slow."""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING, Literal

from dbt_anonymize.information_loss import measures

# Measures of a search beside information loss: quality of models, similarity of predictions, and
# payouts of the guarantee profitable.
QUALITY, GUIDED, PUBLISHER_PAYOUT = "quality", "guided", "publisher_payout"
# Default without a target.
LOSS = "loss"
MEASURE_NAMES = (
    QUALITY,
    GUIDED,
    *sorted(module.name for module in pkgutil.iter_modules(measures.__path__)),
    PUBLISHER_PAYOUT,
)
# Measures that need a target.
NEED_TARGET = frozenset({QUALITY, GUIDED, "classification_metric"})
if TYPE_CHECKING:
    MeasureName = str
else:
    MeasureName = Literal[MEASURE_NAMES]
