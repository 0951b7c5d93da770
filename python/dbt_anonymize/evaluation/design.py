"""The matrix of features of an effort, with its equal rows stored once, as codes.

A row is a code per column that was read, and a table says which features a code means: a category
of many leaves takes no more memory than a number until its rows are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.features import Encoding

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ClassMeans:
    """What is needed to put the mean of its equivalence class in the place of a midpoint.

    Attributes
    ----------
    columns : tuple of int
        Features that are means.
    raw : tuple of array of float, shape (records,)
        The number of each record, one array per column; NaN where it is NULL.
    classes : array of int, shape (records,)
        Equivalence class of each record.
    row_classes : array of int, shape (distinct rows,)
        Equivalence class of each row; -1 where the quasi-identifiers are missing.
    """

    columns: tuple[int, ...]
    raw: tuple[Floats, ...]
    classes: Codes
    row_classes: Codes


@dataclass(frozen=True)
class Design:
    """A matrix of features with its equal rows stored once.

    Attributes
    ----------
    columns : tuple of array of int, shape (distinct rows,)
        A code for each column that was read.
    tables : tuple of array of float, shape (codes, features of the column)
        What each code means; NaN where a number is missing.
    codes : array of int, shape (records,)
        The row of each record.
    quasi : array of bool, shape (features,)
        Which features are those of quasi-identifiers.
    hidden : array of int, shape (records,), or None
        The row of each record with all quasi-identifiers missing.
    means : ClassMeans or None
        For `class_means`; the tables hold midpoints then.
    leaves : mapping of int to array of int, shape (records,)
        For `with_leaf_counts`: by position among the columns the leaf of each record, -1 where it
        is not known; the tables weigh all leaves of a label the same then.
    """

    columns: tuple[NDArray[np.int32], ...]
    tables: tuple[Floats, ...]
    codes: Codes
    quasi: Bools
    hidden: Codes | None = None
    means: ClassMeans | None = None
    leaves: Mapping[int, NDArray[np.int32]] = field(default_factory=dict)

    @property
    def is_fitted(self) -> bool:
        """Whether what a value stands for depends on the records that are released."""
        return self.means is not None or bool(self.leaves)

    @property
    def size(self) -> int:
        """Number of distinct rows."""
        return len(self.columns[0])

    @cached_property
    def incomplete(self) -> Codes:
        """Features in which a number may be missing."""
        return np.flatnonzero(np.concatenate([np.isnan(t).any(axis=0) for t in self.tables]))

    def take(self, rows: Codes, numbers: Floats | None = None) -> Floats:
        """Return the features of rows, with class means if they are given.

        Parameters
        ----------
        rows : array of int, shape (n,)
            Positions of distinct rows.
        numbers : array of float, shape (distinct rows, means), optional
            From `class_means`.

        Returns
        -------
        array of float, shape (n, features)
        """
        parts = zip(self.columns, self.tables, strict=True)
        found = np.hstack([table[column[rows]] for column, table in parts])
        if numbers is not None and self.means is not None:
            found[:, self.means.columns] = numbers[rows]
        return found


def make_design(
    encodings: Sequence[Encoding],
    values: Sequence[NDArray[Any]],
    *,
    may_be_hidden: bool = False,
    classes: Codes | None = None,
    raw: Sequence[NDArray[Any] | None] = (),
) -> Design:
    """Return the matrix of features of an effort.

    Parameters
    ----------
    encodings : sequence of Encoding, length >= 1
        One per column that was read.
    values : sequence of array
        What the SQL of each encoding gave, one value per record.
    may_be_hidden : bool, default False
        Whether records may be suppressed but kept: then there is a row of each with its
        quasi-identifiers missing, numbers as NaN and categories as the root.
    classes : array of int, optional
        Equivalence class of each record, if class means stand for numbers.
    raw : sequence of array or None
        For each encoding the number of each record where a class mean stands for it.

    Raises
    ------
    EvaluationError
        If a label is not in its level of the hierarchy, or a number is not finite.
    """
    coded = [_code(encoding, array) for encoding, array in zip(encodings, values, strict=True)]
    columns = [codes for codes, _ in coded]
    tables = [table for _, table in coded]
    records = len(columns[0])
    if may_be_hidden:
        parts = zip(encodings, columns, tables, strict=True)
        hidden = [_hide(*part) for part in parts]
        columns = [
            np.concatenate([codes, more]) for codes, (more, _) in zip(columns, hidden, strict=True)
        ]
        tables = [table for _, table in hidden]
    if classes is not None:
        columns.append(np.append(classes, np.full(len(columns[0]) - records, -1)))
    row_codes = reduce(_pair, columns)
    _, first, row_codes = np.unique(row_codes, return_index=True, return_inverse=True)
    used = columns[: len(tables)]
    design = Design(
        columns=tuple(codes[first].astype(np.int32) for codes in used),
        tables=tuple(tables),
        codes=row_codes[:records],
        quasi=np.repeat([e.is_quasi for e in encodings], [table.shape[1] for table in tables]),
        hidden=row_codes[records:] if may_be_hidden else None,
    )
    if classes is None:
        return design
    starts = np.cumsum([0, *(table.shape[1] for table in tables)])
    means = ClassMeans(
        columns=tuple(int(starts[i]) for i, numbers in enumerate(raw) if numbers is not None),
        raw=tuple(numbers for numbers in raw if numbers is not None),
        classes=classes,
        row_classes=columns[-1][first],
    )
    return replace(design, means=means)


def _hide(encoding: Encoding, codes: Codes, table: Floats) -> tuple[Codes, Floats]:
    """Return the codes of a column in hidden records, and a table that has a row for them."""
    if not encoding.is_quasi:
        return codes, table
    if encoding.table is None:
        table = np.vstack([table, np.full((1, 1), np.nan)])
    return np.full(len(codes), len(table) - 1), table


def _pair(left: Codes, right: Codes) -> Codes:
    """Return one code per record for each distinct pair of codes, in the order of the pairs."""
    _, left = np.unique(left, return_inverse=True)
    lowest = int(right.min())
    return left * (int(right.max()) - lowest + 1) + (right - lowest)


def _code(encoding: Encoding, values: NDArray[Any]) -> tuple[Codes, Floats]:
    if encoding.table is None:
        _check_numbers(encoding, values)
        distinct, codes = np.unique(values, return_inverse=True)
        return codes, distinct.reshape(-1, 1)
    unknown = int((values == -1).sum())
    if unknown:
        raise EvaluationError(
            f"every label of feature `{encoding.feature}` must be in its level of the hierarchy; "
            f"{unknown} of {len(values)} records have another. Build the efforts and the "
            "hierarchy again."
        )
    codes = np.where(values == -2, len(encoding.table) - 1, values).astype(np.int64)
    return codes, encoding.table


def _check_numbers(encoding: Encoding, values: NDArray[Any]) -> None:
    bad = np.isinf(values) if encoding.may_be_missing else ~np.isfinite(values)
    if bad.any():
        rule = "finite or missing" if encoding.may_be_missing else "finite and not missing"
        raise EvaluationError(
            f"every number of feature `{encoding.feature}` must be {rule}; "
            f"{int(bad.sum())} of {len(values)} are not. Clean them in the source."
        )


def class_means(design: Design, released: Codes) -> Floats | None:
    """Return the mean of its equivalence class for each row.

    Parameters
    ----------
    design : Design
        With midpoints.
    released : array of int
        Positions of the records whose numbers count.

    Returns
    -------
    array of float, shape (distinct rows, means), or None
        A class of which no released record has a number keeps its midpoint. So does one whose
        numbers all are the midpoint, to the last digit, as at level 0. None without class means.
    """
    means = design.means
    if means is None:
        return None
    has_class = np.flatnonzero(means.row_classes >= 0)
    row_classes = means.row_classes[has_class]
    members = means.classes[released]
    size = int(means.classes.max()) + 1
    starts = np.cumsum([0, *(table.shape[1] for table in design.tables)]).tolist()
    numbers = np.empty((design.size, len(means.columns)))
    for place, (column, raw) in enumerate(zip(means.columns, means.raw, strict=True)):
        read = starts.index(column)
        numbers[:, place] = design.tables[read][design.columns[read], 0]
        midpoints = np.zeros(size)
        midpoints[row_classes] = numbers[has_class, place]
        differences = raw[released] - midpoints[members]
        is_known = ~np.isnan(differences)
        counts = np.bincount(members[is_known], minlength=size)
        sums = np.bincount(members[is_known], weights=differences[is_known], minlength=size)
        numbers[has_class, place] += (sums / np.maximum(counts, 1))[row_classes]
    return numbers


def known_leaves(encoding: Encoding, values: NDArray[Any]) -> NDArray[np.int32]:
    """Return the leaf of each untouched record, as a position among the features of a category.

    Parameters
    ----------
    encoding : Encoding
        Of a category at level 0.
    values : array
        What its SQL gave, one value per record.

    Returns
    -------
    array of int, shape (records,)
        -1 where the value is not known.
    """
    codes, table = _code(encoding, values)
    is_leaf = np.count_nonzero(table, axis=1) == 1
    return np.where(is_leaf, table.argmax(axis=1), -1).astype(np.int32)[codes]


def with_leaf_counts(design: Design, records: Codes) -> Design:
    """Return a design in which leaves of a label weigh as often as they occur in some records.

    Parameters
    ----------
    design : Design
        In which they weigh the same.
    records : array of int
        Positions of the records that count.

    Returns
    -------
    Design
        Where no leaf of a label occurs, they weigh the same. A design without leaves itself.
    """
    tables = list(design.tables)
    for position, leaves in design.leaves.items():
        own = leaves[records]
        table = tables[position]
        weighted = table * np.bincount(own[own >= 0], minlength=table.shape[1])
        occurs = weighted.any(axis=1)
        sums = weighted[occurs].sum(axis=1, keepdims=True)
        table = table.copy()
        table[occurs] = weighted[occurs] / sums
        tables[position] = table
    return replace(design, tables=tuple(tables)) if design.leaves else design


def training_medians(rows: Floats, codes: Codes, incomplete: Codes) -> Floats:
    """Return what stands for a missing number in each feature.

    Parameters
    ----------
    rows : array of float, shape (distinct rows, features)
        Of the effort that trains.
    codes : array of int
        The row of each training record; no other record has an influence.
    incomplete : array of int
        Features in which numbers may be missing.

    Returns
    -------
    array of float, shape (features,)
        The median of the known values of the training records; 0.0 if none is known, and for the
        other features, where it is not used.
    """
    medians = np.zeros(rows.shape[1])
    for column in incomplete:
        values = rows[codes, column]
        known = values[~np.isnan(values)]
        medians[column] = np.median(known) if len(known) else 0.0
    return medians


def filled(rows: Floats, medians: Floats) -> Floats:
    """Return rows with a number in place of each missing one."""
    missing = np.isnan(rows)
    return np.where(missing, medians, rows) if missing.any() else rows


def used_rows(codes: Codes, rows: int) -> tuple[Codes, Codes]:
    """Return the distinct rows that records use, and the place of each record among them.

    Parameters
    ----------
    codes : array of int, shape (records,)
        The row of each record, 0 .. ``rows`` - 1.
    rows : int
        How many rows there are.

    Examples
    --------
    >>> used_rows(np.array([3, 1, 3]), 5)
    (array([1, 3]), array([1, 0, 1]))
    """
    is_used = np.zeros(rows, dtype=bool)
    is_used[codes] = True
    kept = np.flatnonzero(is_used)
    place = np.cumsum(is_used) - 1
    return kept, place[codes]
