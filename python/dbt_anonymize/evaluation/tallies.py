"""Counts over all splits: predictions by true class and by probability."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.evaluation.measures import Predicted, confusion_counts

# Probabilities are counted in thousandths, 0 .. 1000.
BINS = 1001


class Cell(NamedTuple):
    """Key of counts; target, effort and model by position."""

    effort: int
    target: int
    model: int
    fit: str
    test_on: str


class Sparse(NamedTuple):
    """Counts that are not zero: flat positions, ascending, and the records of each."""

    shape: tuple[int, ...]
    at: Ints
    records: Ints


# Sparse confusions and probabilities of `Tallies`.
PackedTallies = tuple[dict[Cell, Sparse], dict[Cell, Sparse]]


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

    confusion: dict[Cell, Ints] = field(default_factory=dict)
    probabilities: dict[Cell, Ints] = field(default_factory=dict)

    def add(self, cells: Iterable[Cell], true: Ints, predicted: Predicted, classes: int) -> None:
        """Count the test records of a split in each of several distinct cells."""
        confusion = confusion_counts(true, predicted.labels, classes)
        bins = _bin_counts(true, predicted, classes)
        for cell in cells:
            _array_for(self.confusion, cell, confusion.shape)[...] += confusion
            if bins is not None:
                _array_for(self.probabilities, cell, bins.shape)[...] += bins

    def packed(self) -> PackedTallies:
        """Return sparse counts, to send to another process."""
        return _sparse(self.confusion), _sparse(self.probabilities)

    def merge(self, packed: PackedTallies) -> None:
        """Add the counts of another process."""
        for own, sparse in zip((self.confusion, self.probabilities), packed, strict=True):
            for cell, (shape, at, records) in sparse.items():
                _array_for(own, cell, shape).reshape(-1)[at] += records


def _array_for(tallies: dict[Cell, Ints], cell: Cell, shape: tuple[int, ...]) -> Ints:
    """Return the counts of a cell, which begin with zeros."""
    if cell not in tallies:
        tallies[cell] = np.zeros(shape, dtype=np.int64)
    return tallies[cell]


def _sparse(tallies: dict[Cell, Ints]) -> dict[Cell, Sparse]:
    sparse = {}
    for cell, counts in tallies.items():
        at = np.flatnonzero(counts)
        sparse[cell] = Sparse(counts.shape, at, counts.reshape(-1)[at])
    return sparse


def _bin_counts(true: Ints, predicted: Predicted, classes: int) -> Ints | None:
    """Count records by class, membership in it, and probability in thousandths."""
    if predicted.probabilities is None:
        return None
    bins = np.rint(predicted.probabilities * (BINS - 1)).astype(np.int64)
    counts = np.empty((classes, 2, BINS), dtype=np.int64)
    for code in range(classes):
        at = np.where(true == code, BINS, 0) + bins[:, code]
        counts[code] = np.bincount(at, minlength=2 * BINS).reshape(2, BINS)
    return counts
