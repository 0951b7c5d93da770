"""People as numbers, so that whoever satisfies a predicate is found without reading everybody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
# Records that are looked at together.
_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class People:
    """Records of some people: ``persons``, and the code of each known value, by column."""

    persons: Codes
    codes: Mapping[int, Codes]
    # By column: the records in the order of their codes, and where each code begins.
    _order: dict[int, Codes] = field(default_factory=dict)
    _starts: dict[int, Codes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column, codes in self.codes.items():
            self._starts[column] = np.concatenate([[0], np.cumsum(np.bincount(codes))])

    def is_one(self, allowed: Mapping[int, Codes]) -> bool:
        """Tell whether exactly one person has an allowed code in each of these columns.

        Examples
        --------
        >>> people = People(np.array([7, 7, 8]), {1: np.array([0, 0, 1]), 2: np.array([0, 1, 1])})
        >>> people.is_one({1: np.array([0])}), people.is_one({2: np.array([1])})
        (True, False)
        """
        first = min(allowed, key=lambda column: self._ranges(column, allowed[column])[1].sum())
        others = {
            column: self._marked(column, allowed[column]) for column in allowed.keys() - {first}
        }
        found: int | None = None
        for some in self._records(first, allowed[first]):
            records = some
            for column, is_allowed in others.items():
                records = records[is_allowed[self.codes[column][records]]]
            persons = self.persons[records]
            if len(persons) and found is None:
                found = int(persons[0])
            if (persons != found).any():
                return False
        return found is not None

    def _records(self, column: int, codes: Codes) -> Iterator[Codes]:
        """Give the records with these codes, some at a time: two persons are often found early."""
        if column not in self._order:
            ordered = self.codes[column]
            if len(self._starts[column]) <= 1 << 16:  # sorted by digits, which is faster
                ordered = ordered.astype(np.uint16)
            self._order[column] = np.argsort(ordered, kind="stable")
        slices, held = list[Codes](), 0
        for start, size in zip(*self._ranges(column, codes), strict=True):
            for begin in range(start, start + size, _AT_ONCE):
                slices.append(self._order[column][begin : min(begin + _AT_ONCE, start + size)])
                held += len(slices[-1])
                if held >= _AT_ONCE:
                    yield np.concatenate(slices)
                    slices, held = [], 0
        if slices:
            yield np.concatenate(slices)

    def _marked(self, column: int, codes: Codes) -> NDArray[np.bool_]:
        """Tell of each code that occurs whether it is one of these."""
        is_marked = np.zeros(len(self._starts[column]) - 1, dtype=np.bool_)
        is_marked[codes[codes < len(is_marked)]] = True
        return is_marked

    def _ranges(self, column: int, codes: Codes) -> tuple[Codes, Codes]:
        """Return where records of each code begin, and how many there are."""
        bounds = self._starts[column]
        known = codes[codes < len(bounds) - 1]
        return bounds[known], bounds[known + 1] - bounds[known]
