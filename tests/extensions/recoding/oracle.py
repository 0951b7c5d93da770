"""Recodings once more, in plain Python without SQL: what the macros are measured against."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from tests.extensions.recoding.compilation import LEVELS, Case
from tests.oracle.generalization import CategoricalHierarchy, Hierarchy, IntervalHierarchy, Value

Part = list[int]


@dataclass(frozen=True)
class Record:
    """One record."""

    quasi_identifiers: tuple[Value | None, ...]
    sensitive: str
    subject: int


@dataclass(frozen=True)
class World:
    """A table and the hierarchies of its quasi-identifiers."""

    hierarchies: tuple[Hierarchy, ...]
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Cell:
    """Recoded quasi-identifier of a record."""

    label: str
    lower: Value | None
    upper: Value | None
    level: int | None
    share: float


class Leaves:
    """The leaves of one hierarchy as numbers, in an order in which labels cover neighbours."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.size = len(hierarchy.labels[0])
        self.is_interval = isinstance(hierarchy, IntervalHierarchy)
        self.order = list(range(self.size))
        if isinstance(hierarchy, CategoricalHierarchy):
            values = hierarchy.values
            self.order.sort(
                key=lambda i: [
                    *(level[i].encode() for level in reversed(hierarchy.labels)),
                    values[i].encode(),
                ]
            )
        self._place = {leaf: place for place, leaf in enumerate(self.order)}

    def number(self, value: Value | None) -> int | None:
        """Return the number of the leaf of a value; None for NULL."""
        return None if value is None else self._place[self.hierarchy.leaf(value)]

    def label(self, level: int, number: int) -> Hashable:
        """Return the label of a leaf at a level; at level 0 the leaf itself."""
        return number if level == 0 else self.hierarchy.labels[level - 1][self.order[number]]

    def covered(self, level: int, number: int) -> list[int]:
        """Return the leaves that the label of a leaf covers at a level."""
        return [n for n in range(self.size) if self.label(level, n) == self.label(level, number)]

    def level_of(self, numbers: Iterable[int]) -> int:
        """Return the lowest level at which leaves have one label."""
        found = list(numbers)
        return next(v for v in range(LEVELS + 1) if len({self.label(v, n) for n in found}) == 1)

    def width(self, numbers: Iterable[int]) -> float:
        """Return the share of the whole that is between the smallest and the largest leaf."""
        found = list(numbers)
        if isinstance(self.hierarchy, IntervalHierarchy):
            breaks = [_number(b) for b in self.hierarchy.breaks]
            whole = breaks[-1] - breaks[0]
            return (breaks[max(found) + 1] - breaks[0]) / whole - (
                breaks[min(found)] - breaks[0]
            ) / whole
        return len(self.covered(self.level_of(found), found[0])) / self.size

    def cell(self, numbers: set[int | None]) -> Cell:
        """Return what is shown of values: the interval or the label that covers all of them."""
        found = sorted(number for number in numbers if number is not None)
        whole = None in numbers
        if isinstance(self.hierarchy, IntervalHierarchy):
            return self._interval(self.hierarchy, found, whole=whole)
        level = LEVELS if whole else self.level_of(found)
        label = "*" if whole else self.hierarchy.labels[level - 1][self.order[found[0]]]
        if level == 0:
            label = str(self.hierarchy.values[self.order[found[0]]])
        if label == "*" and level > 0:
            return Cell("*", None, None, LEVELS, 1.0)
        return Cell(label, None, None, level, len(self.covered(level, found[0])) / self.size)

    def _interval(self, hierarchy: IntervalHierarchy, found: list[int], *, whole: bool) -> Cell:
        breaks = hierarchy.breaks
        if whole or (found[0], found[-1]) == (0, self.size - 1):
            return Cell("*", breaks[0], breaks[-1], LEVELS, 1.0)
        lower, upper = breaks[found[0]], breaks[found[-1] + 1]
        share = (_number(upper) - _number(lower)) / (_number(breaks[-1]) - _number(breaks[0]))
        for level in range(1, LEVELS):
            covered = self.covered(level, found[0])
            if (covered[0], covered[-1]) == (found[0], found[-1]):
                return Cell(str(self.label(level, found[0])), lower, upper, level, share)
        return Cell("", lower, upper, None, share)


def _number(bound: Any) -> float:
    return float(bound.toordinal() if isinstance(bound, date) else bound)


def keeps(world: World, case: Case, part: Part) -> bool:
    """Tell whether records may be a class: the definitions of the guarantees."""
    records = [world.records[i] for i in part]
    people = len({r.subject for r in records}) if case.has_subject else len(records)
    if people < case.required_k:
        return False
    inside, outside = _values(case, records), _values(case, world.records)
    for guarantee in case.guarantees:
        if guarantee["model"] == "l_diversity" and len(inside) < guarantee["l"]:
            return False
        if guarantee["model"] == "t_closeness":
            distance = sum(
                abs(inside[v] / inside.total() - outside[v] / outside.total()) for v in outside
            )
            if distance / 2 > guarantee["t"]:
                return False
    return True


def _values(case: Case, records: Sequence[Record]) -> Counter[str]:
    """Return how often each sensitive value occurs, once for each person where there are people."""
    if case.has_subject:
        return Counter(value for _, value in {(r.subject, r.sensitive) for r in records})
    return Counter(r.sensitive for r in records)


class Mondrian:
    """Multidimensional partitioning of one world, one part after the other."""

    def __init__(self, world: World, case: Case) -> None:
        self.world = world
        self.case = case
        self.leaves = [Leaves(hierarchy) for hierarchy in world.hierarchies]
        self.numbers = [
            [leaves.number(v) for leaves, v in zip(self.leaves, r.quasi_identifiers, strict=True)]
            for r in world.records
        ]

    def parts(self) -> list[Part]:
        """Return all parts, as positions of records."""
        done, waiting = [], [list(range(len(self.world.records)))]
        while waiting:
            part = waiting.pop()
            sides = self._cut(part) if part else None
            if sides is None:
                done.append(part)
            else:
                waiting.extend(sides)
        return [part for part in done if part]

    def _cut(self, part: Part) -> list[Part] | None:
        """Return the sides of the widest attribute that can be cut."""
        several = [
            a for a in range(len(self.leaves)) if len({self.numbers[i][a] for i in part}) > 1
        ]
        for attribute in sorted(several, key=lambda a: (-self._width(part, a), a)):
            sides = self._sides(part, attribute)
            if sides and all(keeps(self.world, self.case, side) for side in sides):
                return sides
        return None

    def _width(self, part: Part, attribute: int) -> float:
        numbers = {self.numbers[i][attribute] for i in part}
        if None in numbers:
            return 1.0
        return self.leaves[attribute].width(n for n in numbers if n is not None)

    def _sides(self, part: Part, attribute: int) -> list[Part] | None:
        k, leaves = self.case.required_k, self.leaves[attribute]
        numbers = {i: self.numbers[i][attribute] for i in part}
        known = [n for n in numbers.values() if n is not None]
        if len(known) < len(part):
            return self._grouped(part, lambda i: int(numbers[i] is not None), k)
        if leaves.is_interval:
            return self._halves(part, lambda i: numbers[i] or 0, k)
        below = leaves.level_of(known) - 1
        return self._grouped(part, lambda i: max(leaves.covered(below, numbers[i] or 0)), k)

    def _grouped(self, part: Part, group: Callable[[int], int], k: int) -> list[Part] | None:
        groups: dict[int, Part] = defaultdict(list)
        for i in part:
            groups[group(i)].append(i)
        ordered = sorted(groups, key=lambda g: (len(groups[g]), g))
        rest: Part = []
        while ordered and (len(groups[ordered[0]]) < k or 0 < len(rest) < k):
            rest += groups[ordered.pop(0)]
        return None if not ordered else [groups[g] for g in ordered] + ([rest] if rest else [])

    def _halves(self, part: Part, number: Callable[[int], int], k: int) -> list[Part] | None:
        if self.case.strict:
            cuts = [
                ([i for i in part if number(i) <= at], [i for i in part if number(i) > at])
                for at in sorted({number(i) for i in part})
            ]
            lower, upper = max(cuts, key=lambda sides: min(map(len, sides)))
        else:
            middle = sorted(number(i) for i in part)[math.ceil(len(part) / 2) - 1]
            lower = [i for i in part if number(i) < middle]
            tied = [i for i in part if number(i) == middle]
            tied.sort(key=lambda i: ([-1 if n is None else n for n in self.numbers[i]], i))
            taken = len(part) // 2 - len(lower)
            lower += tied[:taken]
            upper = [i for i in part if number(i) > middle] + tied[taken:]
        return [lower, upper] if min(len(lower), len(upper)) >= k else None

    def cells(self) -> dict[int, tuple[Cell, ...]]:
        """Return what is shown of every record."""
        shown = {}
        for part in self.parts():
            cells = tuple(
                leaves.cell({self.numbers[i][a] for i in part})
                for a, leaves in enumerate(self.leaves)
            )
            shown.update(dict.fromkeys(part, cells))
        return shown


def suppressed_cells(
    world: World, case: Case, labels: Sequence[Sequence[str]]
) -> list[tuple[str, ...]]:
    """Suppress cells in passes, one class after the other; ``labels`` are those at base levels.

    A class is tried without a cell together with all weak ones that would become the same class,
    and with the one that is that class already.
    """
    shown = [tuple(record) for record in labels]
    places = range(len(case.levels))
    importance = case.importance or [1] * len(places)
    order = sorted(places, key=lambda place: importance[place])

    def classes() -> dict[tuple[str, ...], Part]:
        found: dict[tuple[str, ...], Part] = defaultdict(list)
        for number, cells in enumerate(shown):
            found[cells].append(number)
        return found

    def weak() -> dict[tuple[str, ...], Part]:
        return {
            cells: members
            for cells, members in classes().items()
            if set(cells) != {"*"} and not keeps(world, case, members)
        }

    for number in places:
        for place in order:
            tried: dict[tuple[str, ...], Part] = defaultdict(list)
            for cells, members in weak().items():
                if cells[place] != "*":
                    tried[(*cells[:place], "*", *cells[place + 1 :])] += members
            there = classes()
            for cells, members in tried.items():
                if keeps(world, case, members + there.get(cells, [])):
                    for member in members:
                        shown[member] = cells
        for cells, members in weak().items():
            first = next(place for place in order if cells[place] != "*")
            hidden = set(places) if number == places[-1] else {first}
            for member in members:
                shown[member] = tuple("*" if p in hidden else cells[p] for p in places)
    return shown
