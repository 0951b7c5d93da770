"""Sensitive values of subjects and their records, and combinations that tell one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.extensions.linked.suppression.records import combined_codes


@dataclass(frozen=True)
class Held:
    """Values of subjects, each once: those of a subject stand together, ``first`` of ``number``."""

    diversity: int
    subject: Ints
    value: Ints
    first: Ints
    number: Ints

    def of(self, subject: Ints) -> tuple[Ints, Ints]:
        """Return a row per value of each of the subjects: their place there, and the value."""
        number = self.number[subject]
        row = np.repeat(np.arange(len(subject)), number)
        place = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
        return row, self.value[self.first[subject[row]] + place]

    def tells(self, known: Ints, subject: Ints) -> Bools:
        """Tell of each match, a combination and a subject, whether the combination tells a value.

        It does if more than a share of 1 / ``diversity`` of those who match it hold the same.
        """
        row, value = self.of(subject)
        held = combined_codes(known[row], value)
        most = np.zeros(int(known.max(initial=-1)) + 1, dtype=np.int64)
        np.maximum.at(most, known[row], np.bincount(held)[held])
        is_told: Bools = (most * self.diversity > np.bincount(known, minlength=len(most)))[known]
        return is_told


@dataclass(frozen=True)
class Sensitive:
    """Sensitive values: a row per value of a ``subject``, or of a ``record`` of hers (else -1).

    Equal values of an attribute have equal numbers. No more than a share of 1 / ``diversity`` of
    those who match a combination may hold one.
    """

    diversity: int
    subject: Ints
    record: Ints
    value: Ints

    def held(self, is_released: Bools, subjects: int) -> Held:
        """Return what subjects hold by their own values and the records that are released."""
        is_held = np.append(is_released, True)[self.record]  # the last for own values
        width = int(self.value.max(initial=0)) + 1
        pairs = np.unique(self.subject[is_held] * width + self.value[is_held])
        subject = pairs // width
        number = np.bincount(subject, minlength=subjects)
        return Held(self.diversity, subject, pairs % width, np.cumsum(number) - number, number)


def sensitive_of(diversity: int, columns: Sequence[tuple[Ints, Ints, Ints]]) -> Sensitive:
    """Return the sensitive values of columns, of which each has subjects, records and codes.

    Codes need only differ within a column.
    """
    widths = [int(codes.max(initial=-1)) + 1 for *_, codes in columns]
    starts = np.cumsum(widths) - widths
    subject, record, value = (np.concatenate(arrays) for arrays in zip(*columns, strict=True))
    value += np.repeat(starts, [len(codes) for *_, codes in columns])
    return Sensitive(diversity, subject, record, value)
