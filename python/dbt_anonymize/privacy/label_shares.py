"""Share of the domain that a label covers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Floats, Ints


def width(difference: Any) -> float:
    """Return a difference of two numbers, or of two dates, as a number."""
    if isinstance(difference, timedelta):
        return difference.total_seconds()
    return float(difference)


def shares_of_labels(labels: Ints, bounds: tuple[Floats, Floats] | None) -> Floats:
    """Return the share of the hierarchy that each label of a level covers."""
    count = int(labels.max()) + 1
    if bounds is None:
        return np.bincount(labels, minlength=count).astype(np.float64) / len(labels)
    lower, upper = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(lower, labels, bounds[0])
    np.maximum.at(upper, labels, bounds[1])
    shares: Floats = (upper - lower) / bounds[1].max()
    return shares
