"""Linked tables as numbers, with the labels of each level and what these lose."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.extensions.linked.suppression.records import combined_codes
from dbt_anonymize.hierarchies.model import ROOT

# Places of the levels of a table's columns among those that may be used.
Node = tuple[int, ...]
# Most combinations of the levels of one table that are listed.
_MOST_NODES = 100_000


@dataclass(frozen=True)
class CodedColumn:
    """A quasi-identifier: leaf of each record; by level, code and share of each leaf's label.

    Codes are equal where labels are, over all levels, in the order in which a build sorts them;
    ``root`` is that of `ROOT`. ``smallest`` is the share of a raw value, which is no loss.
    """

    leaves: Ints
    codes: Sequence[Ints]
    root: int
    shares: Sequence[Floats]
    smallest: float


@dataclass(frozen=True)
class CodedTable:
    """The records of a linked table.

    ``over`` is the place of the table that it leads over, -1 for subjects; ``parent`` and
    ``subject`` are places there and among subjects. Of its records the share ``most_lost`` may be
    hidden or left out, beside ``spared`` of those of people who are left out. ``sensitive`` has the
    codes of each sensitive column.
    """

    over: int
    parent: Ints
    subject: Ints
    columns: Mapping[str, CodedColumn]
    most_lost: float
    spared: float = 0.0
    sensitive: Sequence[Ints] = ()

    @property
    def heights(self) -> Node:
        """The place of the highest level of each column."""
        return tuple(len(column.codes) - 1 for column in self.columns.values())

    @cached_property
    def nodes(self) -> list[Node]:
        """All combinations of levels."""
        return list(itertools.product(*(range(height + 1) for height in self.heights)))

    def above(self, node: Node) -> Node:
        """Return the levels of records that are raised."""
        return tuple(min(level + 1, top) for level, top in zip(node, self.heights, strict=True))

    def values(self, nodes: Sequence[Node], rows: Ints) -> list[Ints]:
        """Return numbers for the labels of records at each of some levels, 0 for all roots.

        They are equal where labels are, at whichever of the levels, and in the order of these.
        """
        codes = np.zeros(len(nodes) * len(rows), dtype=np.int64)
        is_root = np.ones(len(codes), dtype=np.bool_)
        for at, column in enumerate(self.columns.values()):
            leaves = column.leaves[rows]
            of_column = np.concatenate([column.codes[node[at]][leaves] for node in nodes])
            codes = combined_codes(codes, of_column)
            is_root &= of_column == column.root
        return np.split(np.where(is_root, 0, codes + 1), len(nodes))


@dataclass(frozen=True)
class Aim:
    """The guarantee, as `kernel.Suppression` keeps it, and the measure of what is lost.

    With ``diversity``, l, no sensitive value is told.
    """

    k: int
    known_records: int | str
    known_count: bool = False
    aggregate: str = "geometric_mean"
    generalization_suppression_factor: float = 0.5
    diversity: int | None = None


@dataclass(frozen=True)
class CodedTables:
    """All linked tables, each behind that which it leads over.

    ``sensitive`` has the codes of each sensitive column of the ``subjects``.
    """

    by_name: Mapping[str, CodedTable]
    subjects: int
    sensitive: Sequence[Ints] = ()
    listed: list[CodedTable] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "listed", list(self.by_name.values()))

    @property
    def size(self) -> int:
        """Number of combinations of levels of all tables."""
        return math.prod(height + 1 for table in self.listed for height in table.heights)

    @property
    def is_large(self) -> bool:
        """Tell whether a table has more levels than are worth listing."""
        sizes = [math.prod(height + 1 for height in table.heights) for table in self.listed]
        return max(sizes) > _MOST_NODES


def code_tables(
    subjects: Ints, tables: Mapping[str, Mapping[str, Any]], sensitive: Sequence[Ints] = ()
) -> CodedTables:
    """Return tables as they are given to `levels.search.draft`; ``subjects`` are their numbers.

    A table may have the codes of its columns that are ``sensitive``, as subjects may.
    """
    names = [*tables]
    ends = {"": (subjects, np.arange(len(subjects)))}
    coded = {}
    for name, table in tables.items():
        rows = table["rows"]
        numbers, subject = ends[table["over"]]
        order = np.argsort(numbers, kind="stable")
        parent = order[np.searchsorted(numbers, rows["parent"], sorter=order)]
        ends[name] = (rows["number"], subject[parent])
        coded[name] = CodedTable(
            over=names.index(table["over"]) if table["over"] else -1,
            parent=parent,
            subject=subject[parent],
            columns={
                column: CodedColumn(
                    rows[column],
                    *_codes(labels),
                    [np.asarray(shares, dtype=np.float64) for shares in table["shares"][column]],
                    table["smallest"][column],
                )
                for column, labels in table["labels"].items()
            },
            most_lost=table["most_lost"],
            spared=table.get("spared", 0.0),
            sensitive=table.get("sensitive", ()),
        )
    return CodedTables(coded, len(subjects), sensitive)


def _codes(labels: Sequence[Sequence[str]]) -> tuple[list[Ints], int]:
    """Return codes of labels and of the root, in the order of the values that a build makes."""
    texts = sorted({*itertools.chain(*labels)}, key=lambda text: f"{len(text)}:{text}".encode())
    code = {text: place for place, text in enumerate(texts)}
    codes = [np.array([code[text] for text in level], dtype=np.int64) for level in labels]
    return codes, code.get(ROOT, -1)
