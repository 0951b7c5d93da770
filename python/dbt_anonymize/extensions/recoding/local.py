"""Local recoding: records that are too rare at the levels of one round go through the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.extensions.recoding.judging import Judge, select_rows
from dbt_anonymize.extensions.recoding.levels import read_levels
from dbt_anonymize.extensions.recoding.records import Source
from dbt_anonymize.privacy.grouping import classes_by_labels, group, labels_of
from dbt_anonymize.privacy.guarantees import Guarantees
from dbt_anonymize.privacy.table import Node, Table

if TYPE_CHECKING:
    import duckdb


def local_recoding(
    source: Source, *, rounds: Sequence[Mapping[str, int]]
) -> duckdb.DuckDBPyRelation:
    """Return one row per record, at the levels of the first round that protects it.

    Each round judges the remaining records as a table of their own (the iterative scheme of ARX);
    records that no round protects get the labels of the last. P, the distribution of a sensitive
    attribute in the whole table, stays that of all records. Equal classes of two rounds are one in
    the release, which `<n>_classes` judges.
    """
    records, ladders = read_levels(source, rounds)
    attributes = tuple(ladder.attribute() for ladder in ladders)
    judge = Judge.of(records.with_attributes(attributes), has_labels=True)
    nodes = [
        tuple(
            list(ladder.levels).index(round_[name])
            for ladder, name in zip(ladders, source.names, strict=True)
        )
        for round_ in rounds
    ]
    of_rows = rounds_of_rows(judge.table, judge.guarantees, nodes)
    labelled = []
    for place, (ladder, name) in enumerate(zip(ladders, source.names, strict=True)):
        levels = np.array([round_[name] for round_ in rounds])[of_rows]
        labelled.append(ladder.labels(records.key_of_row[place], levels))
    return records.recoded([labels for labels, _ in labelled], [ids for _, ids in labelled])


def rounds_of_rows(table: Table, guarantees: Guarantees | None, nodes: Sequence[Node]) -> Ints:
    """Return the place of each row's node; without guarantees every row has the last one."""
    round_of_row = np.full(len(table.records), len(nodes) - 1, dtype=np.int64)
    remaining = np.arange(len(table.records))
    for place, node in enumerate(nodes[:-1]):
        if guarantees is None or not len(remaining):
            break
        is_released = protected_rows(table, remaining, guarantees, node)
        round_of_row[remaining[is_released]] = place
        remaining = remaining[~is_released]
    return round_of_row


def protected_rows(table: Table, rows: Ints, guarantees: Guarantees, node: Node) -> Bools:
    """Return a mask of the rows whose classes, among these rows alone, keep all guarantees."""
    part = select_rows(table, rows)
    labels = labels_of(part, node, np.arange(len(rows)))
    violating = guarantees.violating(classes_by_labels(part, labels, node))
    is_protected: Bools = ~violating[group(labels)[1]]
    return is_protected
