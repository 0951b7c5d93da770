"""Group many nodes of one table quickly: packed keys, and roll-up from finer nodes.

The labels of all attributes fit into one or a few 64-bit words. A node is grouped from the rows of
the table, or from the fewest merged rows of a finer node that are kept (`bases`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.privacy.grouping import labels_of, people_in, value_counts
from dbt_anonymize.privacy.table import (
    BoolArray,
    Classes,
    FloatArray,
    IntArray,
    Node,
    Table,
    ValueCounts,
)
from dbt_anonymize.search.bases import Bases, Rows
from dbt_anonymize.search.entropies import label_entropies
from dbt_anonymize.search.hashing import Words, distinct, slots
from dbt_anonymize.search.sums_of_codes import SumsOfCodes

WORD_BITS = 63
MEMORY = 1 << 30
# By attribute and level, the code of each leaf.
Codes = list[list[IntArray]]


class GroupedClasses(Classes):
    """Equivalence classes that compute what is rarely needed only on demand."""

    def __init__(self, table: Table, node: Node, rows: Rows, leaders: IntArray, leader: IntArray):
        fields = {
            "levels": node,
            "first": rows.first[leaders],
            "records": _add_up(rows.weights, leaders, leader),
            "population": None
            if rows.population is None
            else _add_up(rows.population, leaders, leader),
            "_table": table,
            "_rows": rows,
            "_leaders": leaders,
            "_leader": leader,
        }
        self.__dict__.update(fields)

    @cached_property
    def class_of_row(self) -> IntArray:
        """Class of each of the rows that were grouped."""
        position = np.empty(len(self._leader), dtype=np.int64)
        position[self._leaders] = np.arange(len(self._leaders))
        return position[self._leader]

    @cached_property
    def codes(self) -> IntArray:
        """Label codes (classes, attributes)."""
        return labels_of(self._table, self.levels, self.first)

    @cached_property
    def people(self) -> IntArray:
        """Distinct subjects; the records without a subject."""
        if self._table.subject is None:
            return self.records
        subject = self._table.subject[self._rows.first]
        return people_in(self.class_of_row, subject, self._rows.records, len(self.records))

    @cached_property
    def values(self) -> tuple[ValueCounts, ...]:
        """Counts of each sensitive attribute."""
        subject = self._table.subject
        subject = None if subject is None else subject[self._rows.first]
        return tuple(self._counts(codes, subject) for _, codes in self._table.sensitive)

    @cached_property
    def targets(self) -> tuple[ValueCounts, ...]:
        """Counts of each target."""
        return tuple(self._counts(codes, None) for codes, _ in self._table.targets)

    def _counts(self, codes: IntArray, subject: IntArray | None) -> ValueCounts:
        values = codes[self._rows.first]
        return value_counts(self.class_of_row, values, self._rows.records, subject)

    def table_rows(self, classes: BoolArray) -> BoolArray:
        """Return a mask of the table's rows in some of the classes."""
        return self._rows.spread(classes[self.class_of_row])

    # Set in `__init__`; a frozen dataclass cannot assign them.
    _table: Table
    _rows: Rows
    _leaders: IntArray
    _leader: IntArray


class UngroupedNode:
    """A node whose rows have their keys but are not grouped yet."""

    def __init__(self, table: Table, node: Node, rows: Rows, words: Words):
        self._table = table
        self.node = node
        self.rows = rows
        self._words = words
        self._slot: IntArray | None = None
        self._in_slot = np.zeros(0, dtype=np.int64)
        self._classes: int | None = None

    def least_classes(self) -> int:
        """Return a lower bound of the number of classes; before counting and grouping, all rows."""
        if self._classes is None:
            is_counted = self._slot is not None
            return int(np.count_nonzero(self._in_slot)) if is_counted else len(self.rows)
        return self._classes

    def least_small_records(self, size: int) -> int:
        """Return a lower bound of the records in classes of fewer than ``size`` records.

        Counts by hash alone: classes that share a slot count as one. A fraction of the time of
        grouping nearly always proves an infeasible node.
        """
        slot, bits = slots(self._words, 0)
        counts = np.bincount(slot, weights=self.rows.weights, minlength=1 << bits)
        self._slot, self._in_slot = slot, counts
        is_small = counts < size
        # Doubles, as they are where rows are merged, are added up several times as fast so.
        return int(counts.sum(where=is_small) if self.rows.weights is None else counts @ is_small)

    def small_rows(self, size: int) -> IntArray:
        """Return a row of the table for each of the rows that were counted, after counting."""
        assert self._slot is not None
        return self.rows.first[self._in_slot.take(self._slot) < size]

    def classes(self) -> GroupedClasses:
        """Return the equivalence classes, in the order of their first rows."""
        leaders, leader = distinct(self._words, self._slot)
        self._classes = len(leaders)
        return GroupedClasses(self._table, self.node, self.rows, leaders, leader)


class Grouper:
    """Group nodes of a table, all at ``lowest`` or above; keep ``memory`` bytes of merged rows.

    Without ``values`` or ``targets`` their counts are not asked for: rows that differ in nothing
    else are merged.
    """

    def __init__(
        self,
        table: Table,
        lowest: Node,
        *,
        values: bool = True,
        targets: bool = True,
        memory: int = MEMORY,
    ):
        self._table = replace(
            table,
            sensitive=table.sensitive if values else (),
            targets=table.targets if targets else (),
        )
        self._codes, self._word_of, word_count = _pack(table)
        self._sums: list[SumsOfCodes] = []
        self._bottom = self._bottom_rows(word_count, lowest)
        is_left_out = (table.sensitive and not values) or (table.targets and not targets)
        if any(lowest) or is_left_out:
            self._bottom = self._merge(self._bottom, lowest)
        # By attribute and level, in bits.
        self.entropies = label_entropies(table)
        self._bases = Bases(self._bottom, self.entropies, memory)
        self._last: UngroupedNode | None = None
        # Not a method: a cycle of references would keep the memory of one search beside the next.
        change = partial(_change, self._codes, self._bottom)
        self._sums = [
            SumsOfCodes(
                start,
                [attribute for attribute, at in enumerate(self._word_of) if at == word],
                change,
                memory=memory // 8 // word_count,
            )
            for word, start in enumerate(self._bottom.words)
        ]

    def classes(self, node: Node) -> GroupedClasses:
        """Return the equivalence classes of a node, in the order of their first rows."""
        return self.ungrouped(node).classes()

    def ungrouped(self, node: Node) -> UngroupedNode:
        """Return a node with the key of each row, before its classes are formed."""
        if (last := self._last) is not None:
            levels = self._bases.worthwhile(last.node, last.rows, last.least_classes)
            if levels is not None:
                self._bases.keep(self._merge(last.rows, levels))
        rows = self._bases.of(node)
        self._last = UngroupedNode(self._table, node, rows, self._words_at(rows, node))
        return self._last

    def _bottom_rows(self, word_count: int, lowest: Node) -> Rows:
        table = self._table
        count = len(table.leaves)
        words = [np.zeros(count, dtype=np.int64) for _ in range(word_count)]
        leaves = tuple(_narrow(column) for column in table.leaves.T)
        for attribute, level in enumerate(lowest):
            words[self._word_of[attribute]] += self._codes[attribute][level].take(leaves[attribute])
        return Rows(
            levels=lowest,
            words=tuple(words),
            apart=_apart(table),
            first=np.arange(count),
            records=table.records,
            population=table.population,
            leaves=leaves,
        )

    def _merge(self, rows: Rows, node: Node) -> Rows:
        words = self._words_at(rows, node)
        leaders, leader = distinct((*words, *rows.apart))
        position = np.empty(len(leader), dtype=np.int64)
        position[leaders] = np.arange(len(leaders))
        population = rows.population
        return Rows(
            levels=node,
            words=tuple(word[leaders] for word in words),
            apart=tuple(word[leaders] for word in rows.apart),
            first=rows.first[leaders],
            records=_add_up(rows.weights, leaders, leader),
            population=None if population is None else _add_up(population, leaders, leader),
            leaves=tuple(column[leaders] for column in rows.leaves),
            parent=rows,
            merged_into=position[leader],
        )

    def _words_at(self, rows: Rows, node: Node) -> Words:
        if self._sums and rows is self._bottom:
            return tuple(sums.at(node) for sums in self._sums)
        words = list(rows.words)
        for attribute, (level, old) in enumerate(zip(node, rows.levels, strict=True)):
            if level != old:
                codes = self._codes[attribute]
                change = codes[level] - codes[old]
                word = self._word_of[attribute]
                words[word] = words[word] + change.take(rows.leaves[attribute])
        return tuple(words)


def _change(codes: Codes, rows: Rows, attribute: int, level: int) -> IntArray | None:
    """Return by how much a level changes the words of some rows; None if by nothing."""
    old = rows.levels[attribute]
    if level == old:
        return None
    of_level = codes[attribute]
    return (of_level[level] - of_level[old]).take(rows.leaves[attribute])


def _narrow(column: IntArray) -> NDArray[np.integer]:
    """Copy a column in the narrowest type that holds its codes."""
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))


def _add_up(numbers: IntArray | FloatArray | None, leaders: IntArray, leader: IntArray) -> IntArray:
    """Return the sums of the groups; exact below 2**53."""
    return np.bincount(leader, weights=numbers, minlength=len(leader))[leaders].astype(np.int64)


def _pack(table: Table) -> tuple[Codes, list[int], int]:
    """Place the label codes of each attribute into bits of words.

    Returns the shifted code of each leaf (by attribute and level), the word of each attribute, and
    the number of words.
    """
    codes, word_of = [], []
    word, used = 0, 0
    for column, attribute in enumerate(table.attributes):
        occurring = np.flatnonzero(np.bincount(table.leaves[:, column]))
        dense = []
        for level in attribute.levels:
            packed = np.zeros(len(level), dtype=np.int64)
            packed[occurring] = np.unique(level[occurring], return_inverse=True)[1].reshape(-1)
            dense.append(packed)
        bits = max(int(level.max(initial=0)) for level in dense).bit_length()
        if used + bits > WORD_BITS:
            word, used = word + 1, 0
        codes.append([level << used for level in dense])
        word_of.append(word)
        used += bits
    return codes, word_of, word + 1


def _apart(table: Table) -> Words:
    columns = [values for _, values in table.sensitive]
    columns += [codes for codes, _ in table.targets]
    columns += [] if table.subject is None else [table.subject]
    return _pack_columns(columns)


def _pack_columns(columns: Sequence[IntArray]) -> Words:
    words: list[IntArray] = []
    used = 0
    for column in columns:
        codes = np.unique(column, return_inverse=True)[1].reshape(-1)
        bits = int(codes.max(initial=0)).bit_length()
        if not words or used + bits > WORD_BITS:
            words.append(np.zeros(len(codes), dtype=np.int64))
            used = 0
        words[-1] += codes << used
        used += bits
    return tuple(words)
