"""First levels of linked tables: the mildest with which few records are lost."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dbt_anonymize.extensions.linked.kernel import COSTS, Suppression
from dbt_anonymize.extensions.linked.records import Integers, Links, combined_codes

# Place of the level of each quasi-identifier among those of its hierarchy, by table.
Places = dict[str, dict[str, int]]
# Subjects by whom levels are found; size of classes of which a part may do; and the time for one
# effort, after which levels are not made milder.
_MOST_SUBJECTS, _LARGE, _SECONDS = 10_000, 1_000, 10.0


def draft(
    subjects: Mapping[str, Any],
    tables: Mapping[str, Mapping[str, Any]],
    *,
    efforts: Sequence[Mapping[str, int]],
    k: int,
    known_records: int,
    most_lost: float,
) -> list[Places]:
    """Return, for each effort of the subjects, the mildest levels that lose few enough records.

    Those are ``most_lost`` and half of those of people who are left out, of each table.
    First the levels of all tables fall together from their roots, then one after the other.
    """
    found = []
    for own in efforts:
        people, linked = _sample(subjects, tables, own)
        found.append(_Search(people, linked, k, known_records, most_lost).mildest(own))
    return found


def _sample(
    subjects: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]], own: Mapping[str, int]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the subjects of some classes of own values, of all sizes, with their records.

    Classes are independent of each other, and small ones lose more. Only of classes that are too
    large themselves some subjects are taken, so that levels are too strong rather than too weak.
    """
    classes, numbers = _codes_at(subjects, own), subjects["rows"]["number"]
    sizes = np.bincount(classes)
    # Evenly from the smallest to the largest.
    step = -(-len(numbers) // _MOST_SUBJECTS)
    drawn = np.argsort(sizes, kind="stable")[::-1][step // 2 :: step]
    drawn = drawn if len(drawn) else np.array([sizes.argmax()])
    by_class = np.argsort(classes, kind="stable")
    starts = sizes.cumsum() - sizes
    place_in_class = np.empty(len(classes), dtype=np.int64)
    place_in_class[by_class] = np.arange(len(classes)) - starts[classes[by_class]]
    most = max(_MOST_SUBJECTS // len(drawn), _LARGE)
    is_drawn = np.isin(classes, drawn) & (place_in_class < most)
    people = _rows_at(subjects, np.flatnonzero(is_drawn))
    numbers_of = {"": people["rows"]["number"]}
    linked = {}
    for name, one in tables.items():
        is_kept = np.isin(one["rows"]["parent"], numbers_of[one["over"]])
        linked[name] = _rows_at(one, np.flatnonzero(is_kept))
        numbers_of[name] = linked[name]["rows"]["number"]
    return people, linked


def _rows_at(table: Mapping[str, Any], places: Any) -> dict[str, Any]:
    rows = {name: array[places] for name, array in table["rows"].items()}
    return {**table, "rows": rows}


@dataclass(frozen=True)
class _Search:
    subjects: Mapping[str, Any]
    tables: Mapping[str, Mapping[str, Any]]
    k: int
    known_records: int
    most_lost: float

    def mildest(self, own: Mapping[str, int]) -> Places:
        """Return the mildest levels beside those of the subjects; roots if none lose few enough."""
        deadline = time.monotonic() + _SECONDS
        levels = self._fallen_together(own)
        falling = [(name, column) for name, of in levels.items() for column in of]
        while falling and time.monotonic() < deadline:
            name, column = falling.pop(0)
            place = levels[name][column] - 1
            lower = {**levels, name: {**levels[name], column: place}}
            if place >= 0 and self._loses_few(own, lower):
                levels = lower
                falling.append((name, column))
        return levels

    def _fallen_together(self, own: Mapping[str, int]) -> Places:
        """Return the mildest of the levels between the lowest and the roots, in equal steps."""
        sizes = [len(codes) for one in self.tables.values() for codes in one["codes"].values()]
        low, high = 0, max(sizes) - 1
        last = max(high, 1)

        def at(step: int) -> Places:
            return {
                name: {column: (len(c) - 1) * step // last for column, c in one["codes"].items()}
                for name, one in self.tables.items()
            }

        while low < high:
            step = (low + high) // 2
            low, high = (low, step) if self._loses_few(own, at(step)) else (step + 1, high)
        return at(low)

    def _loses_few(self, own: Mapping[str, int], levels: Places) -> bool:
        """Tell whether few enough records of each table are lost, of raised ones every second."""
        classes = _codes_at(self.subjects, own)
        is_kept = np.bincount(classes)[classes] >= self.k
        subject = np.where(is_kept, np.cumsum(is_kept) - 1, -1)
        if not is_kept.any():
            return False
        # Of each table: numbers of records, the places of their subjects, and their own.
        ends = {"": (self.subjects["rows"]["number"], subject, np.full(len(subject), -1))}
        parts, first = [], 0
        for place, (name, one) in enumerate(self.tables.items()):
            numbers, subjects, places = ends[one["over"]]
            order = np.argsort(numbers)
            at = order[np.searchsorted(numbers, one["rows"]["parent"], sorter=order)]
            is_there = subjects[at] >= 0
            own_places = np.where(is_there, first + np.cumsum(is_there) - 1, -1)
            ends[name] = (one["rows"]["number"], subjects[at], own_places)
            columns = (subjects[at], np.full(len(at), place), *_labels_at(one, levels[name]))
            parts.append([column[is_there] for column in (*columns, places[at])])
            first += int(is_there.sum())
        links = Links(classes[is_kept], *map(np.concatenate, zip(*parts, strict=True)))
        suppression = Suppression(links, self.k, self.known_records, known_count=False)
        suppression.run()
        lost = np.bincount(links.table, COSTS[suppression.status], len(self.tables))
        sizes = np.array([len(one["rows"]["number"]) for one in self.tables.values()])
        # No level brings back records of people who are left out, so half of them come on top.
        of_nobody = sizes - [len(columns[0]) for columns in parts]
        return bool((lost + of_nobody / 2 <= self.most_lost * sizes).all())


def _codes_at(table: Mapping[str, Any], levels: Mapping[str, int]) -> Integers:
    """Return a number per record, equal for equal generalized values."""
    rows, codes = table["rows"], table["codes"]
    values = [codes[name][at][rows[name]] for name, at in levels.items()]
    if not values:
        return np.zeros(len(rows["number"]), dtype=np.int64)
    numbers = np.unique(np.column_stack(values), axis=0, return_inverse=True)[1]
    return numbers.reshape(-1).astype(np.int64)


def _labels_at(table: Mapping[str, Any], levels: Mapping[str, int]) -> tuple[Integers, Integers]:
    """Return the numbers of labels at the levels and one level up, as in `Links`."""
    rows, codes = table["rows"], table["codes"]
    number = len(rows["number"])
    labels = np.zeros(2 * number, dtype=np.int64)
    roots = {name: len(of) - 1 for name, of in codes.items()}
    above = {name: min(at + 1, roots[name]) for name, at in levels.items()}
    for name, at in levels.items():
        own, raised = (codes[name][place][rows[name]] for place in (at, above[name]))
        others = int(own.max(initial=-1)) + 1 if above[name] > at else 0
        labels = combined_codes(labels, np.concatenate([own, raised + others]))
    of_levels, of_above = labels[:number] + 1, labels[number:] + 1
    return of_levels * (levels != roots), of_above * (above != roots)
