"""Predict which nodes exclude the most others, to check those first.

A node excludes all finer ones if too many of its records violate, and, by measures that only
checked nodes bound, all coarser ones if merging its classes loses no less than the best node. Both
are predicted from the checked nodes; predictions change the order of checks, never the result.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats
from dbt_anonymize.extensions.search.forecast import Forecast, box_counts, chances
from dbt_anonymize.extensions.search.lattice import Box, Lattice
from dbt_anonymize.extensions.search.results import Status

Statuses = NDArray[np.uint8]
# A member of an enumeration is looked up at every use.
_OPEN = int(Status.OPEN)

# Checks before the first fit, and between two of them; large lattices take longer to fit.
FIRST, BETWEEN, NODES_PER_CHECK = 12, 16, 4096
# Expected excluded nodes for a check to take precedence over the next one in turn.
WORTHWHILE = 2.0
# Least probability that counts, for measures that bound nodes before they are checked.
LEAST_CHANCE = 0.5
# Expected nodes are recounted after TIMES suggestions of which less than the share LEFT remains.
LEFT, TIMES = 0.8, 4
# Every eighth suggestion is the node with the least predicted loss.
PROMISING = 8
# Probability of excluding coarser nodes above which the classes of an infeasible node are formed.
LIKELY = 0.5
# Least spread of the predictions (natural logarithms).
SPREAD_OF_RECORDS, SPREAD_OF_BOUNDS = 0.3, 0.02
# Bounds below this share of the best loss are equal.
NEGLIGIBLE = 1e-2


class Guide:
    """Suggestions of nodes to check; ``entropy`` is that of the labels of each node.

    ``most`` records, at least one, may be suppressed, each at a loss of at least ``each``.
    ``by_classes``: the classes of checked nodes bound coarser ones.
    """

    def __init__(
        self, lattice: Lattice, entropy: Floats, most: int, each: float, *, by_classes: bool
    ) -> None:
        self.by_classes = by_classes
        self._lattice = lattice
        self._most, self._each = most, each
        self._between = max(BETWEEN, lattice.size // NODES_PER_CHECK)
        self._violating = Forecast(lattice, entropy, SPREAD_OF_RECORDS)
        self._bounds = Forecast(lattice, entropy, SPREAD_OF_BOUNDS)
        self._wait, self._suggested = FIRST, 0
        # Probabilities, nodes that a check is expected to exclude, and predicted losses.
        self._excludes_finer = np.zeros(lattice.size)
        self._excludes_coarser = np.zeros(lattice.size)
        self._gain = np.zeros(lattice.size)
        self._may_be_suggested = np.ones(lattice.shape, dtype=np.bool_)
        self._promise = np.full(lattice.size, math.inf)

    def observe(self, index: int, violating: int) -> None:
        """Record the number of violating records of a node; it is not suggested again."""
        self._violating.observe(index, math.log(violating + 1.0))
        self._wait -= 1
        self.leave_out(index)

    def observe_bound(self, index: int, bound: float) -> None:
        """Record a lower bound of the loss of a node and all coarser ones, by its classes."""
        self._bounds.observe(index, bound)

    def leave_out(self, index: int) -> None:
        """Do not suggest a node."""
        self._may_be_suggested.reshape(-1)[index] = False
        self._gain[index] = 0.0

    def settle(self, box: Box) -> None:
        """Suggest none of these nodes, whose checks would exclude nothing new."""
        self._may_be_suggested[box] = False
        self._gain.reshape(self._lattice.shape)[box] = 0.0

    def forget(self) -> None:
        """Allow suggestions of all nodes again, since the requirements changed."""
        self._may_be_suggested[:] = True
        self._gain[:] = 0.0
        self._wait = 0

    def is_worth_forming(self, index: int) -> bool:
        """Tell whether the classes of a node are likely to exclude coarser ones."""
        return bool(self._excludes_coarser[index] > LIKELY)

    def suggest(self, status: Statuses, bounds: Floats, best: float) -> int | None:
        """Return the node whose check should exclude the most; None if none is worthwhile.

        ``status`` is the `Status` of each node, ``bounds`` are lower bounds of their losses without
        suppression, ``best`` is the least loss so far.
        """
        if self._wait <= 0 and self._can_predict(best):
            self._wait = self._between
            self._predict(bounds, best)
            self._count(status)
        self._suggested += 1
        if self.by_classes and self._suggested % PROMISING == 0:
            promise = np.where(status.reshape(-1) == _OPEN, self._promise, math.inf)
            promising = int(promise.argmin())
            if promise[promising] < best:
                return promising
        return self._most_excluding(status)

    def _most_excluding(self, status: Statuses) -> int | None:
        """Return the node that excludes the most by a fresh count of its open nodes."""
        tries = 0
        while True:
            index = int(self._gain.argmax())
            expected = float(self._gain[index])
            if expected < WORTHWHILE:
                return None
            self._gain[index] = self._gain_of(index, status)
            if self._gain[index] >= LEFT * expected:
                return index
            tries += 1
            if tries % TIMES == 0:
                self._count(status)

    def _gain_of(self, index: int, status: Statuses) -> float:
        # If classes bound coarser nodes, only open nodes are worth a check.
        if self.by_classes and status.reshape(-1)[index] != _OPEN:
            return 0.0
        node = self._lattice.node(index)
        finer = np.count_nonzero(status[self._lattice.finer(node)] == _OPEN)
        gain = self._excludes_finer[index] * finer
        if self.by_classes:
            coarser = np.count_nonzero(status[self._lattice.coarser(node)] == _OPEN)
            gain += self._excludes_coarser[index] * coarser
        return float(gain)

    def _count(self, status: Statuses) -> None:
        is_open = status == _OPEN
        number = is_open.astype(np.float64)
        self._gain = self._excludes_finer * box_counts(number, coarser=False).reshape(-1)
        if self.by_classes:
            self._gain += self._excludes_coarser * box_counts(number, coarser=True).reshape(-1)
            self._gain *= number.reshape(-1)
        self._gain *= self._may_be_suggested.reshape(-1)

    def _can_predict(self, best: float) -> bool:
        return not self.by_classes or (0.0 < best < math.inf and self._bounds.observed > 0)

    def _predict(self, bounds: Floats, best: float) -> None:
        records, spread = self._violating.predict(self._violating.numbers)
        # More suppression than this loses too much, even if allowed.
        enough = best / self._each if self._each > 0.0 < best else math.inf
        most = math.log(min(self._most, enough) + 1.0)
        self._excludes_finer = chances(records, most, spread)
        if not self.by_classes:
            self._excludes_finer[self._excludes_finer < LEAST_CHANCE] = 0.0
            return
        least = NEGLIGIBLE * best
        logarithms = np.log(np.maximum(self._bounds.numbers, least))
        predicted, spread = self._bounds.predict(logarithms)
        predicted = np.maximum(predicted, np.log(np.maximum(bounds.reshape(-1), least)))
        self._excludes_coarser = chances(predicted, math.log(best), spread)
        loss = np.exp(np.minimum(predicted, math.log(best) + 1.0))
        loss += self._each * np.exp(np.minimum(records, most))
        self._promise = np.where(records <= most, loss, math.inf)
