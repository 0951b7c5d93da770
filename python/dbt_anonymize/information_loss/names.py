"""Names of the measures, which are those of their modules: importing these would take a while."""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING, Literal

from dbt_anonymize.information_loss import measures

# What a search can look for beside information loss: the quality of models and what they predict,
# and the amounts of the guarantee profitable.
QUALITY, GUIDED, PUBLISHER_PAYOUT = "quality", "guided", "publisher_payout"
# By default where nothing is predicted.
LOSS = "loss"
MEASURE_NAMES = (
    QUALITY,
    GUIDED,
    *sorted(module.name for module in pkgutil.iter_modules(measures.__path__)),
    PUBLISHER_PAYOUT,
)
# What needs something that models predict.
NEED_TARGET = frozenset({QUALITY, GUIDED, "classification_metric"})
if TYPE_CHECKING:
    MeasureName = str
else:
    MeasureName = Literal[MEASURE_NAMES]
