"""Synthesizers that see inner records alone, and noise on all records, in a few lines each.

A table is an array of numbers; texts are codes. ``HONEST`` has functions of inner records,
``NOISY`` of all records; both take a generator as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.cluster import MiniBatchKMeans
from sklearn.neighbors import NearestNeighbors
from sklearn.tree import DecisionTreeRegressor

Values = NDArray[np.float64]
Generator = np.random.Generator
# Job, city, age, income, hours, ill: the numbers are those in the middle.
NUMBERS = np.array([False, False, True, True, True, False])


class Table:
    """People whose income, hours and illness depend on job and age."""

    def __init__(self, number: int, seed: int) -> None:
        self.chance = np.random.default_rng([seed, 11])
        job, city = self.chance.integers(0, 6, number), self.chance.integers(0, 4, number)
        age = self.chance.normal(35 + 2 * job, 12).clip(18, 90).round()
        income = self.chance.lognormal(9.5 + 0.1 * job + age / 100, 0.4).round(-2)
        hours = self.chance.normal(38 - job, 5).round(1)
        ill = self.chance.random(number) < 0.1 + 0.006 * (age - 18)
        self.values = np.column_stack([job, city, age, income, hours, ill]).astype(float)
        self.is_outer = self.chance.random(number) < 0.4

    def split(
        self, make: Callable[[Values, Generator], Values], used: Sequence[int] = range(6)
    ) -> list[list[NDArray[Any]]]:
        """Return outer records, and rows made of inner ones and these without repetitions.

        There are no more rows than inner records, of which ``make`` sees all columns.
        """
        inner, outer = self.values[~self.is_outer], self.values[self.is_outer]
        rows = self.chance.permutation(make(inner, self.chance))[: len(inner)]
        rows, inner = (np.unique(some[:, used], axis=0) for some in (rows, inner))
        return [_columns(some, used) for some in (outer[:, used], rows, inner)]


def _columns(values: Values, used: Sequence[int]) -> list[NDArray[Any]]:
    return [
        column if NUMBERS[place] else (column * 1000).astype(np.int64)
        for place, column in zip(used, values.T, strict=True)
    ]


def _near(inner: Values, number: int) -> NDArray[np.int64]:
    scaled = inner / np.where(NUMBERS, inner.std(axis=0), 1)
    found = NearestNeighbors(n_neighbors=number).fit(scaled).kneighbors(return_distance=False)
    return np.asarray(found)


def _marginals(inner: Values, chance: Generator) -> Values:
    return np.column_stack([chance.choice(column, len(inner)) for column in inner.T])


def _noisy(values: Values, chance: Generator, size: float, numbers: NDArray[Any]) -> Values:
    noise = chance.normal(size=values.shape) * values.std(axis=0) * size
    return np.where(numbers, values + noise, values)


def _smoothed(inner: Values, chance: Generator) -> Values:
    drawn = _noisy(chance.choice(inner, len(inner)), chance, 0.3, NUMBERS)
    is_other = (chance.random(inner.shape) < 0.1) & ~NUMBERS
    return np.where(is_other, _marginals(inner, chance), drawn)


def _averages(inner: Values, chance: Generator) -> Values:
    near = inner[_near(inner, 5)]
    return np.where(NUMBERS, near.mean(axis=1), stats.mode(near, axis=1).mode)


def _centres(inner: Values, chance: Generator) -> Values:
    scaled = inner / inner.std(axis=0)
    found = MiniBatchKMeans(len(inner) // 5, random_state=1, n_init=1).fit_predict(scaled)
    groups = [inner[found == group] for group in np.unique(found)]
    return np.array([np.where(NUMBERS, g.mean(axis=0), stats.mode(g).mode) for g in groups])


def _smote(inner: Values, chance: Generator) -> Values:
    near = inner[_near(inner, 5)[np.arange(len(inner)), chance.integers(0, 5, len(inner))]]
    part = chance.random((len(inner), 1))
    return np.where(NUMBERS, inner + part * (near - inner), np.where(part < 0.5, inner, near))


def _trees(inner: Values, chance: Generator) -> Values:
    """Draw one column after the other from the leaf of a tree on those before."""
    rows = chance.choice(inner[:, :1], len(inner))
    for place in range(1, inner.shape[1]):
        tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
        tree.fit(inner[:, :place], inner[:, place])
        leaves, drawn = tree.apply(inner[:, :place]), tree.apply(rows)
        column = [chance.choice(inner[leaves == leaf, place]) for leaf in drawn]
        rows = np.column_stack([rows, column])
    return rows


def _copula(inner: Values, chance: Generator) -> Values:
    """Draw from a Gaussian copula with the marginals of the records."""
    jitter = inner + chance.random(inner.shape) * 1e-6
    normal = stats.norm.ppf(stats.rankdata(jitter, axis=0) / (len(inner) + 1))
    mean, spread = np.zeros(inner.shape[1]), np.corrcoef(normal.T)
    drawn = stats.norm.cdf(chance.multivariate_normal(mean, spread, len(inner)))
    return np.column_stack(
        [
            np.quantile(column, share, method="inverted_cdf")
            for column, share in zip(inner.T, drawn.T, strict=True)
        ]
    )


HONEST: Mapping[str, Callable[[Values, Generator], Values]] = {
    "marginals": _marginals,
    "smoothed": _smoothed,
    "averages": _averages,
    "centres": _centres,
    "smote": _smote,
    "copies": lambda inner, chance: inner,
    "noisy copies": lambda inner, chance: _noisy(inner, chance, 0.05, NUMBERS),
    "bootstrap": lambda inner, chance: chance.choice(inner, len(inner)),
    "trees": _trees,
    "five times as many": lambda inner, chance: np.vstack(
        [_trees(inner, chance) for _ in range(5)]
    ),
    "half as many": lambda inner, chance: _trees(inner, chance)[: len(inner) // 2],
    "copula": _copula,
}


def _jittered(size: float, which: Sequence[int]) -> Callable[[Table, Generator], Values]:
    numbers = np.isin(np.arange(len(NUMBERS)), which)
    return lambda table, chance: _noisy(table.values, chance, size, numbers)


def _permuted(which: Sequence[int]) -> Callable[[Table, Generator], Values]:
    def make(table: Table, chance: Generator) -> Values:
        values = table.values.copy()
        for place in which:
            values[:, place] = chance.permutation(values[:, place])
        return values

    return make


def _rounded(table: Table, _: Generator) -> Values:
    width = table.values.std(axis=0) / 2
    return np.where(NUMBERS, np.round(table.values / width) * width, table.values)


# By the words of the page; sizes of noise are in standard deviations.
NOISY: Mapping[str, Callable[[Table, Generator], Values]] = {
    "one number, 0.1": _jittered(0.1, [3]),
    "one number, 1": _jittered(1, [3]),
    "one number, permuted": _permuted([3]),
    "one category, permuted": _permuted([5]),
    "all numbers, 0.01": _jittered(0.01, [2, 3, 4]),
    "all numbers, 0.1": _jittered(0.1, [2, 3, 4]),
    "all numbers, 0.2": _jittered(0.2, [2, 3, 4]),
    "all numbers, 0.5": _jittered(0.5, [2, 3, 4]),
    "all numbers, rounded to 0.5": _rounded,
    "two numbers, permuted": _permuted([2, 3]),
    "all numbers, 0.05, five copies of each record": lambda table, chance: _noisy(
        np.repeat(table.values, 5, axis=0), chance, 0.05, NUMBERS
    ),
    "all numbers, 0.05, half of the records": lambda table, chance: _noisy(
        table.values[::2], chance, 0.05, NUMBERS
    ),
}
