"""Identifiers among numbers, of which some are equal by chance alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dbt_anonymize.verify.identifiers.coincidence import BY_CHANCE, TIMES_CHANCE, Seen, days_in
from dbt_anonymize.verify.identifiers.search_targets import BETWEEN, encoded
from dbt_anonymize.verify.identifiers.text_variants import LONG, MOST_DIGITS, SHORTEST_NUMBER, whole
from dbt_anonymize.verify.identifiers.values import IdentifierValues, Patterns

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Numbers below it are too short to be looked for.
SMALLEST = 10 ** (SHORTEST_NUMBER - 1)


@dataclass
class Numbers:
    """Whole numbers of a column: how many have so many digits, the short ones, and the days."""

    by_length: NDArray[Any] = field(
        default_factory=lambda: np.zeros(MOST_DIGITS + 1, dtype=np.int64)
    )
    short: Seen = field(default_factory=Seen)
    days: Seen = field(default_factory=Seen.days)

    def joined(self, batches: Iterable[Sequence[str]]) -> Iterator[bytes]:
        """Give the numbers one after the other, and count them."""
        for batch in batches:
            numbers = [number for cell in batch if (number := whole(cell))]
            lengths = np.minimum(np.fromiter(map(len, numbers), np.int64), MOST_DIGITS)
            self.by_length += np.bincount(lengths, minlength=MOST_DIGITS + 1)
            self.short.add_digits(numbers)
            text = encoded(BETWEEN.join(numbers))
            self.days.add(days_in(text))
            yield text

    def expected(self, lengths: NDArray[Any]) -> NDArray[Any]:
        """Return by pattern how many patterns of its length random numbers would equal."""
        lengths = np.minimum(lengths, MOST_DIGITS)
        patterns = np.bincount(lengths, minlength=MOST_DIGITS + 1)
        possible = 9.0 * 10.0 ** (np.arange(MOST_DIGITS + 1) - 1.0)
        by_length: NDArray[Any] = patterns * self.by_length / possible
        of_patterns: NDArray[Any] = by_length[lengths]
        return of_patterns


def told_in_release(numbers: Numbers, values: IdentifierValues, patterns: Patterns) -> NDArray[Any]:
    """Tell which patterns count in released numbers: all but short numbers and keys by chance."""
    is_weak = (patterns.lengths < LONG) | values.is_key[patterns.owners]
    expected = np.zeros(len(patterns.lengths))
    for of_kind in (values.is_key[patterns.owners], ~values.is_key[patterns.owners]):
        expected[of_kind] = numbers.expected(patterns.lengths[of_kind])
    is_told: NDArray[Any] = ~is_weak | (expected < BY_CHANCE)
    return is_told


def told_in_tables(numbers: Numbers, patterns: Patterns, found: NDArray[Any]) -> NDArray[Any]:
    """Tell which patterns of nine digits or more count in the numbers of any table.

    They do if hardly one would be found by chance, or far more are found.
    """
    expected = numbers.expected(patterns.lengths)
    found_of_length = np.bincount(
        patterns.lengths[found], minlength=patterns.lengths.max(initial=0) + 1
    )
    is_beyond = found_of_length[patterns.lengths] > TIMES_CHANCE * expected
    is_told: NDArray[Any] = is_beyond | (expected < BY_CHANCE)
    return is_told
