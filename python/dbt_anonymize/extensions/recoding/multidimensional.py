"""Multidimensional recoding: the labels of the parts that Mondrian makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.recoding.judging import Judge
from dbt_anonymize.extensions.recoding.labels import Labels, span_labels
from dbt_anonymize.extensions.recoding.mondrian import mondrian
from dbt_anonymize.extensions.recoding.records import Records, Source

if TYPE_CHECKING:
    import duckdb


def multidimensional_recoding(source: Source, *, strict: bool = True) -> duckdb.DuckDBPyRelation:
    """Return one row per record: the lowest labels that cover the part which it is in.

    Equal records stay together, unless ``strict`` is false.
    """
    records = Records.read(source, by_record=not strict)
    parts = mondrian_parts(records, is_strict=strict)
    labels = labels_of_parts(records, parts)
    return records.recoded(labels, [parts] * len(labels))


def mondrian_parts(records: Records, *, is_strict: bool = True) -> Ints:
    """Return the part of each row, from 0, which keeps all guarantees about classes."""
    judge = Judge.of(records)
    return mondrian(
        records.leaves,
        records.codes,
        records.table.records,
        judge.k,
        is_strict=is_strict,
        violating=None if judge.counts_alone else judge.violating,
    )


def labels_of_parts(records: Records, parts: Ints) -> list[Labels]:
    """Return the label of each part in each quasi-identifier."""
    count = int(parts.max(initial=-1)) + 1
    order = np.argsort(parts, kind="stable")
    starts = np.searchsorted(parts[order], np.arange(count))
    return [
        span_labels(
            leaves,
            *(end.reduceat(codes[order], starts) if count else codes[:0] for end in _ENDS),
        )
        for leaves, codes in zip(records.leaves, records.codes, strict=True)
    ]


_ENDS = (np.minimum, np.maximum)
