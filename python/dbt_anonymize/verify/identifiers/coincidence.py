"""Short numbers and days of identifiers, of which honest columns have some by chance alone.

A number of six digits, a small record key and a date of birth say nothing by themselves: what a
column has of them is compared with what it would have anyway. Expected is, for every value of the
identifier, the share of the numbers around it (the ten, or the hundred, that it is one of, itself
not counted) that are in the column as well; the larger of the two. So dense numbers, and dates of
the years in which everybody was seen, are expected, wherever they lie. Then values count

- each, if hardly one was expected (numbers of fewer than five digits excepted);
- if ten or more were found, and more than ten times as many as expected;
- if ten or more were found, which are nearly all of the identifier, at most half of them expected;
- if the column is a copy: ten or more, hardly any other number, and nearly all of the identifier
  (of six or more digits), or half of it where nearly every row has a number of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.verify.identifiers.text_variants import (
    LONG,
    LONG_NUMBER,
    SHORTEST_NUMBER,
    digits,
    whole,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

# How many values may be expected so that each that is found counts.
BY_CHANCE = 0.1
# Many times as many as by chance is not chance.
TIMES_CHANCE = 10
_FEWEST = 10
_NEARLY_ALL = 0.9
_HALF = 0.5
# Numbers are compared with those around them.
_AROUND = (10, 100)
_ABOVE_NUMBERS = 10 ** (LONG_NUMBER - 1)
# The last day of the year 9999, and room for a hundred around it.
_ABOVE_DAYS = 3_652_100
_WRITTEN_DAY = re.compile(
    rb"(?<![0-9])([0-9]{4})[-/. ]?(0[1-9]|1[0-2])[-/. ]?(0[1-9]|[12][0-9]|3[01])(?![0-9])"
)
_BEGINS_WITH_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9])")

Reading = Callable[[str], int | None]


def as_short_number(text: str) -> int | None:
    """Read a value that is a whole number of fewer than nine digits.

    Examples
    --------
    >>> as_short_number("0042"), as_short_number("123456789"), as_short_number("Flat 9")
    (42, None, None)
    """
    number = whole(text)
    return int(number) if number and len(number) < LONG_NUMBER else None


def as_number_of_tables(text: str) -> int | None:
    """Read the digits of a value of six to eight of them, which may have lost zeros before them.

    Examples
    --------
    >>> as_number_of_tables("012 345"), as_number_of_tables("1234")
    (12345, None)
    """
    number = digits(text).lstrip("0")
    return int(number) if SHORTEST_NUMBER <= len(number) < LONG_NUMBER else None


def as_day(text: str) -> int | None:
    """Read a value that is a date, or begins with one, as the number of the day.

    Examples
    --------
    >>> as_day("0001-01-03 10:00:00"), as_day("1980-02-30"), as_day("1980")
    (3, None, None)
    """
    match = _BEGINS_WITH_DAY.match(text)
    try:
        return date.fromisoformat(match[1]).toordinal() if match else None
    except ValueError:
        return None


def days_in(data: bytes) -> NDArray[Any]:
    """Return the distinct days that stand in a text, year first, with or without separators.

    Examples
    --------
    >>> days_in(b"0001-01-03, 00010104 and 0001/02/30").tolist()
    [3, 4]
    """
    days = set()
    for year, month, day in set(_WRITTEN_DAY.findall(data)):
        try:
            days.add(date(int(year), int(month), int(day)).toordinal())
        except ValueError:  # the 30th of February, the year 0
            continue
    return np.array(sorted(days), dtype=np.int64)


class Seen:
    """Distinct numbers, or days, of a column: which of them there are."""

    def __init__(self, above: int = _ABOVE_NUMBERS) -> None:
        # Memory is taken only where there are numbers.
        self._is_there = np.zeros(above, dtype=bool)
        self.distinct = 0

    @classmethod
    def days(cls) -> Seen:
        """Return what days are noted in."""
        return cls(_ABOVE_DAYS)

    def add(self, numbers: NDArray[Any]) -> None:
        """Note numbers."""
        new = np.unique(numbers[~self._is_there[numbers]])
        self._is_there[new] = True
        self.distinct += len(new)

    def add_digits(self, numbers: Iterable[str]) -> None:
        """Note the numbers that are short enough."""
        short = [int(number) for number in numbers if len(number) < LONG_NUMBER]
        self.add(np.array(short, dtype=np.int64))

    def which(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Tell which numbers are there."""
        there: NDArray[Any] = self._is_there[numbers]
        return there

    def expected(self, numbers: NDArray[Any]) -> float:
        """Return how many of the numbers are there by chance, from those around each."""
        there = self.which(numbers)
        shares = []
        for around in _AROUND:
            blocks, members = np.unique(numbers // around, return_inverse=True)
            counts = self._is_there.reshape(-1, around)[blocks].sum(axis=1)
            shares.append(float((counts[members] - there).sum()) / (around - 1))
        return max(shares)


@dataclass(frozen=True)
class Entries:
    """The values of one identifier that are short numbers, or days.

    Parameters
    ----------
    numbers : int array
        Distinct, in order.
    owners, places : int arrays
        Values, and the position of each in ``numbers``.
    share : float in (0, 1]
        How much of the identifier they are, since values are searched for in parts.
    """

    numbers: NDArray[Any]
    owners: NDArray[Any]
    places: NDArray[Any]
    share: float


def beyond_chance(
    entries: Entries, seen: Seen, rows: Callable[[], int] | None = None
) -> NDArray[Any]:
    """Tell which numbers of an identifier are no chance in what was seen.

    Parameters
    ----------
    entries : Entries
        The numbers, or days.
    seen : Seen
        What was searched.
    rows : callable, optional
        How many rows the column has, not counting NULL; given where a column of numbers may be a
        copy of the identifier. Called only if that decides.

    Returns
    -------
    bool array, one per number
    """
    numbers = entries.numbers
    found = seen.which(numbers)
    number = int(found.sum())
    each = numbers >= 10 ** (SHORTEST_NUMBER - 1)
    if not number:
        return np.zeros_like(found)
    if number >= _FEWEST:
        expected = seen.expected(numbers)
        is_all = number >= _NEARLY_ALL * len(numbers)
        if number > TIMES_CHANCE * expected or (is_all and expected <= _HALF * number):
            return found
        if rows is not None and _is_copy(entries, number, seen.distinct, rows):
            return found
    # Of the numbers that are long enough alone.
    if seen.expected(numbers[each]) < BY_CHANCE:
        found &= each
        return found
    return np.zeros_like(found)


def _is_copy(entries: Entries, found: int, distinct: int, rows: Callable[[], int]) -> bool:
    if found < _NEARLY_ALL * distinct * entries.share:
        return False
    number = len(entries.numbers)
    if entries.numbers[0] >= 10 ** (LONG - 1) and found >= _NEARLY_ALL * number:
        return True
    return found >= _HALF * number and distinct >= _NEARLY_ALL * rows()
