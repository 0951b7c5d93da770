"""People as numbers, so that whoever satisfies a predicate is found without reading everybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
_NOBODY: Codes = np.zeros(0, dtype=np.int64)


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
            self._order[column] = np.argsort(codes, kind="stable")
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
        starts, sizes = self._ranges(first, allowed[first])
        slices = [self._order[first][a : a + n] for a, n in zip(starts, sizes, strict=True)]
        records = np.concatenate(slices) if slices else _NOBODY
        for column in allowed.keys() - {first}:
            records = records[np.isin(self.codes[column][records], allowed[column])]
        persons = self.persons[records]
        return len(persons) > 0 and bool(persons.min() == persons.max())

    def _ranges(self, column: int, codes: Codes) -> tuple[Codes, Codes]:
        """Return where records of each code begin, and how many there are."""
        bounds = self._starts[column]
        known = codes[codes < len(bounds) - 1]
        return bounds[known], bounds[known + 1] - bounds[known]
