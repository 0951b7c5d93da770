"""Predict which nodes are infeasible, to check those that exclude the most.

Predictions decide the order of checks, never their outcome.
"""

from __future__ import annotations

import numpy as np

from dbt_anonymize.privacy.table import BoolArray, FloatArray
from dbt_anonymize.search.forecast import Forecast, chances, counted
from dbt_anonymize.search.lattice import Lattice

# Checks before the first fit, and between two of them; large lattices take longer to fit.
FIRST, BETWEEN, NODES_PER_CHECK = 12, 8, 4096
# Nodes that a check must be expected to exclude to be preferred to the next one in turn.
WORTHWHILE = 4.0
LEAST_CHANCE = 0.8
# Logarithm between no violating record, and one: of the records + 1.
LIMIT = 0.4
# Least spread of the predictions (natural logarithm); share of it in the logistic.
LEAST_SPREAD, SHARPNESS = 0.3, 0.6


class Guide:
    """Suggest nodes to check; ``entropy`` says how finely each node tells records apart."""

    def __init__(self, lattice: Lattice, entropy: FloatArray):
        self._shape = lattice.shape
        self._between = max(BETWEEN, lattice.size // NODES_PER_CHECK)
        self._violating = Forecast(lattice, entropy, LEAST_SPREAD)
        self._gain = np.zeros(lattice.size)
        self._wait = FIRST

    def observe(self, index: int, violating: int) -> None:
        """Take in how many records violate at a node."""
        self._violating.observe(index, float(np.log(violating + 1.0)))
        self._wait -= 1

    def suggest(self, is_open: BoolArray, is_settled: BoolArray) -> int | None:
        """Return the node whose check should exclude the most, if it is worthwhile.

        ``is_open``: nodes that may be the optimum. ``is_settled``: nodes not to suggest.
        """
        if self._wait <= 0:
            self._wait = self._between
            foreseen, spread = self._violating.foresee(self._violating.numbers)
            likely = chances(foreseen, LIMIT, SHARPNESS * spread)
            finer = counted(is_open.astype(np.float64), coarser=False).reshape(-1)
            self._gain = np.where(likely > LEAST_CHANCE, likely * finer, 0.0)
        gain = self._gain * ~is_settled.reshape(-1)
        best = int(gain.argmax())
        return best if gain[best] > WORTHWHILE else None
