"""Runs of contiguous rows: their starts, positions and running sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Ints


def running_sums(numbers: NDArray[Any], starts: Ints, group_of: Ints) -> NDArray[Any]:
    """Return running sums within groups of contiguous rows, which begin at ``starts``."""
    total = np.cumsum(numbers)
    sums_: NDArray[Any] = total - (total - numbers)[starts][group_of]
    return sums_


def run_starts(sizes: Ints) -> Ints:
    """Return the start of each run of rows, one run after the other."""
    return np.cumsum(sizes) - sizes


def run_positions(starts: Ints, sizes: Ints) -> Ints:
    """Return the positions of all runs, one run after the other."""
    return np.arange(int(sizes.sum())) + np.repeat(starts - run_starts(sizes), sizes)
