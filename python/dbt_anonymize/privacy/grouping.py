"""Equivalence classes of one node, computed simply and exactly; the search has a faster way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.privacy.table import Classes, Node, Table, ValueCounts

# Up to this many cells per counted pair a dense count is faster than sorting the pairs.
DENSE = 16


def classes_of(table: Table, node: Node) -> Classes:
    """Group the rows of a table by their labels at one node; classes in order of their first rows.

    Examples
    --------
    >>> from dbt_anonymize.privacy.table import Attribute
    >>> levels = (np.array([0, 1]), np.array([0, 0]))
    >>> shares = (np.array([0.5, 0.5]), np.array([1.0]))
    >>> sex = Attribute("sex", levels, shares, domain_size=2, smallest_share=0.5)
    >>> table = Table((sex,), leaves=np.array([[0], [1]]), records=np.array([3, 4]))
    >>> classes_of(table, (0,)).records.tolist(), classes_of(table, (1,)).records.tolist()
    ([3, 4], [7])
    """
    return classes_by_labels(table, labels_of(table, node, np.arange(len(table.leaves))), node)


def classes_by_labels(table: Table, labels: Ints, node: Node = ()) -> Classes:
    """Group the rows of a table by the codes of their labels (rows, attributes)."""
    first, class_of_row = group(labels)
    return replace(
        count_classes(table, class_of_row, len(first)),
        levels=tuple(node),
        codes=labels[first],
        first=first,
    )


def count_classes(table: Table, class_of_row: Ints, count: int) -> Classes:
    """Count the contents of the classes of rows, without labels."""
    records = sums(class_of_row, table.records, count)
    population = None
    if table.population is not None:
        population = sums(class_of_row, table.population, count)
    return Classes(
        levels=(),
        codes=np.empty((count, 0), dtype=np.int64),
        records=records,
        people=records
        if table.subject is None
        else subject_counts(class_of_row, table.subject, table.records, count),
        first=np.arange(count),
        population=population,
        values=tuple(
            value_counts(class_of_row, values, table.records, table.subject)
            for _, values in table.sensitive
        ),
        targets=tuple(
            value_counts(class_of_row, values, table.records, None) for values, _ in table.targets
        ),
        predictions=None
        if table.predictions is None
        else column_sums(class_of_row, table.predictions, count),
    )


def labels_of(table: Table, node: Node, rows: Ints) -> Ints:
    """Return the label codes (rows, attributes) of some rows of the table at a node."""
    labels = np.empty((len(rows), len(table.attributes)), dtype=np.int64)
    for column, (attribute, level) in enumerate(zip(table.attributes, node, strict=True)):
        labels[:, column] = attribute.levels[level][table.leaves[rows, column]]
    return labels


def group(keys: Ints) -> tuple[Ints, Ints]:
    """Return the first row of each distinct row, ascending, and the group of each row."""
    if not keys.size:
        return np.zeros(min(1, len(keys)), dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    first, codes = distinct_rows(keys.T)
    order = np.argsort(first)
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return first[order], position[codes]


def distinct_rows(parts: Sequence[NDArray[Any]] | NDArray[Any]) -> tuple[Ints, Ints]:
    """Return the first row of each distinct combination of codes, and the combination of each row.

    ``parts`` are arrays of whole numbers, one per column, with at least one row.

    Examples
    --------
    >>> distinct_rows([np.array([1, 0, 1]), np.array([5, 5, 5])])
    (array([1, 0]), array([1, 0, 1]))
    """
    codes = distinct_codes(parts, len(parts[0]))
    return np.unique(codes, return_index=True)[1], codes


def distinct_codes(columns: Iterable[NDArray[Any]], rows: int) -> Ints:
    """Return a code, 0 or more, for each distinct row of columns (rows,) of whole numbers.

    Examples
    --------
    >>> distinct_codes([np.array([2, 1, 2]), np.array([0, 5, 0])], 3).tolist()
    [1, 0, 1]
    """
    numbers = np.zeros(rows, dtype=np.int64)
    for codes in columns:
        lowest = int(codes.min(initial=0))
        pairs = numbers * (int(codes.max(initial=0)) - lowest + 1) + (codes - lowest)
        numbers = np.unique(pairs, return_inverse=True)[1].reshape(-1)
    return numbers


def sums(group_of_row: Ints, numbers: Ints, groups: int) -> Ints:
    """Add up integers by group; exact below 2**53."""
    return np.bincount(group_of_row, weights=numbers, minlength=groups).astype(np.int64)


def column_sums(group_of_row: Ints, numbers: Floats, groups: int) -> Floats:
    """Add up the rows (rows, columns) of each group.

    Examples
    --------
    >>> column_sums(np.array([0, 1, 0]), np.array([[1.0], [2.0], [3.0]]), 2).tolist()
    [[4.0], [2.0]]
    """
    sums = np.empty((groups, numbers.shape[1]), order="F")
    for column in range(numbers.shape[1]):
        sums[:, column] = np.bincount(group_of_row, weights=numbers[:, column], minlength=groups)
    return sums


def subject_counts(class_of_row: Ints, subject: Ints, records: Ints, classes: int) -> Ints:
    """Return the number of distinct subjects with a record in each class."""
    present = records > 0
    pairs = np.stack((class_of_row[present], subject[present]), axis=1)
    first, _ = group(pairs)
    return np.bincount(pairs[first, 0], minlength=classes)


def value_counts(
    class_of_row: Ints, values: Ints, records: Ints, subject: Ints | None
) -> ValueCounts:
    """Count the records, or the distinct (subject, value), of each class and value."""
    present = records > 0
    if not present.all():
        class_of_row, values = class_of_row[present], values[present]
        records, subject = records[present], None if subject is None else subject[present]
    # Values in the last bits of a number, classes in those before.
    bits = int(values.max(initial=0)).bit_length()
    pairs = (class_of_row << bits) | values
    if subject is not None:
        first_pairs, _ = group(np.stack((pairs, subject), axis=1))
        pairs, records = pairs[first_pairs], np.ones(len(first_pairs), dtype=np.int64)
    cells = (int(class_of_row.max(initial=0)) + 1) << bits
    if cells <= DENSE * len(pairs):
        counts = np.bincount(pairs, weights=records)
        # Several times faster than searching for nonzero counts.
        occurring = np.flatnonzero(counts > 0)
        records_of_pair = counts[occurring].astype(np.int64)
    else:
        occurring, inverse = np.unique(pairs, return_inverse=True)
        records_of_pair = sums(inverse, records, len(occurring))
    return ValueCounts(occurring >> bits, occurring & ((1 << bits) - 1), records_of_pair)
