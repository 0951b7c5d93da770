"""Distances and errors of queries once more, record by record in plain Python."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tests.oracle.generalization import Hierarchy, IntervalHierarchy, Value, generalize

PRIME = 2147483647
Leaf = int | str | None
Cell = tuple[Leaf, ...]


@dataclass(frozen=True)
class Compared:
    """Records: raw quasi-identifiers and a kept value; what each effort shows, and of whom."""

    hierarchies: tuple[Hierarchy, ...]
    records: tuple[tuple[tuple[Value | None, ...], str | None], ...]

    def leaves(self, position: int, value: Value | None, level: int) -> list[Leaf]:
        """Return the leaves that the label of a value covers: intervals and categories in order."""
        hierarchy = self.hierarchies[position]
        every = range(len(hierarchy.rows))
        order = [hierarchy.rows[row][0] for row in every]
        ranks = [sorted(order).index(name) for name in order]  # type: ignore[type-var]
        if level == 0:
            return [None if value is None else ranks[hierarchy.leaf(value)]]
        label = generalize(hierarchy, level, value)
        if label == "*":
            has_null = any(raw[position] is None for raw, _ in self.records)
            return [*every, *([None] if has_null else [])]
        return [ranks[row] for row in every if hierarchy.labels[level - 1][row] == label]

    def cells(
        self,
        view: Sequence[int],
        levels: Sequence[Sequence[int]],
        released: Sequence[bool],
    ) -> dict[Cell, float]:
        """Return how many released records are in each cell; the last attribute is the kept one."""
        found: dict[Cell, float] = defaultdict(float)
        for (raw, kept), own, is_released in zip(self.records, levels, released, strict=True):
            covered = [
                [kept] if p == len(self.hierarchies) else self.leaves(p, raw[p], own[p])
                for p in view
            ]
            for cell in itertools.product(*covered) if is_released else ():
                found[cell] += 1 / math.prod(map(len, covered))
        return found

    def midpoint(self, position: int, leaf: int) -> float:
        """Return where the middle of a leaf lies between the lowest bound (0) and the highest."""
        hierarchy = self.hierarchies[position]
        assert isinstance(hierarchy, IntervalHierarchy)
        low, high = (float(hierarchy.breaks[leaf + i]) for i in (0, 1))  # type: ignore[arg-type]
        first, last = (float(hierarchy.breaks[i]) for i in (0, -1))  # type: ignore[arg-type]
        return ((low + high) / 2 - first) / (last - first)


def distance(original: dict[Cell, float], released: dict[Cell, float]) -> float | None:
    """Return the total variation distance of two distributions; None if nothing is released."""
    whole, total = sum(original.values()), sum(released.values())
    if not total:
        return None
    cells = {*original, *released}
    return sum(abs(original.get(c, 0) / whole - released.get(c, 0) / total) for c in cells) / 2


def pmse(original: dict[Cell, float], released: dict[Cell, float]) -> tuple[float, float | None]:
    """Return by how much a model of the cells tells original from released records, and its ratio.

    Everybody has a score, the share of released records in their cell; the mean of the squared
    differences to the share of released records in all; and this divided by what is expected of
    records drawn from the original with replacement, None where they cannot differ from it.
    """
    stacked = [
        (cell, label, weight)
        for label, side in ((0, original), (1, released))
        for cell, weight in side.items()
        if weight
    ]
    total = math.fsum(weight for _, _, weight in stacked)
    share = math.fsum(weight * label for _, label, weight in stacked) / total
    scores = {
        cell: released.get(cell, 0) / (original.get(cell, 0) + released.get(cell, 0))
        for cell, *_ in stacked
    }
    found = math.fsum(weight * (scores[cell] - share) ** 2 for cell, _, weight in stacked) / total
    expected = (len(original) - 1) * (1 - share) ** 2 * share / total
    if not expected:
        return found, 0.0 if len(scores) == 1 else None
    return found, found / expected


def _dot(first: Sequence[float], second: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(first, second, strict=True))


def pearson(cells: dict[Cell, float], midpoints: Sequence[Sequence[float]]) -> float:
    """Return Pearson's coefficient of the midpoints of two leaves; 0 where one is constant."""
    known = {cell: n for cell, n in cells.items() if None not in cell and n}
    if any(len({cell[side] for cell in known}) < 2 for side in (0, 1)):
        return 0.0
    values = [[midpoints[side][cell[side]] for cell in known] for side in (0, 1)]  # type: ignore[index]
    weights = list(known.values())
    means = [_dot(weights, found) / sum(weights) for found in values]
    first, second = (
        [value - mean for value in found] for found, mean in zip(values, means, strict=True)
    )
    products = [
        _dot(weights, [a * b for a, b in zip(left, right, strict=True)])
        for left, right in ((first, second), (first, first), (second, second))
    ]
    return products[0] / math.sqrt(products[1] * products[2])


def cramers_v(cells: dict[Cell, float]) -> float:
    """Return Cramer's V of two attributes, NULL a category; 0 where one is constant."""
    total = sum(cells.values())
    margins: list[dict[Leaf, float]] = [defaultdict(float), defaultdict(float)]
    for cell, n in cells.items():
        for side, leaf in enumerate(cell):
            margins[side][leaf] += n
    smaller = min(map(len, margins))
    if smaller < 2:
        return 0.0
    chi_squared = math.fsum(
        (cells.get((a, b), 0.0) - n * m / total) ** 2 / (n * m / total)
        for (a, n), (b, m) in itertools.product(margins[0].items(), margins[1].items())
    )
    return math.sqrt(chi_squared / total / (smaller - 1))


def draws(query: int, random_state: int) -> list[float]:
    """Return the four numbers that a query is made of."""
    found = []
    for side in range(4):
        draw = (random_state * 15485863 + query * 104729 + side * 7919) % PRIME
        for _ in range(3):
            draw = (draw * draw + 12345) % PRIME
        found.append(draw / PRIME)
    return found


def ranges(query: int, random_state: int, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last leaf of each attribute that a query asks for."""
    drawn = draws(query, random_state)
    pairs = [sorted(drawn[2 * i : 2 * i + 2]) for i in range(len(sizes))]
    return [
        (math.floor(low * size), math.floor(high * size))
        for (low, high), size in zip(pairs, sizes, strict=True)
    ]


def answer(
    cells: dict[Cell, float], asked: Sequence[tuple[int, int]], midpoints: Sequence[float]
) -> tuple[float, float | None]:
    """Return the count in a range, and the mean of the midpoints of the first attribute there."""
    inside = {
        cell: n
        for cell, n in cells.items()
        if all(
            isinstance(leaf, int) and low <= leaf <= high
            for leaf, (low, high) in zip(cell, asked, strict=True)
        )
    }
    count = sum(inside.values())
    total = sum(n * midpoints[leaf] for (leaf, *_), n in inside.items() if isinstance(leaf, int))
    return count, total / count if count else None


def percentile(errors: Sequence[float], percent: int) -> float | None:
    """Return the nearest rank."""
    ranked = sorted(errors)
    return ranked[math.ceil(percent * len(ranked) / 100) - 1] if ranked else None
