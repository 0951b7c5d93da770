"""Classes that the reference tool rejects by Grassberger's estimate of entropy."""

from __future__ import annotations

import math
from functools import cache
from itertools import accumulate

import numpy as np

from dbt_anonymize.arrays import Bools
from dbt_anonymize.privacy.distances import grassberger
from dbt_anonymize.privacy.table import Classes, Node, Table
from tests.oracle.arx import Expectation, records_of_adult


class _HashTable:
    """Counts of values in the order of ARX's buckets: open addressing, doubled when 3/4 full."""

    def __init__(self) -> None:
        self._buckets: list[int | None] = [None] * 8
        self._counts: dict[int, int] = {}

    def add(self, value: int, count: int) -> None:
        """Count a value."""
        if value not in self._counts:
            self._put(value)
            if len(self._counts) + 1 > len(self._buckets) * 3 // 4:
                self._double()
        self._counts[value] = self._counts.get(value, 0) + count

    def items(self) -> list[tuple[int, int]]:
        """Return values and counts in the order of the buckets."""
        return [(value, self._counts[value]) for value in self._buckets if value is not None]

    def _put(self, value: int) -> None:
        position = value % len(self._buckets)
        while self._buckets[position] is not None:
            position = (position + 1) % len(self._buckets)
        self._buckets[position] = value

    def _double(self) -> None:
        held = [value for value in self._buckets if value is not None]
        self._buckets = [None] * (2 * len(self._buckets))
        for value in held:
            self._put(value)


def grassberger_rejected(
    expected: Expectation, table: Table, classes: Classes, through: Node | None = None
) -> Bools:
    """Return the classes that ARX rejects for Grassberger's entropy, stopping early as it does.

    Its sum of n G(n) runs over the buckets of a hash table of values, numbered in the order of
    their first appearance, and ends when it passes the limit; G(1) < 0 would bring it back. The
    order in which a table was filled decides about collisions: record by record, or by merging the
    classes of a finer node that the search went ``through``.
    """
    assert expected.sensitive is not None
    [guarantee] = expected.guarantees
    values = list(
        dict.fromkeys(record[expected.sensitive] for record in records_of_adult("adult.csv"))
    )
    number = [values.index(value) for value in sorted(values)]
    finest = through or tuple(0 for _ in table.attributes)
    parts: dict[tuple[int, ...], _HashTable] = {}
    labels_of_part: dict[tuple[int, ...], tuple[int, ...]] = {}
    for row, value in enumerate(table.sensitive[0][1].tolist()):
        labels = _labels(table, classes.levels, row)
        part = labels if through is None else _labels(table, finest, row)
        labels_of_part[part] = labels
        parts.setdefault(part, _HashTable()).add(number[value], int(table.records[row]))
    merged: dict[tuple[int, ...], _HashTable] = {}
    for part, counts in parts.items():
        into = merged.setdefault(labels_of_part[part], _HashTable())
        for value, count in counts.items():
            into.add(value, count)
    # A table that was filled record by record is looked at as it is, not filled again.
    found = parts if through is None else merged
    return np.array(
        [
            _is_rejected([count for _, count in found[tuple(labels)].items()], guarantee["l"])
            for labels in classes.codes.tolist()
        ]
    )


def grassberger_perhaps_rejected(expected: Expectation, _table: Table, classes: Classes) -> Bools:
    """Return the classes that ARX rejects in at least one order of their values."""
    [guarantee] = expected.guarantees
    counts: list[list[int]] = [[] for _ in classes.records]
    found = classes.values[0]
    for position, count in zip(found.classes.tolist(), found.counts.tolist(), strict=True):
        counts[position].append(count)
    # Counts of 1 last: the sum is largest before them.
    return np.array([_is_rejected(sorted(c, reverse=True), guarantee["l"]) for c in counts])


def _labels(table: Table, node: Node, row: int) -> tuple[int, ...]:
    return tuple(
        int(attribute.levels[level][leaf])
        for attribute, level, leaf in zip(table.attributes, node, table.leaves[row], strict=True)
    )


def _is_rejected(counts: list[int], diversity: float) -> bool:
    if len(counts) < diversity:
        return True
    people = sum(counts)
    limit = people * (_grassberger(people) - math.log(diversity))
    sums = accumulate(count * _grassberger(count) for count in counts)
    return any(limit < added for added in sums)


@cache
def _grassberger(number: int) -> float:
    return float(grassberger(np.array([number]))[0])
