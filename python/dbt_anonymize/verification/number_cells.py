"""Identifiers among numbers and dates, of which some are equal by chance alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.verification.forms import LONG, LONG_NUMBER, SHORTEST_NUMBER
from dbt_anonymize.verification.identifier_values import IdentifierValues, Patterns
from dbt_anonymize.verification.places import BETWEEN, BY_CHANCE, encoded

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NUMBERS = re.compile(
    r"(?:u?(?:tiny|small|big|huge)?int(?:eger)?|float|real|double(?: precision)?|decimal|numeric"
    r"|bignum)(?:\(.*\))?",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"-?0*([0-9]+)(?:\.0*)?")
_SCIENTIFIC = re.compile(r"-?([0-9])(?:\.([0-9]+))?e\+?([0-9]{1,3})")
# More digits than any identifier has.
_MOST_DIGITS = 40
# Many times as many as by chance is not chance.
_BEYOND_CHANCE = 10
# Days of a century.
_DAYS = 36_525
# Numbers below it are too short to be looked for.
SMALLEST = 10 ** (SHORTEST_NUMBER - 1)


def is_number(data_type: str) -> bool:
    """Return whether a column has a type of numbers."""
    return _NUMBERS.fullmatch(data_type) is not None


def whole(text: str) -> str | None:
    """Return the digits of a whole number without sign and leading zeros, None of any other.

    Examples
    --------
    >>> whole("-0120.00"), whole("1.23456e+16"), whole("1.5")
    ('120', '12345600000000000', None)
    """
    if match := _WHOLE.fullmatch(text):
        return match[1]
    if match := _SCIENTIFIC.fullmatch(text):
        fraction, exponent = match[2] or "", int(match[3])
        if len(fraction) <= exponent < _MOST_DIGITS:
            return match[1] + fraction.ljust(exponent, "0")
    return None


@dataclass
class Numbers:
    """Whole numbers of a column, and how many of them have so many digits."""

    by_length: NDArray[Any] = field(
        default_factory=lambda: np.zeros(_MOST_DIGITS + 1, dtype=np.int64)
    )

    def joined(self, batches: Iterable[Sequence[str]]) -> Iterator[bytes]:
        """Give the numbers one after the other, and count them."""
        for batch in batches:
            numbers = [number for cell in batch if (number := whole(cell))]
            lengths = np.minimum(np.fromiter(map(len, numbers), np.int64), _MOST_DIGITS)
            self.by_length += np.bincount(lengths, minlength=_MOST_DIGITS + 1)
            yield encoded(BETWEEN.join(numbers))

    def expected(self, lengths: NDArray[Any]) -> NDArray[Any]:
        """Return by pattern how many patterns of its length random numbers would equal."""
        lengths = np.minimum(lengths, _MOST_DIGITS)
        patterns = np.bincount(lengths, minlength=_MOST_DIGITS + 1)
        possible = 9.0 * 10.0 ** (np.arange(_MOST_DIGITS + 1) - 1.0)
        by_length: NDArray[Any] = patterns * self.by_length / possible
        of_patterns: NDArray[Any] = by_length[lengths]
        return of_patterns


def told_in_release(numbers: Numbers, values: IdentifierValues, patterns: Patterns) -> NDArray[Any]:
    """Tell which patterns count in released numbers: all but short numbers and keys by chance."""
    is_weak = (patterns.lengths < LONG) | values.is_key[patterns.owners]
    expected = np.zeros(len(patterns.lengths))
    for of_kind in (values.is_key[patterns.owners], ~values.is_key[patterns.owners]):
        expected[of_kind] = numbers.expected(patterns.lengths[of_kind])
    told: NDArray[Any] = ~is_weak | (expected < BY_CHANCE)
    return told


def told_in_tables(numbers: Numbers, patterns: Patterns, found: NDArray[Any]) -> NDArray[Any]:
    """Tell which patterns count in the numbers of any table, where dense numbers are common.

    Up to eight digits: if hardly one would be found by chance. Longer ones: if far more are found.
    """
    expected = numbers.expected(patterns.lengths)
    found_of_length = np.bincount(
        patterns.lengths[found], minlength=patterns.lengths.max(initial=0) + 1
    )
    is_beyond = found_of_length[patterns.lengths] > _BEYOND_CHANCE * expected
    is_rare = expected < BY_CHANCE
    told: NDArray[Any] = np.where(patterns.lengths < LONG_NUMBER, is_rare, is_rare | is_beyond)
    return told


@dataclass
class Dates:
    """Days of a column, and how many of them."""

    number: int = 0

    def joined(self, batches: Iterable[Sequence[str]]) -> Iterator[bytes]:
        """Give the days one after the other, and count them."""
        for batch in batches:
            self.number += len(batch)
            yield encoded(BETWEEN.join(batch))

    def told(self, found: NDArray[Any]) -> NDArray[Any]:
        """Tell whether patterns count: if hardly one would be found by chance, or far more are."""
        expected = len(found) * self.number / _DAYS
        counts = expected < BY_CHANCE or int(found.sum()) > _BEYOND_CHANCE * expected
        return np.full(len(found), counts)
