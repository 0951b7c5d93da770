"""Counts over all splits: predictions by true class and by probability."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dbt_anonymize.evaluation.arrays import Codes
from dbt_anonymize.evaluation.measures import Predicted, confusion_counts

# Probabilities are counted in thousandths, 0 .. 1000.
BINS = 1001


class Cell(NamedTuple):
    """What counts belong to; target, effort and model by position."""

    effort: int
    target: int
    model: int
    fit: str
    test_on: str


@dataclass(frozen=True)
class Counted:
    """Counts that are not zero: flat positions, ascending, and the records of each."""

    at: Codes
    records: Codes

    @classmethod
    def of(cls, counts: Codes) -> Counted:
        """Leave out zeros."""
        flat = counts.reshape(-1)
        at = np.flatnonzero(flat)
        return cls(at, flat[at])


@dataclass
class Tallies:
    """Counts of one or more splits by cell.

    Attributes
    ----------
    confusion : dict of Cell to array of int, shape (classes, classes)
        Rows are true classes, columns predicted ones.
    probabilities : dict of Cell to array of int, shape (classes, 2, BINS)
        Test records by class, membership in it, and its probability in thousandths.
    """

    confusion: dict[Cell, Codes] = field(default_factory=dict)
    probabilities: dict[Cell, Codes] = field(default_factory=dict)

    def add(self, cells: Iterable[Cell], true: Codes, predicted: Predicted, classes: int) -> None:
        """Count the test records of a split in each of some different cells."""
        confusion = confusion_counts(true, predicted.labels, classes)
        bins = _bin_counts(true, predicted, classes)
        for cell in cells:
            _add(self.confusion, cell, confusion)
            if bins is not None:
                _add(self.probabilities, cell, bins)

    def packed(self) -> PackedTallies:
        """Return the same in little space, to be sent to another process."""
        return PackedTallies(
            {cell: Counted.of(counts) for cell, counts in self.confusion.items()},
            {cell: Counted.of(counts) for cell, counts in self.probabilities.items()},
        )

    def merge(self, packed: PackedTallies, classes: dict[int, int]) -> None:
        """Add the counts of another process; ``classes`` is their number by target."""
        for cell, counted in packed.confusion.items():
            _add_at(self.confusion, cell, counted, (classes[cell.target],) * 2)
        for cell, counted in packed.probabilities.items():
            _add_at(self.probabilities, cell, counted, (classes[cell.target], 2, BINS))


@dataclass(frozen=True)
class PackedTallies:
    """`Tallies` without zeros."""

    confusion: dict[Cell, Counted]
    probabilities: dict[Cell, Counted]


def _add(tallies: dict[Cell, Codes], cell: Cell, counts: Codes) -> None:
    if cell in tallies:
        tallies[cell] += counts
    else:
        tallies[cell] = counts.copy()


def _add_at(
    tallies: dict[Cell, Codes], cell: Cell, counted: Counted, shape: tuple[int, ...]
) -> None:
    if cell not in tallies:
        tallies[cell] = np.zeros(shape, dtype=np.int64)
    tallies[cell].reshape(-1)[counted.at] += counted.records


def _bin_counts(true: Codes, predicted: Predicted, classes: int) -> Codes | None:
    """Count records by class, membership in it, and probability in thousandths."""
    if predicted.probabilities is None:
        return None
    bins = np.rint(predicted.probabilities * (BINS - 1)).astype(np.int64)
    counts = np.empty((classes, 2, BINS), dtype=np.int64)
    for code in range(classes):
        at = np.where(true == code, BINS, 0) + bins[:, code]
        counts[code] = np.bincount(at, minlength=2 * BINS).reshape(2, BINS)
    return counts
