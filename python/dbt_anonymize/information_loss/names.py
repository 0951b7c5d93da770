"""Names of the measures, which are those of their modules: importing these would take a while."""

from __future__ import annotations

import pkgutil
from typing import TYPE_CHECKING, Literal

from dbt_anonymize.information_loss import measures

# What a search can minimize.
MEASURE_NAMES = tuple(sorted(module.name for module in pkgutil.iter_modules(measures.__path__)))
if TYPE_CHECKING:
    MeasureName = str
else:
    MeasureName = Literal[MEASURE_NAMES]
