"""An effort of a full-domain generalization before it is built: from the untouched columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from dbt_anonymize.evaluation.arrays import Bools, Codes, Floats
from dbt_anonymize.evaluation.data.categories import Category
from dbt_anonymize.evaluation.data.features import Column, Plain
from dbt_anonymize.evaluation.data.hierarchy import ROOT
from dbt_anonymize.evaluation.data.intervals import Interval
from dbt_anonymize.evaluation.data.reading import EffortReader, FirstArrays
from dbt_anonymize.evaluation.data.spaces import UNKNOWN
from dbt_anonymize.evaluation.problem import EffortData


def leveled(
    reader: EffortReader,
    first: FirstArrays,
    levels: Mapping[str, int],
    suppressed: Bools,
    classes: Codes,
) -> EffortData:
    """Return what `EffortReader.further` would read of the effort, nothing being read.

    ``suppressed`` and ``classes`` (records,) are in the order of the record key. A column with a
    mask is seen as it is: the mask belongs to the build.
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
    effort = replace(reader.untouched, levels=levels)
    return reader.data(effort, columns, values, classes=classes, first=first.columns)


def _interval(feature: Interval, untouched: Column, level: int) -> Column:
    numbers = untouched.raw[untouched.codes]
    bounds = np.column_stack([numbers, numbers])
    if level:
        tree = feature.hierarchy
        place = tree.carried(tree.leaf_of(numbers), level)
        bounds = np.full((len(numbers), 2), np.nan)
        is_known = place != UNKNOWN
        bounds[is_known] = tree.bounds(level)[place[is_known]]
    arrays: dict[str, Floats] = {"lower": bounds[:, 0], "upper": bounds[:, 1]}
    return feature.generalized(arrays, level, untouched)


def _category(feature: Category, untouched: Column, level: int) -> Column:
    tree = feature.hierarchy
    labels = [*tree.labels(level), ROOT]
    place = tree.carried(untouched.raw[untouched.codes], level)
    codes = np.where(place == UNKNOWN, len(labels) - 1, place)
    return feature.generalized({"label": codes}, labels, level, untouched)
