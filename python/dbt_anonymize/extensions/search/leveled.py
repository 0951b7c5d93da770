"""An effort of full-domain or local recoding before it is built: from the untouched columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from dbt_anonymize.arrays import Bools, Floats, Ints
from dbt_anonymize.evaluation.data.categories import Category
from dbt_anonymize.evaluation.data.features import Column, Plain
from dbt_anonymize.evaluation.data.hierarchy import ROOT
from dbt_anonymize.evaluation.data.intervals import Interval
from dbt_anonymize.evaluation.data.reading import PER_RECORD, EffortReader, FirstArrays
from dbt_anonymize.evaluation.data.spaces import UNKNOWN
from dbt_anonymize.evaluation.problem import EffortData

# One level for all records, or one per record.
Level = int | Ints


def generalized_effort(
    reader: EffortReader,
    first: FirstArrays,
    levels: Mapping[str, Level],
    suppressed: Bools,
    classes: Ints,
) -> EffortData:
    """Return the data that `EffortReader.read_effort` would read, without reading.

    ``levels`` are whole numbers, or for local recoding arrays (records,). Arrays, ``suppressed``
    and ``classes`` (records,) are in the order of the record key. Masks are not applied: only the
    build applies them.
    """
    columns: list[Column] = []
    for feature, untouched in zip(reader.features, first.columns, strict=True):
        level = levels.get(feature.name, 0)
        if isinstance(feature, Plain):
            columns.append(untouched)
        elif isinstance(feature, Interval):
            columns.append(_interval(feature, untouched, level))
        else:
            columns.append(_category(feature, untouched, level))
    values = {"is_suppressed": suppressed}
    shared = {name: level for name, level in levels.items() if not isinstance(level, np.ndarray)}
    effort = replace(reader.untouched, levels=shared if len(shared) == len(levels) else PER_RECORD)
    return reader.effort_data(effort, columns, values, classes=classes, first=first.columns)


def _interval(feature: Interval, untouched: Column, levels: Level) -> Column:
    numbers = untouched.raw[untouched.codes]
    bounds = np.column_stack([numbers, numbers])
    tree = feature.hierarchy
    leaf = tree.leaf_of(numbers)
    for level, at in _parts(levels, len(numbers)):
        if level:
            place = tree.generalize(leaf[at], level)
            generalized = np.full((len(place), 2), np.nan)
            is_known = place != UNKNOWN
            generalized[is_known] = tree.bounds(level)[place[is_known]]
            bounds[at] = generalized
    arrays: dict[str, Floats] = {"lower": bounds[:, 0], "upper": bounds[:, 1]}
    return feature.generalized(
        arrays, None if isinstance(levels, np.ndarray) else levels, untouched
    )


def _category(feature: Category, untouched: Column, levels: Level) -> Column:
    tree = feature.hierarchy
    leaf = untouched.raw[untouched.codes]
    labels: list[str | None] = [ROOT]
    codes = np.zeros(len(leaf), dtype=np.int64)
    for level, at in _parts(levels, len(leaf)):
        place = tree.generalize(leaf[at], level)
        codes[at] = np.where(place == UNKNOWN, 0, place + len(labels))
        labels += tree.labels(level)
    if isinstance(levels, np.ndarray):
        return feature.generalized({"label": codes, "level": levels}, labels, None, untouched)
    return feature.generalized({"label": codes}, labels, levels, untouched)


def _parts(levels: Level, records: int) -> Iterator[tuple[int, Ints]]:
    """Yield each level with the positions of its records."""
    level_of_record = np.broadcast_to(levels, records)
    for level in np.unique(level_of_record).tolist():
        yield level, np.flatnonzero(level_of_record == level)
