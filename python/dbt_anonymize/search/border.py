"""Predict which nodes exclude the most where classes alone bound what nodes lose.

A node excludes all finer ones if too many of its records violate, and all coarser ones if merging
its classes loses no less than the best node. Both are foreseen from the nodes checked so far, and
decide the order of checks, never their outcome.
"""

from __future__ import annotations

import math

import numpy as np

from dbt_anonymize.privacy.table import BoolArray, FloatArray
from dbt_anonymize.search.forecast import Forecast, chances, counted
from dbt_anonymize.search.lattice import Lattice

# Checks before the first fit, and between two of them; large lattices take longer to fit.
FIRST, BETWEEN, NODES_PER_CHECK = 12, 24, 4096
# Every so manieth suggestion is the node that is foreseen to lose the least.
PROMISING = 8
# The classes of an infeasible node are worth forming where they are so likely to exclude others.
LIKELY = 0.5
# Least spread of the predictions (natural logarithms); share of it in the logistic.
SPREAD_OF_RECORDS, SPREAD_OF_BOUNDS, SHARPNESS = 0.3, 0.02, 1.2
# Bounds below this share of the best loss are alike.
NEGLIGIBLE = 1e-2


class BorderGuide:
    """Suggest nodes to check; ``entropy`` says how finely each node tells records apart.

    ``most`` records may be suppressed, each of which loses ``each`` at least.
    """

    def __init__(self, lattice: Lattice, entropy: FloatArray, most: int, each: float) -> None:
        self._most = most
        self._each = each
        self._between = max(BETWEEN, lattice.size // NODES_PER_CHECK)
        self._violating = Forecast(lattice, entropy, SPREAD_OF_RECORDS)
        self._bounds = Forecast(lattice, entropy, SPREAD_OF_BOUNDS)
        self._wait, self._suggested = FIRST, 0
        self._gain = np.zeros(0)
        self._promise = np.zeros(0)
        self._excludes_coarser = np.zeros(lattice.size)

    def observe(self, index: int, violating: int) -> None:
        """Take in how many records violate at a node."""
        self._violating.observe(index, math.log(violating + 1.0))
        self._wait -= 1

    def observe_bound(self, index: int, bound: float) -> None:
        """Take in what a node and all coarser ones lose at least, by its classes."""
        self._bounds.observe(index, bound)

    def is_worth_forming(self, index: int) -> bool:
        """Return whether the classes of a node may well exclude coarser ones."""
        return bool(self._excludes_coarser[index] > LIKELY)

    def suggest(self, is_open: BoolArray, bounds: FloatArray, best: float) -> int | None:
        """Return the open node whose check should exclude the most; None if too little is known.

        ``bounds`` are lower bounds of what nodes lose, ``best`` is the least loss so far.
        """
        if self._wait <= 0 and best > 0.0 and math.isfinite(best) and self._bounds.observed:
            self._wait = self._between
            self._foresee(is_open, bounds, best)
        if not len(self._gain):
            return None
        self._suggested += 1
        if self._suggested % PROMISING == 0:
            promise = np.where(is_open.reshape(-1), self._promise, math.inf)
            found = int(promise.argmin())
            if promise[found] < best:
                return found
        gain = self._gain * is_open.reshape(-1)
        found = int(gain.argmax())
        return found if gain[found] > 0.0 else None

    def _foresee(self, is_open: BoolArray, bounds: FloatArray, best: float) -> None:
        records, spread = self._violating.foresee(self._violating.numbers)
        # Suppressing more than this loses too much, allowed or not.
        most = math.log(1.0 + (min(self._most, best / self._each) if self._each else self._most))
        excludes_finer = chances(records, most, SHARPNESS * spread)
        least = NEGLIGIBLE * best
        logarithms = np.log(np.maximum(self._bounds.numbers, least))
        foreseen, spread = self._bounds.foresee(logarithms)
        foreseen = np.maximum(foreseen, np.log(np.maximum(bounds.reshape(-1), least)))
        self._excludes_coarser = chances(foreseen, math.log(best), SHARPNESS * spread)
        number = is_open.astype(np.float64)
        self._gain = excludes_finer * counted(number, coarser=False).reshape(-1)
        self._gain += self._excludes_coarser * counted(number, coarser=True).reshape(-1)
        lost = np.exp(np.minimum(foreseen, math.log(best) + 1.0))
        lost += self._each * np.exp(np.minimum(records, most))
        self._promise = np.where(records <= most, lost, math.inf)
