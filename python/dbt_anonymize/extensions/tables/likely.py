"""Counts that a reader of noise and rounding may reckon with.

That are positive counts which become the shown one at least `LIKELY` times as often as the count
that does so most often; others are far-fetched, though possible.
"""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.tables.cell_keys import PerturbationTable

LIKELY = 0.01


def likely_of_noise(shown: Ints, table: PerturbationTable) -> tuple[Ints, Ints]:
    """Return the smallest and the largest count that each shown one is likely of.

    Shown counts must be results of the table.

    Examples
    --------
    >>> from dbt_anonymize.extensions.tables.cell_keys import perturbation_table
    >>> table = perturbation_table(variance=1, largest=2)
    >>> [ends.tolist() for ends in likely_of_noise(np.array([0, 1, 9]), table)]
    [[1, 1, 7], [2, 3, 11]]
    """
    ends = {int(one): _ends(int(one), table) for one in np.unique(shown)}
    low, high = np.array([ends[int(one)] for one in shown], dtype=np.int64).reshape(-1, 2).T
    return low, high


def _ends(shown: int, table: PerturbationTable) -> tuple[int, int]:
    counts = np.arange(max(shown - table.largest, 1), shown + table.largest + 1)
    chances = table.probabilities[table.row_of(counts), shown - counts + table.largest]
    likely = counts[chances >= LIKELY * chances.max()]
    return int(likely.min()), int(likely.max())


def likely_of_rounding(shown: Ints, base: int) -> tuple[Ints, Ints]:
    """Return the same of counts that are rounded to a base.

    Examples
    --------
    >>> [ends.tolist() for ends in likely_of_rounding(np.array([0, 5]), 5)]
    [[1, 1], [4, 9]]
    """
    # A count at a distance d below the base becomes the shown one with probability 1 - d / base.
    farthest = int(np.floor(base * (1 - LIKELY)))
    farthest_of_zero = int(np.floor(base - LIKELY * (base - 1)))
    low = np.maximum(shown - farthest, 1)
    return low, np.where(shown > 0, shown + farthest, farthest_of_zero)
