"""Local recoding: records that are too rare at the levels of one round go through the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dbt_anonymize.extensions.recoding.judging import Judge
from dbt_anonymize.extensions.recoding.levels import read_levels
from dbt_anonymize.extensions.recoding.records import Source
from dbt_anonymize.privacy.grouping import classes_by_labels, group, labels_of, select_rows
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import BoolArray, IntArray, Node, Table

if TYPE_CHECKING:
    import duckdb


def local_recoding(
    source: Source, *, rounds: Sequence[Mapping[str, int]]
) -> duckdb.DuckDBPyRelation:
    """Return one row per record, at the levels of the first round that protects it.

    The records that are left go through each round as a table of their own (the iterative scheme
    of ARX); those that the last one leaves have its labels. P, the distribution of a sensitive
    attribute in the whole table, stays that of all records. Classes of two rounds that look the
    same are one in the release, which `<n>_classes` judges.
    """
    records, ladders = read_levels(source, rounds)
    attributes = tuple(ladder.attribute() for ladder in ladders)
    judge = Judge.of(records.with_attributes(attributes), has_labels=True)
    nodes = [
        tuple(
            list(ladder.levels).index(one[name])
            for ladder, name in zip(ladders, source.names, strict=True)
        )
        for one in rounds
    ]
    of_rows = rounds_of_rows(judge.table, judge.guarantees, nodes)
    found = []
    for place, (ladder, name) in enumerate(zip(ladders, source.names, strict=True)):
        levels = np.array([one[name] for one in rounds])[of_rows]
        found.append(ladder.labels(records.key_of_row[place], levels))
    return records.recoded([labels for labels, _ in found], [ids for _, ids in found])


def rounds_of_rows(table: Table, guarantees: Guarantees | None, nodes: Sequence[Node]) -> IntArray:
    """Return which of the nodes each row has in the end; without guarantees nothing is kept."""
    found = np.full(len(table.records), len(nodes) - 1, dtype=np.int64)
    left = np.arange(len(table.records))
    for place, node in enumerate(nodes[:-1]):
        if guarantees is None or not len(left):
            break
        is_released = kept_rows(table, left, guarantees, node)
        found[left[is_released]] = place
        left = left[~is_released]
    return found


def kept_rows(table: Table, rows: IntArray, guarantees: Guarantees, node: Node) -> BoolArray:
    """Return which of some rows are in classes that keep everything, formed by these rows alone."""
    part = select_rows(table, rows)
    labels = labels_of(part, node, np.arange(len(rows)))
    violating = guarantees.violating(classes_by_labels(part, labels, node))
    kept: BoolArray = ~violating[group(labels)[1]]
    return kept
