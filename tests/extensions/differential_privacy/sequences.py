"""Sequences of private releases of two neighbouring histories, simulated many times.

Two histories of a source are alike but for one person: she is there in some states of one of them,
and never in the other, or has another value. Whoever sees all that is published must not tell them
apart better than epsilon and delta of all that was paid allow. Draws are those of the vault, kept
under the digits that specs give; published are sizes of classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import duckdb
import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta as beta_distribution

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.differential_privacy.model import k_of, largest_beta
from dbt_anonymize.spec import Spec
from dbt_anonymize.vault.tokens import append_draws
from tests.worlds.private import changed

EPSILON, DELTA = 1.0, 0.05
BETA = largest_beta(EPSILON)
K = k_of(EPSILON, DELTA, BETA)
ABSENT = -1
_CLASSES = 3

# The class of each person at the finest level, or `ABSENT`.
State = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One build: of which anonymization, effort and draw, and of which rows in each history."""

    with_her: State
    without: State
    is_coarse: bool = False
    draw: int = 1
    anonymization: str = "first"

    def state(self, *, is_with: bool) -> State:
        """Return the rows of one of the histories."""
        return self.with_her if is_with else self.without

    @property
    def mechanism(self) -> str:
        """The digits of the spec."""
        return _digits(2 if self.is_coarse else 1, self.draw)


@cache
def _digits(effort: int, draw: int) -> str:
    private = {"epsilon": EPSILON, "delta": DELTA, "draw": draw}
    guarantees = {"k_anonymity": {"k": 2}, "differential_privacy": private}
    digits = Spec.model_validate(changed(guarantees=guarantees, release={"effort": effort}))
    assert digits.mechanism is not None
    return digits.mechanism


class Vault:
    """Draws of many independent vaults, one per trial.

    If ``shares_draws``, as they were before each mechanism had draws of its own.
    """

    def __init__(self, trials: int, *, shares_draws: bool = False) -> None:
        self.connection = duckdb.connect()
        self.trials, self.shares_draws = trials, shares_draws
        self.drawn: dict[tuple[str, str], NDArray[np.bool_]] = {}

    def history(self, steps: Sequence[Step], *, is_with: bool) -> tuple[list[Ints], int]:
        """Return all that is published in one history, and how many releases were paid for.

        Each is the sizes of classes, zero if suppressed: trials times classes.
        """
        paid, payments = dict[tuple[str, str], State](), 0
        published, seen = dict[str, Ints](), list[Ints]()
        for step in steps:
            key, state = (step.anonymization, step.mechanism), step.state(is_with=is_with)
            # What was paid for is published again, or the build stops: what is published stays.
            if key not in paid or (self.shares_draws and paid[key] != state):
                paid[key], payments = state, payments + 1
                published[step.anonymization] = self._released(step, state)
            seen.append(published[step.anonymization])
        return seen, payments

    def _released(self, step: Step, state: State) -> Ints:
        classes = np.array(state)
        key = (step.anonymization, "" if self.shares_draws else step.mechanism)
        if key not in self.drawn:
            self.drawn[key] = self._draws(step, len(state)) < BETA
        # All classes are the first one at the coarse level, and the others are empty.
        classes = np.minimum(classes, 0) if step.is_coarse else classes
        levels = [classes == number for number in range(_CLASSES)]
        sizes = np.stack([self.drawn[key][:, level].sum(axis=1) for level in levels], axis=1)
        return np.where(sizes >= K, sizes, 0)

    def _draws(self, step: Step, people: int) -> NDArray[np.float64]:
        table, own = f"{step.anonymization}_sample", not self.shares_draws
        self.connection.execute(
            f"create table if not exists {table} (person bigint, draw double, identified_by text"
            + (", mechanism text)" if own else ")")
        )
        append_draws(
            self.connection,
            relation=table,
            people=f"select range as person from range({self.trials * people})",
            identified_by="person",
            **({"mechanism": step.mechanism} if own else {}),
        )
        only = f" where mechanism = '{step.mechanism}'" if own else ""
        found = self.connection.execute(f"select draw from {table}{only} order by person")
        return np.asarray(found.fetchnumpy()["draw"]).reshape(self.trials, people)


def excess(
    steps: Sequence[Step], trials: int, *, error: float, shares_draws: bool = False
) -> float:
    """Return by how much an event is likelier than epsilon and delta allow; negative if none is.

    An attacker learns in half of the trials which events tell the histories apart: of sizes, of the
    sums of releases, and of their differences. These are then counted in the other half; bounds
    (Clopper-Pearson) hold together, but for ``error``.
    """
    vault = Vault(trials, shares_draws=shares_draws)
    with vault.connection:
        (one, paid), (other, also_paid) = (
            vault.history(steps, is_with=is_with) for is_with in (True, False)
        )
    paid = max(paid, also_paid)
    factor, delta = math.exp(paid * EPSILON), paid * DELTA
    pairs = [
        pair for seen in zip(_views(one), _views(other), strict=True) for pair in (seen, seen[::-1])
    ]
    found = []
    for likely, rare in pairs:
        p, q = _counted(likely, rare, factor)
        low, high = _bounds(p, q, trials - trials // 2, error / (2 * len(pairs)))
        found.append(low - factor * high - delta)
    return max(found)


def _views(seen: Sequence[Ints]) -> list[Ints]:
    """Return what an attacker may look at: all sizes, all sums, and differences of releases."""
    sums = [part.sum(axis=1, keepdims=True) for part in seen]
    return [
        np.concatenate(seen, axis=1),
        np.concatenate(sums, axis=1),
        np.concatenate([after - before for before, after in pairwise(sums)], axis=1),
        np.concatenate([after - before for before, after in pairwise(seen)], axis=1),
    ]


def _counted(likely: Ints, rare: Ints, factor: float) -> tuple[int, int]:
    """Learn an event in the first half of the trials, and count it in the second one of each."""
    trials, half = len(likely), len(likely) // 2
    rows = np.concatenate([likely, rare])
    rows = rows - rows.min(axis=0)
    strides = np.cumprod([1, *(rows.max(axis=0) + 1)[:-1]])
    _, codes = np.unique(rows @ strides, return_inverse=True)
    (first, second), (first_rare, second_rare) = (
        np.split(part, [half]) for part in (codes[:trials], codes[trials:])
    )
    size = int(codes.max()) + 1
    learned, learned_rare = (
        np.bincount(first, minlength=size),
        np.bincount(first_rare, minlength=size),
    )
    event = learned > factor * learned_rare
    return int(event[second].sum()), int(event[second_rare].sum())


def _bounds(likely: int, rare: int, trials: int, error: float) -> tuple[float, float]:
    low = beta_distribution.ppf(error, likely, trials - likely + 1) if likely else 0.0
    high = beta_distribution.ppf(1 - error, rare + 1, trials - rare) if rare < trials else 1.0
    return float(low), float(high)
