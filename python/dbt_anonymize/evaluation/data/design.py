"""The distinct rows of an effort as codes, and the class means of the released records.

A row is one code per column; a `Space` turns codes into features on demand, so that a category of
many labels costs one number per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.evaluation.data.features import VALUES, Column
from dbt_anonymize.evaluation.data.spaces import Numbers, Space
from dbt_anonymize.privacy.grouping import distinct_rows


@dataclass(frozen=True)
class ClassMeans:
    """Means of equivalence classes, which replace the midpoints of intervals.

    Attributes
    ----------
    features : tuple of int
        Features that are means.
    midpoints : array of float, shape (distinct rows, means)
        NaN where the interval is unknown.
    raw : tuple of array of float, shape (records,)
        Original numbers, one array per feature; NaN for NULL.
    classes : array of int, shape (records,)
        Equivalence class of each record.
    row_classes : array of int, shape (distinct rows,)
        Equivalence class of each row; -1 where the quasi-identifiers are missing.
    """

    features: tuple[int, ...]
    midpoints: Floats
    raw: tuple[Floats, ...]
    classes: Ints
    row_classes: Ints


@dataclass(frozen=True)
class Design:
    """The records of an effort with equal rows stored once.

    Attributes
    ----------
    columns : tuple of array of int, shape (distinct rows,)
        A code for each column.
    codes, hidden : array of int, shape (records,)
        The row of each record; ``hidden`` with all its quasi-identifiers missing.
    """

    columns: tuple[NDArray[np.int32], ...]
    codes: Ints
    hidden: Ints | None = None
    means: ClassMeans | None = None

    @property
    def size(self) -> int:
        """Number of distinct rows."""
        return len(self.columns[0])

    def take(self, space: Space, rows: Ints, means: Floats | None = None) -> Floats:
        """Return features, shape (n, features), of n rows; NaN where a number is unknown.

        ``means`` from `class_means` replace midpoints.
        """
        features = space.take(self.columns, rows)
        if means is not None and self.means is not None:
            features[:, self.means.features] = means[rows]
        return features


def make_design(
    columns: Sequence[Column], *, classes: Ints | None = None, raw: Sequence[Floats | None] = ()
) -> Design:
    """Return the distinct rows of an effort.

    Where class means replace numbers, ``classes`` is the equivalence class of each record and
    ``raw`` its number, per column; None for other columns.
    """
    codes = [column.codes for column in columns]
    records = len(codes[0])
    may_be_hidden = any(column.hidden is not None for column in columns)
    if may_be_hidden:
        codes = [
            np.append(c.codes, c.codes if c.hidden is None else np.full(records, c.hidden))
            for c in columns
        ]
    parts = list(codes)
    if classes is not None:
        parts.append(np.append(classes, np.full(len(codes[0]) - records, -1)))
    first, row_codes = distinct_rows(parts)
    used = tuple(own[first].astype(np.int32) for own in codes)
    means = None if classes is None else _means(columns, used, raw, classes, parts[-1][first])
    return Design(used, row_codes[:records], row_codes[records:] if may_be_hidden else None, means)


def make_space(columns: Sequence[Column], name: str, *, is_original: bool = False) -> Space:
    """Return the space of columns, for records of the effort or for untouched ones."""
    blocks = tuple((c.original if is_original else c.own)[name] for c in columns)
    return Space(blocks, tuple(column.is_quasi for column in columns))


def _means(
    columns: Sequence[Column],
    codes: Sequence[NDArray[np.int32]],
    raw: Sequence[Floats | None],
    classes: Ints,
    row_classes: Ints,
) -> ClassMeans:
    starts = make_space(columns, VALUES).starts
    places = [place for place, numbers in enumerate(raw) if numbers is not None]
    midpoints = []
    for place in places:
        (block,) = columns[place].own[VALUES]
        if not isinstance(block, Numbers):
            raise TypeError("only numbers have class means")
        midpoints.append(block.values[codes[place], 0])
    return ClassMeans(
        features=tuple(starts[place] for place in places),
        midpoints=np.column_stack(midpoints),
        raw=tuple(numbers for numbers in raw if numbers is not None),
        classes=classes,
        row_classes=row_classes,
    )


def class_means(design: Design, released: Ints) -> Floats | None:
    """Return the mean of its equivalence class for each row, shape (distinct rows, means).

    ``released`` are the records whose numbers count. A class without such a number keeps its
    midpoint; so does, to the last digit, a class whose numbers all equal it. NaN where the interval
    is unknown; None if the design has no class means.
    """
    means = design.means
    if means is None:
        return None
    has_class = np.flatnonzero(means.row_classes >= 0)
    row_classes = means.row_classes[has_class]
    members = means.classes[released]
    size = int(means.classes.max()) + 1
    numbers = means.midpoints.copy()
    for place, raw in enumerate(means.raw):
        midpoints = np.zeros(size)
        midpoints[row_classes] = numbers[has_class, place]
        differences = raw[released] - midpoints[members]
        is_known = ~np.isnan(differences)
        counts = np.bincount(members[is_known], minlength=size)
        sums = np.bincount(members[is_known], weights=differences[is_known], minlength=size)
        numbers[has_class, place] += (sums / np.maximum(counts, 1))[row_classes]
    return numbers


def used_rows(codes: Ints, rows: int) -> tuple[Ints, Ints]:
    """Return the distinct rows (of ``rows``) that records use, and each record's place in them.

    Examples
    --------
    >>> used_rows(np.array([3, 1, 3]), 5)
    (array([1, 3]), array([1, 0, 1]))
    """
    is_used = np.zeros(rows, dtype=bool)
    is_used[codes] = True
    distinct = np.flatnonzero(is_used)
    place = np.cumsum(is_used) - 1
    return distinct, place[codes]
