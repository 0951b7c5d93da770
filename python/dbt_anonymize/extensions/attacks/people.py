"""People as codes, indexed by column, so that a predicate reads only matching records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Ints

# Records per batch.
_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class People:
    """Records of some people: ``persons``, and the code of each known value, by column."""

    persons: Ints
    codes: Mapping[int, Ints]
    # By column: the records in the order of their codes, and where each code begins.
    _order: dict[int, Ints] = field(default_factory=dict)
    _starts: dict[int, Ints] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column, codes in self.codes.items():
            self._starts[column] = np.concatenate([[0], np.cumsum(np.bincount(codes))])

    def is_one(self, allowed: Mapping[int, Ints]) -> bool:
        """Tell whether exactly one person has an allowed code in each of these columns.

        Examples
        --------
        >>> people = People(np.array([7, 7, 8]), {1: np.array([0, 0, 1]), 2: np.array([0, 1, 1])})
        >>> people.is_one({1: np.array([0])}), people.is_one({2: np.array([1])})
        (True, False)
        """
        first = min(allowed, key=lambda column: self._ranges(column, allowed[column])[1].sum())
        others = {
            column: self._is_allowed(column, allowed[column]) for column in allowed.keys() - {first}
        }
        person: int | None = None
        for some in self._records(first, allowed[first]):
            records = some
            for column, is_allowed in others.items():
                records = records[is_allowed[self.codes[column][records]]]
            persons = self.persons[records]
            if len(persons) and person is None:
                person = int(persons[0])
            if (persons != person).any():
                return False
        return person is not None

    def _records(self, column: int, codes: Ints) -> Iterator[Ints]:
        """Yield the records with these codes in batches: two persons often appear early."""
        if column not in self._order:
            ordered = self.codes[column]
            if len(self._starts[column]) <= 1 << 16:  # a radix sort is faster
                ordered = ordered.astype(np.uint16)
            self._order[column] = np.argsort(ordered, kind="stable")
        slices, pending = list[Ints](), 0
        for start, size in zip(*self._ranges(column, codes), strict=True):
            for begin in range(start, start + size, _AT_ONCE):
                slices.append(self._order[column][begin : min(begin + _AT_ONCE, start + size)])
                pending += len(slices[-1])
                if pending >= _AT_ONCE:
                    yield np.concatenate(slices)
                    slices, pending = [], 0
        if slices:
            yield np.concatenate(slices)

    def _is_allowed(self, column: int, codes: Ints) -> NDArray[np.bool_]:
        """Return for each occurring code if it is one of these."""
        is_marked = np.zeros(len(self._starts[column]) - 1, dtype=np.bool_)
        is_marked[codes[codes < len(is_marked)]] = True
        return is_marked

    def _ranges(self, column: int, codes: Ints) -> tuple[Ints, Ints]:
        """Return the first place and the number of the records of each code."""
        bounds = self._starts[column]
        occurring = codes[codes < len(bounds) - 1]
        return bounds[occurring], bounds[occurring + 1] - bounds[occurring]
