"""Aggregates of the losses of several attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from dbt_anonymize.arrays import Floats

# Functions of losses (.., attributes) and weights with a mean of 1. If every loss is 1, the result
# is 1, or for the sum the number of attributes.
AGGREGATES: Mapping[str, Callable[[Floats, Floats], Floats]] = MappingProxyType(
    {
        "sum": lambda losses, weights: (losses * weights).sum(axis=-1),
        # Losses are compared, not added: weights are relative to the largest.
        "maximum": lambda losses, weights: (losses * (weights / weights.max())).max(axis=-1),
        "arithmetic_mean": lambda losses, weights: (losses * weights).mean(axis=-1),
        "geometric_mean": lambda losses, weights: (
            np.prod((losses + 1.0) ** weights, axis=-1) ** (1.0 / losses.shape[-1]) - 1.0
        ),
    }
)
