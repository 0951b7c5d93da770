"""Equivalence classes of a node, from which the classes of coarser nodes are merged.

A class has its first row, its records and the packed labels. Counts of sensitive values, targets
and subjects are summed from the merged classes on demand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.extensions.search.hashing import Words
from dbt_anonymize.privacy.grouping import column_sums, labels_of, value_counts
from dbt_anonymize.privacy.table import Classes, Node, Table, ValueCounts


@dataclass(frozen=True)
class CountedColumns:
    """Counts of each class: values of each attribute and target, and subjects.

    Attributes
    ----------
    table : Table
        Table with the sensitive values and targets to count.
    leaves : tuple of integer arrays (rows,)
        Leaf code of each row, per attribute, in few bytes.
    columns : tuple of int array (rows,)
        Codes to count.
    values, targets : tuple of int
        The column of each attribute or target.
    subject : int or None
        The column of the subjects; columns of values then hold pairs of subject and value.
    value_of : tuple of int array or None
        The value of each code of a column of pairs; None for other columns.
    """

    table: Table
    leaves: tuple[NDArray[np.integer], ...]
    columns: tuple[Ints, ...]
    values: tuple[int, ...]
    targets: tuple[int, ...]
    subject: int | None
    value_of: tuple[Ints | None, ...]

    @classmethod
    def of(cls, table: Table) -> CountedColumns:
        """Return the distinct columns of a table."""
        columns: list[Ints] = []
        value_of: list[Ints | None] = []

        def place(codes: Ints, values: Ints | None = None) -> int:
            for number, column in enumerate(columns):
                if value_of[number] is values is None and np.array_equal(column, codes):
                    return number
            columns.append(codes)
            value_of.append(values)
            return len(columns) - 1

        subject = None if table.subject is None else place(table.subject)
        values = tuple(
            place(codes) if table.subject is None else place(*_pairs(table.subject, codes))
            for _, codes in table.sensitive
        )
        targets = tuple(place(codes) for codes, _ in table.targets)
        leaves = tuple(_narrow(column) for column in table.leaves.T)
        return cls(table, leaves, tuple(columns), values, targets, subject, tuple(value_of))


def _pairs(subject: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return the code of each pair, and the value of each code."""
    width = int(values.max(initial=0)) + 1
    pairs, codes = np.unique(subject * width + values, return_inverse=True)
    return codes.reshape(-1), pairs % width


def _narrow(column: Ints) -> Any:
    """Copy a column in the narrowest type that holds its codes."""
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))


class GroupedClasses(Classes):
    """Equivalence classes that compute rarely needed counts on demand.

    ``parent`` are the classes that these were merged from, None for the rows of the table.
    ``links`` are the first parent of each class, and the first parent of the class of each parent.
    ``words`` are packed label codes.
    """

    def __init__(
        self,
        counted: CountedColumns,
        levels: Node,
        *,
        words: Words,
        first: Ints,
        records: Ints,
        population: Ints | None,
        parent: GroupedClasses | None = None,
        links: tuple[Ints, Ints] | None = None,
    ):
        fields: dict[str, Any] = {
            "levels": levels,
            "words": words,
            "first": first,
            "records": records,
            "population": population,
            "parent": parent,
            "_links": links,
            "_counted": counted,
            "_counts": {},
            "_leaves": {},
        }
        self.__dict__.update(fields)

    def __len__(self) -> int:
        return len(self.first)

    def narrow(self) -> GroupedClasses:
        """Return the classes in narrow types: to group others from, not to measure."""
        links = None
        if self._links is not None:
            leaders, leader = self._links
            links = _narrow(leaders), _narrow(leader)
        narrow = GroupedClasses(
            self._counted,
            self.levels,
            words=self.words,
            first=_narrow(self.first),
            records=_narrow(self.records),
            population=None if self.population is None else _narrow(self.population),
            parent=self.parent,
            links=links,
        )
        # Sums are doubles then.
        weights = None if (self.records == 1).all() else narrow.records
        narrow.__dict__.update(weights=weights, _counts=self._counts)
        if "predictions" in self.__dict__:
            narrow.__dict__["predictions"] = self.predictions
        return narrow

    @property
    def class_of_row(self) -> Ints:
        """Class of each class of the parent."""
        assert self._links is not None
        leaders, leader = self._links
        position = np.empty(len(leader), dtype=np.int64)
        position[leaders] = np.arange(len(leaders))
        return position.take(leader)

    @cached_property
    def weights(self) -> Floats | None:
        """Records as weights for `bincount`: None if each class has one record."""
        return None if (self.records == 1).all() else self.records.astype(np.float64)

    @cached_property
    def codes(self) -> Ints:
        """Label codes (classes, attributes)."""
        return labels_of(self._counted.table, self.levels, self.first)

    def leaves(self, attribute: int) -> NDArray[np.integer]:
        """Return the leaf code of the first row of each class."""
        if attribute not in self._leaves:
            column = self._counted.leaves[attribute]
            is_table = self.parent is None
            self._leaves[attribute] = column if is_table else column.take(self.first)
        return self._leaves[attribute]

    @cached_property
    def people(self) -> Ints:
        """Distinct subjects; the records without a subject."""
        if self._counted.subject is None:
            return self.records
        return np.bincount(self._counts_of(self._counted.subject).classes, minlength=len(self))

    @cached_property
    def values(self) -> tuple[ValueCounts, ...]:
        """Counts of each sensitive attribute."""
        return tuple(self._values_of(column) for column in self._counted.values)

    @cached_property
    def targets(self) -> tuple[ValueCounts, ...]:
        """Counts of each target."""
        return tuple(self._counts_of(column) for column in self._counted.targets)

    @cached_property
    def predictions(self) -> Floats | None:
        """Sums of the predictions of the table."""
        if self.parent is None:
            return self._counted.table.predictions
        finer = self.parent.predictions
        return None if finer is None else column_sums(self.class_of_row, finer, len(self))

    def _values_of(self, column: int) -> ValueCounts:
        counts, value_of = self._counts_of(column), self._counted.value_of[column]
        if value_of is None:
            return counts
        # Each pair of subject and value counts once.
        ones = np.ones(len(counts.classes), dtype=np.int64)
        return value_counts(counts.classes, value_of[counts.values], ones, None)

    def _counts_of(self, column: int) -> ValueCounts:
        if column not in self._counts:
            self._counts[column] = self._count(column)
        return self._counts[column]

    def _count(self, column: int) -> ValueCounts:
        if self.parent is None:
            rows = np.flatnonzero(self.records)
            return ValueCounts(rows, self._counted.columns[column][rows], self.records[rows])
        finer = self.parent._counts_of(column)
        of_class = self.class_of_row.take(finer.classes)
        return value_counts(of_class, finer.values, finer.counts, None)

    def table_rows(self, classes: Bools) -> Bools:
        """Return a mask of the table's rows in some of the classes."""
        mask, parent = classes, self
        while parent.parent is not None:
            mask, parent = mask[parent.class_of_row], parent.parent
        return mask

    @property
    def of_table_rows(self) -> Ints:
        """Class of each row of the table."""
        if self.parent is None:
            return np.arange(len(self))
        return self.class_of_row[self.parent.of_table_rows]

    @property
    def bytes(self) -> int:
        """Upper bound of the memory of these classes, if few pairs with values are counted."""
        arrays = [*self.words, self.first, self.records, *(self._links or ())]
        arrays += [] if self.population is None else [self.population]
        leaves = sum(column.itemsize for column in self._counted.leaves)
        each = leaves + 24 * len(self._counted.columns)
        return each * len(self) + sum(int(array.nbytes) for array in arrays)

    # Set in `__init__`; a frozen dataclass cannot assign them.
    parent: GroupedClasses | None
    words: Words
    _links: tuple[Ints, Ints] | None
    _counted: CountedColumns
    _counts: dict[int, ValueCounts]
    _leaves: dict[int, NDArray[np.integer]]
