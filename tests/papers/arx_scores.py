"""Measures of the article: AUC relative to the untouched table, and the Brier skill."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Classifier(Protocol):
    """A model of scikit-learn that gives probabilities."""

    classes_: NDArray[np.int64]

    def fit(self, features: Floats, target: Ints) -> Classifier:
        """Train."""

    def predict_proba(self, features: Floats) -> Floats:
        """Return a column per class."""


@dataclass(frozen=True)
class Score:
    """Means over folds; of several classes, each against all others."""

    auc: float
    brier: float


@dataclass(frozen=True)
class Compared:
    """A release beside the untouched table, with the same folds."""

    released: Score
    untouched: Score

    @property
    def relative_auc(self) -> float:
        """Share of what a model of the untouched table knows beyond the zero rule, in percent."""
        return 100 * (self.released.auc - 0.5) / (self.untouched.auc - 0.5)

    @property
    def skill(self) -> float:
        """Return the Brier skill."""
        return 1 - self.released.brier / self.untouched.brier


def auc_and_brier(chances: Floats, target: Ints) -> tuple[float, float]:
    """Return the mean AUC of each class against all others, and the Brier score.

    ``chances`` have a column per class, or one of class 1.

    Examples
    --------
    >>> auc_and_brier(np.array([[0.5], [0.5], [1.0]]), np.array([0, 1, 1]))
    (0.75, 0.16666666666666666)
    """
    is_class = np.eye(max(2, chances.shape[1]))[target][:, -chances.shape[1] :]
    members = is_class.sum(axis=0)
    ranks = (rankdata(chances, axis=0) * is_class).sum(axis=0)
    aucs = (ranks - members * (members + 1) / 2) / (members * (len(target) - members))
    return float(aucs.mean()), float(((chances - is_class) ** 2).sum(axis=1).mean())


def score_of_fold(model: Classifier, features: Floats, target: Ints) -> tuple[float, float]:
    """Return AUC and Brier score of two classes, 0 and 1."""
    return auc_and_brier(model.predict_proba(features)[:, 1:], target)


def mean_score(folds: Iterable[tuple[float, float]]) -> Score:
    """Return the means over folds."""
    auc, brier = np.mean(list(folds), axis=0)
    return Score(float(auc), float(brier))


@dataclass(frozen=True)
class Spread:
    """Median and 95 % interval over seeds."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of values, one per seed."""
        low, middle, high = np.quantile(np.asarray(values), [0.025, 0.5, 0.975])
        return cls(float(middle), float(low), float(high))

    def shown(self, digits: int) -> str:
        """Return it as the page shows it.

        Examples
        --------
        >>> Spread(0.5, 0.25, 0.75).shown(2)
        '0.50 (0.25 to 0.75)'
        """
        middle, low, high = (
            f"{round(value, digits) + 0.0:.{digits}f}"
            for value in (self.middle, self.low, self.high)
        )
        return f"{middle} ({low} to {high})"

    def verdict(self, published: float, digits: int) -> str:
        """Compare with a published figure of so many decimals.

        Examples
        --------
        >>> Spread(100.0, 99.997, 100.0).verdict(100, 1), Spread(0.5, 0.2, 0.7).verdict(0.3, 1)
        ('equal', 'within noise')
        """
        low, middle, high = (round(v, digits) for v in (self.low, self.middle, self.high))
        if low == middle == high == published:
            return "equal"
        return "within noise" if low <= published <= high else "different"
