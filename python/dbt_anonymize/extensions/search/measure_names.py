"""Names of the measures of a search; losses are named by their files: importing them is slow."""

from __future__ import annotations

import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Literal

# Measures beside information loss: quality of models, similarity of predictions, and payouts.
QUALITY, GUIDED, PUBLISHER_PAYOUT = "quality", "guided", "publisher_payout"
# The guarantee that has the amounts of payouts; without its extension no spec can declare it.
PROFITABLE = "profitable"
_LOSSES = Path(__file__).parent / "losses" / "measures"
MEASURE_NAMES = (
    QUALITY,
    GUIDED,
    *sorted(module.name for module in pkgutil.iter_modules([str(_LOSSES)])),
    PUBLISHER_PAYOUT,
)
# Measures that need a target.
NEED_TARGET = frozenset({QUALITY, GUIDED, "classification_metric"})
if TYPE_CHECKING:
    MeasureName = str
else:
    MeasureName = Literal[MEASURE_NAMES]
