"""An effort of full-domain or local recoding before it is built: from the untouched columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from dbt_anonymize.evaluation.arrays import Bools, Codes, Floats
from dbt_anonymize.evaluation.data.categories import Category
from dbt_anonymize.evaluation.data.features import Column, Plain
from dbt_anonymize.evaluation.data.hierarchy import ROOT
from dbt_anonymize.evaluation.data.intervals import Interval
from dbt_anonymize.evaluation.data.reading import PER_RECORD, EffortReader, FirstArrays
from dbt_anonymize.evaluation.data.spaces import UNKNOWN
from dbt_anonymize.evaluation.problem import EffortData

# One for all records, or that of each.
Level = int | Codes


def leveled(
    reader: EffortReader,
    first: FirstArrays,
    levels: Mapping[str, Level],
    suppressed: Bools,
    classes: Codes,
) -> EffortData:
    """Return what `EffortReader.further` would read of the effort, nothing being read.

    ``levels`` are whole numbers, or of a local recoding arrays (records,). Arrays, ``suppressed``
    and ``classes`` (records,) are in the order of the record key. A column with a mask is seen as
    it is: the mask belongs to the build.
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
    return reader.data(effort, columns, values, classes=classes, first=first.columns)


def _interval(feature: Interval, untouched: Column, level: Level) -> Column:
    numbers = untouched.raw[untouched.codes]
    bounds = np.column_stack([numbers, numbers])
    tree = feature.hierarchy
    leaf = tree.leaf_of(numbers)
    for one, at in _parts(level, len(numbers)):
        if one:
            place = tree.carried(leaf[at], one)
            found = np.full((len(place), 2), np.nan)
            is_known = place != UNKNOWN
            found[is_known] = tree.bounds(one)[place[is_known]]
            bounds[at] = found
    arrays: dict[str, Floats] = {"lower": bounds[:, 0], "upper": bounds[:, 1]}
    return feature.generalized(arrays, None if isinstance(level, np.ndarray) else level, untouched)


def _category(feature: Category, untouched: Column, level: Level) -> Column:
    tree = feature.hierarchy
    leaf = untouched.raw[untouched.codes]
    labels: list[str | None] = [ROOT]
    codes = np.zeros(len(leaf), dtype=np.int64)
    for one, at in _parts(level, len(leaf)):
        place = tree.carried(leaf[at], one)
        codes[at] = np.where(place == UNKNOWN, 0, place + len(labels))
        labels += tree.labels(one)
    if isinstance(level, np.ndarray):
        return feature.generalized({"label": codes, "level": level}, labels, None, untouched)
    return feature.generalized({"label": codes}, labels, level, untouched)


def _parts(level: Level, records: int) -> Iterator[tuple[int, Codes]]:
    """Yield each level with the positions of its records."""
    of_record = np.broadcast_to(level, records)
    for one in np.unique(of_record).tolist():
        yield one, np.flatnonzero(of_record == one)
