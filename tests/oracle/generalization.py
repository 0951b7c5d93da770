"""The definitions once more, in plain Python without SQL: what macros are measured against."""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

Number = float | date
Value = float | date | str


@dataclass(frozen=True)
class IntervalHierarchy:
    """Half-open intervals that tile a range; `labels[i]` are the labels of level i + 1."""

    breaks: tuple[Number, ...]
    labels: tuple[tuple[str, ...], ...]

    @property
    def rows(self) -> list[tuple[Value, ...]]:
        """Return the rows of the table that holds the hierarchy."""
        bounds = zip(self.breaks[:-1], self.breaks[1:], strict=True)
        return [(*b, *(level[i] for level in self.labels)) for i, b in enumerate(bounds)]

    def leaf(self, value: Value) -> int:
        """Return the position of the interval that holds the value."""
        position = bisect.bisect_right(self.breaks, value) - 1
        assert 0 <= position < len(self.breaks) - 1
        return position

    def leaf_name(self, value: Value) -> Value:
        """Return what names the leaf of a value in the microdata: its lower bound."""
        return self.breaks[self.leaf(value)]


@dataclass(frozen=True)
class CategoricalHierarchy:
    """Values and their labels; `labels[i]` are the labels of level i + 1."""

    values: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    @property
    def rows(self) -> list[tuple[Value, ...]]:
        """Return the rows of the table that holds the hierarchy."""
        return [(v, *(level[i] for level in self.labels)) for i, v in enumerate(self.values)]

    def leaf(self, value: Value) -> int:
        """Return the position of the value."""
        assert isinstance(value, str)
        return self.values.index(value)

    def leaf_name(self, value: Value) -> Value:
        """Return what names the leaf of a value in the microdata: the value itself."""
        return value


Hierarchy = IntervalHierarchy | CategoricalHierarchy


@dataclass(frozen=True)
class Record:
    """One person."""

    quasi_identifiers: tuple[Value | None, ...]
    sensitive: str | None
    target: str


@dataclass(frozen=True)
class World:
    """A table about people and one hierarchy for each of its quasi-identifiers."""

    hierarchies: tuple[Hierarchy, ...]
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Privacy:
    """The privacy of one effort."""

    k: int | None
    equivalence_classes: int
    records: int
    released_records: int
    suppressed_records: int
    violating_records: int
    meets_guarantees: bool
    highest_risk: float | None
    average_risk: float | None
    sample_uniqueness: float | None


def generalize(hierarchy: Hierarchy, level: int, value: Value | None) -> Value:
    """Return what a value is shown as: itself at level 0, else its label; NULL is `*`."""
    if value is None:
        return "*"
    return value if level == 0 else hierarchy.labels[level - 1][hierarchy.leaf(value)]


def bounds(
    hierarchy: IntervalHierarchy, level: int, value: Value | None
) -> tuple[Value | None, Value | None]:
    """Return the bounds of what a value is shown as."""
    if value is None:
        return hierarchy.breaks[0], hierarchy.breaks[-1]
    if level == 0:
        return value, value
    labels = hierarchy.labels[level - 1]
    covered = [i for i, label in enumerate(labels) if label == labels[hierarchy.leaf(value)]]
    return hierarchy.breaks[covered[0]], hierarchy.breaks[covered[-1] + 1]


def generalized(world: World, levels: Sequence[int]) -> list[tuple[Value, ...]]:
    """Return the generalized quasi-identifiers of every record."""
    return [
        tuple(
            generalize(hierarchy, level, value)
            for hierarchy, level, value in zip(
                world.hierarchies, levels, record.quasi_identifiers, strict=True
            )
        )
        for record in world.records
    ]


def class_sizes(world: World, levels: Sequence[int]) -> list[int]:
    """Return for every record how many records look like it."""
    rows = generalized(world, levels)
    counts = Counter(rows)
    return [counts[row] for row in rows]


def suppressed(sizes: Sequence[int], k: int | None, limit: str) -> list[bool]:
    """Return which records are suppressed: all in classes below k if they are few enough, or none.

    The limit is a decimal number as it is written, not its nearest binary fraction.
    """
    if k is None:
        return [False] * len(sizes)
    small = [size < k for size in sizes]
    if sum(small) <= math.floor(Fraction(limit) * len(sizes)):
        return small
    return [False] * len(sizes)


def privacy(
    world: World, levels: Sequence[int], required_k: int, limit: str, *, is_baseline: bool = False
) -> Privacy:
    """Return the privacy of the records that are released; nothing of a baseline is suppressed."""
    rows = generalized(world, levels)
    sizes = class_sizes(world, levels)
    is_suppressed = suppressed(sizes, None if is_baseline else required_k, limit)
    classes = Counter(r for r, hidden in zip(rows, is_suppressed, strict=True) if not hidden)
    smallest = min(classes.values(), default=None)
    released = classes.total()
    return Privacy(
        k=smallest,
        equivalence_classes=len(classes),
        records=len(rows),
        released_records=released,
        suppressed_records=sum(is_suppressed),
        violating_records=sum(size < required_k for size in sizes),
        meets_guarantees=not is_baseline and smallest is not None and smallest >= required_k,
        highest_risk=1 / smallest if smallest else None,
        average_risk=len(classes) / released if released else None,
        sample_uniqueness=(
            sum(size == 1 for size in classes.values()) / released if released else None
        ),
    )
