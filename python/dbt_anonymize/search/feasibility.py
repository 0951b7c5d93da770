"""Predict which nodes are infeasible, to check those that exclude the most.

The logarithm of the violating records is nearly a sum of one number per attribute and level, fitted
to the nodes checked so far. Predictions decide the order of checks, never their outcome.
"""

from __future__ import annotations

import numpy as np

from dbt_anonymize.privacy.table import BoolArray, FloatArray, IntArray
from dbt_anonymize.search.lattice import Lattice

# Checks before the first fit, and between two of them; large lattices take longer to fit.
FIRST, BETWEEN, RARELY, NODES_PER_CHECK = 12, 8, 48, 4096
# Nodes that a check must be expected to exclude to be preferred to the next one in turn.
WORTHWHILE = 4.0
LEAST_CHANCE = 0.8
# Logarithm between no violating record, and one: of the records + 1.
LIMIT = 0.4
# Ridge penalty; least spread of the predictions (natural logarithm); share of it in the logistic.
PENALTY, LEAST_SPREAD, SHARPNESS = 0.3, 0.3, 0.6


class Guide:
    """Suggest nodes to check; ``entropy`` says how finely each node tells records apart.

    ``most``: records that may be suppressed. ``upwards``: a feasible node is expected to settle all
    coarser ones, as an infeasible one settles all finer ones.
    """

    def __init__(
        self, lattice: Lattice, entropy: FloatArray, most: int = 0, *, upwards: bool = False
    ):
        self._lattice = lattice
        self._entropy = entropy.reshape(-1)
        self._gain = np.zeros(lattice.size)
        self._indices: list[int] = []
        self._logarithms: list[float] = []
        self._wait = FIRST
        self._limit = LIMIT
        self._upwards = upwards
        if most:
            self.expect_border(most)

    def expect_border(self, most: float) -> None:
        """Expect nodes to be settled downwards from so many violating records on."""
        self._limit = float(np.log(most + 1.0))

    def observe(self, index: int, violating: int) -> None:
        """Take in how many records violate at a node."""
        self._indices.append(index)
        self._logarithms.append(float(np.log(violating + 1.0)))
        self._wait -= 1

    def suggest(self, is_open: BoolArray, is_settled: BoolArray) -> int | None:
        """Return the node whose check should exclude the most, if it is worthwhile.

        ``is_open``: nodes that may be the optimum. ``is_settled``: nodes not to suggest.
        """
        if self._wait <= 0:
            between = RARELY if self._upwards else BETWEEN
            self._wait = max(between, self._lattice.size // NODES_PER_CHECK)
            self._gain = self._gains(is_open)
        gain = self._gain * ~is_settled.reshape(-1)
        best = int(gain.argmax())
        return best if gain[best] > (0.0 if self._upwards else WORTHWHILE) else None

    def _gains(self, is_open: BoolArray) -> FloatArray:
        chances = self._chances()
        finer: FloatArray = is_open.astype(np.float64)
        for axis in range(finer.ndim):
            np.cumsum(finer, axis=axis, out=finer)
        if not self._upwards:
            return np.where(chances > LEAST_CHANCE, chances * finer.reshape(-1), 0.0)
        coarser: FloatArray = is_open.astype(np.float64)
        for axis in range(coarser.ndim):
            turned = np.flip(coarser, axis)
            np.cumsum(turned, axis=axis, out=turned)
        return chances * finer.reshape(-1) + (1.0 - chances) * coarser.reshape(-1)

    def _chances(self) -> FloatArray:
        logarithms = np.array(self._logarithms)
        mean = float(logarithms.mean())
        features = self._features(np.array(self._indices))
        normal = features.T @ features + PENALTY * np.eye(features.shape[1])
        weights = np.linalg.solve(normal, features.T @ (logarithms - mean))
        spread = max(LEAST_SPREAD, float((logarithms - mean - features @ weights).std()))
        per_level, start = [], 0
        for low, count in zip(self._lattice.lowest, self._lattice.shape, strict=True):
            # The lattice adds up by level of the hierarchy; the lowest one has no number.
            per_level.append(np.zeros(low + count))
            per_level[-1][low + 1 :] = weights[start : start + count - 1]
            start += count - 1
        foreseen = mean + self._lattice.add_up(tuple(per_level)).reshape(-1)
        foreseen += weights[start] + weights[start + 1] * self._entropy
        distance = (foreseen - self._limit) / (SHARPNESS * spread)
        chances: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(distance, -50.0, 50.0)))
        return chances

    def _features(self, indices: IntArray) -> FloatArray:
        """Return one column per level above the lowest, a constant, and the entropy."""
        levels = self._lattice.levels(indices) - np.array(self._lattice.lowest)
        columns = [
            levels[:, attribute, None] == np.arange(1, count)
            for attribute, count in enumerate(self._lattice.shape)
        ]
        constant = np.ones((len(indices), 1))
        return np.concatenate([*columns, constant, self._entropy[indices, None]], axis=1)
