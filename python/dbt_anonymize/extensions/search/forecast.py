"""Predict a number of unchecked nodes from checked ones.

The logarithm of the violating records, or of a loss, is nearly a sum of one number per attribute
and level.
"""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Floats
from dbt_anonymize.extensions.search.lattice import Lattice

# Ridge penalty; latest observations that are fitted.
PENALTY, LOOK_BACK = 0.3, 512


class Forecast:
    """Ridge regression on levels of attributes and on ``entropy`` (nodes,)."""

    def __init__(self, lattice: Lattice, entropy: Floats, least_spread: float) -> None:
        self._lattice = lattice
        self._entropy = entropy.reshape(-1)
        self._least_spread = least_spread
        # One column per level above the lowest, a constant, and the entropy.
        self._starts = np.cumsum([0, *(count - 1 for count in lattice.shape)]).tolist()
        self._features = np.zeros((LOOK_BACK, self._starts[-1] + 2))
        self._numbers = np.zeros(LOOK_BACK)
        self.observed = 0

    def observe(self, index: int, number: float) -> None:
        """Record the number of a node."""
        row = self.observed % LOOK_BACK
        features = self._features[row]
        features[:-2] = 0.0
        features[-2:] = 1.0, self._entropy[index]
        node = self._lattice.node(index)
        for start, level, low in zip(self._starts, node, self._lattice.lowest, strict=False):
            if level > low:
                features[start + level - low - 1] = 1.0
        self._numbers[row] = number
        self.observed += 1

    @property
    def numbers(self) -> Floats:
        """The latest observed numbers."""
        return self._numbers[: self.observed]

    def predict(self, numbers: Floats) -> tuple[Floats, float]:
        """Return the predicted number of each node, and the standard error.

        ``numbers`` are the observed ones, or a transformation of them.
        """
        mean = float(numbers.mean())
        features = self._features[: len(numbers)]
        normal = features.T @ features + PENALTY * np.eye(features.shape[1])
        weights = np.linalg.solve(normal, features.T @ (numbers - mean))
        spread = float((numbers - mean - features @ weights).std())
        per_level = []
        for axis, (low, count) in enumerate(
            zip(self._lattice.lowest, self._lattice.shape, strict=True)
        ):
            # The lattice sums by level of the hierarchy; the lowest level has no weight.
            per_level.append(np.zeros(low + count))
            per_level[-1][low + 1 :] = weights[self._starts[axis] : self._starts[axis + 1]]
        predicted = mean + self._lattice.add_up(tuple(per_level)).reshape(-1)
        predicted += weights[-2] + weights[-1] * self._entropy
        return predicted, max(spread, self._least_spread)


def chances(predicted: Floats, limit: float, width: float) -> Floats:
    """Return the probability that each number exceeds a limit, by a logistic curve."""
    distance = np.clip((predicted - limit) / width, -50.0, 50.0)
    probabilities: Floats = 1.0 / (1.0 + np.exp(-distance))
    return probabilities


def box_counts(nodes: Floats, *, coarser: bool) -> Floats:
    """Sum over each node and all finer or all coarser ones; an array of the lattice's shape.

    Examples
    --------
    >>> box_counts(np.ones((2, 2)), coarser=True).tolist()
    [[4.0, 2.0], [2.0, 1.0]]
    """
    counts = np.ascontiguousarray(nodes).copy()
    after = 1
    for size in reversed(counts.shape):
        # Tens of times faster than cumsum for axes as short as those of levels.
        lines = counts.reshape(-1, size, after)
        for level in range(1, size):
            if coarser:
                lines[:, -1 - level] += lines[:, -level]
            else:
                lines[:, level] += lines[:, level - 1]
        after *= size
    return counts
