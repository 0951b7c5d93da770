"""Keys of rows: the labels of all attributes at the levels of a node, packed into words."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.search.entropies import label_entropies
from dbt_anonymize.extensions.search.grouped import CountedColumns, GroupedClasses
from dbt_anonymize.extensions.search.hashing import Words
from dbt_anonymize.extensions.search.sums_of_codes import SumsOfCodes
from dbt_anonymize.privacy.table import Node, Table

WORD_BITS = 63
# By attribute and level, the code of each leaf.
Codes = list[list[Ints]]


class Keys:
    """Keys of the rows of a table; sums of codes are cached up to ``memory`` bytes."""

    def __init__(self, counted: CountedColumns, memory: int) -> None:
        table = counted.table
        self._counted = counted
        self._codes, self._word_of, self._words = _pack(table)
        self._memory = memory
        # By attribute and level, in bits.
        self.entropies = label_entropies(table)
        self._bottom: GroupedClasses | None = None
        self._sums: list[SumsOfCodes] = []

    def rows_of_table(self, lowest: Node) -> GroupedClasses:
        """Return the rows of the table as classes, with their keys at the lowest levels."""
        table = self._counted.table
        words = [np.zeros(len(table.leaves), dtype=np.int64) for _ in range(self._words)]
        for attribute, level in enumerate(lowest):
            codes = self._codes[attribute][level]
            words[self._word_of[attribute]] += codes.take(self._counted.leaves[attribute])
        return GroupedClasses(
            self._counted,
            lowest,
            words=tuple(words),
            first=np.arange(len(table.leaves)),
            records=table.records,
            population=table.population,
        )

    def set_bottom(self, bottom: GroupedClasses) -> None:
        """Set the rows from which most nodes are grouped."""
        self._bottom = bottom
        leaves = [bottom.leaves(attribute) for attribute in range(len(self._word_of))]
        self._sums = [
            SumsOfCodes(
                self._codes,
                leaves,
                [attribute for attribute, at in enumerate(self._word_of) if at == word],
                memory=self._memory // self._words,
            )
            for word in range(self._words)
        ]

    def at(self, rows: GroupedClasses, node: Node) -> Words:
        """Return the keys of rows at a node."""
        if rows is self._bottom:
            return tuple(sums.at(node) for sums in self._sums)
        words = list(rows.words)
        for attribute, (level, old) in enumerate(zip(node, rows.levels, strict=True)):
            if level != old:
                codes = self._codes[attribute]
                change = codes[level] - codes[old]
                word = self._word_of[attribute]
                words[word] = words[word] + change.take(rows.leaves(attribute))
        return tuple(words)


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
