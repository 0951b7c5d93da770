"""Subjects and linked records as numbers."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.errors import AnonymizeError


class LinkError(AnonymizeError, ValueError):
    """Linked tables cannot be followed, or cannot be protected as declared."""


@dataclass(frozen=True)
class Links:
    """Subjects with classes of their own values, and the records of all linked tables.

    ``own`` has a number per subject. The others have one per record, those of a table after those
    of the table that it leads over: ``subject``, the place of its subject; ``table``; ``value`` and
    ``raised``, its labels at their levels and one level up, where equal ones of a table have equal
    numbers, and those that are all roots, as of a hidden record, 0; and ``parent``, the place of
    the record that it leads over, or -1.
    """

    own: Ints
    subject: Ints
    table: Ints
    value: Ints
    raised: Ints
    parent: Ints

    @property
    def can_be_raised(self) -> Bools:
        """Tell of each record whether its labels one level up are others, and not all roots."""
        can_be: Bools = (self.raised != 0) & (self.raised != self.value)
        return can_be

    @property
    def tables(self) -> int:
        """Number of tables that have records, and those before them."""
        return int(self.table.max(initial=-1)) + 1


def combined_codes(first: Ints, second: Ints) -> Ints:
    """Return a number from 0 on for each pair of numbers >= 0, equal for equal pairs.

    Examples
    --------
    >>> combined_codes(np.array([0, 0, 7, 0]), np.array([1, 0, 1, 1])).tolist()
    [1, 0, 2, 1]
    """
    width = int(second.max(initial=0)) + 1
    pairs = first * width + second
    size = int(pairs.max(initial=-1)) + 1
    if size <= 2 * len(pairs):  # counted in a table of all, which is faster than sorting
        is_there = np.zeros(size, dtype=bool)
        is_there[pairs] = True
        return np.asarray((np.cumsum(is_there) - 1)[pairs], dtype=np.int64)
    numbers: Ints = np.unique(pairs, return_inverse=True)[1].astype(np.int64)
    return numbers


def lowest_of_groups(places: Ints, group: Ints, number: Ints, most: Ints) -> Ints:
    """Return those of the places that have the lowest numbers of their groups, ``most`` of each.

    ``group``, ``number`` and ``most`` are of all places; of equal numbers the first place is taken.
    """
    ordered = places[np.lexsort((number[places], group[places]))]
    rank = np.arange(len(ordered)) - np.searchsorted(group[ordered], group[ordered])
    lowest: Ints = ordered[rank < most[ordered]]
    return lowest


def random_keys(number: int) -> Ints:
    """Return different whole numbers from 0 to 2^63 - 1, drawn by the operating system.

    Of two runs no keys are the same, so that tables of one do not join those of another.
    """
    while True:
        drawn = np.frombuffer(os.urandom(8 * number), dtype=np.uint64)
        keys = (drawn >> np.uint64(1)).astype(np.int64)
        if (np.diff(np.sort(keys)) != 0).all():
            return keys
