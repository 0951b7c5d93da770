"""Features of small tables, as models read them."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd

from dbt_anonymize.evaluation.data.features import VALUES
from dbt_anonymize.evaluation.data.reading import Effort, EffortReader, FeatureColumn, Reading
from dbt_anonymize.evaluation.data.sampling import Sample
from dbt_anonymize.evaluation.problem import EffortData
from tests.evaluation.tables import table

CITIES = pd.DataFrame(
    {
        "value": ["Köln", "Bonn", "Rome"],
        "level_1": ["DE", "DE", 'it\'s "IT"'],
        # The label DE covers another set of leaves here.
        "level_2": ["DE", "other", "other"],
        "level_3": ["*", "*", "*"],
    }
)


AGES = pd.DataFrame(
    {
        "lower_bound": [0, 10, 15, 40],
        "upper_bound": [10, 15, 40, 60],
        "level_1": ["[0, 10)", "[10, 15)", "[15, 40)", "[40, 60)"],
        "level_2": ["[0, 15)", "[0, 15)", "[15, 60)", "[15, 60)"],
        "level_3": ["*", "*", "*", "*"],
    }
)


Connection = duckdb.DuckDBPyConnection


Bounds = tuple[float, float] | None


def read(
    connection: Connection,
    feature: dict[str, Any],
    raw: list[Any],
    shown: list[Any],
    *,
    levels: list[int | None] | int = 0,
    reading: Reading | None = None,
    hierarchy: pd.DataFrame | None = None,
    may_be_hidden: bool = False,
) -> tuple[EffortData, EffortData]:
    """Return effort 0 and another effort of one column.

    An interval is shown as its bounds, or as None for NULL and ``*``.
    """
    efforts = []
    for number, values in enumerate((raw, shown)):
        frame = pd.DataFrame({"k": range(len(values)), "is_suppressed": False})
        frame["equivalence_class"] = [str(value) for value in values]
        if feature["kind"] == "interval":
            bounds = [(v, v) if isinstance(v, int | float) else v for v in values]
            frame["x"] = ["*" if b is None else f"[{b}" for b in bounds]
            frame["x_lower"] = [-1000.0 if b is None else float(b[0]) for b in bounds]
            frame["x_upper"] = [1000.0 if b is None else float(b[1]) for b in bounds]
        else:
            frame["x"] = values
        if isinstance(levels, list) and number:
            frame["x_level"] = pd.array(levels, dtype="Int32")
        own: dict[str, int] | str = {"x": number and levels} if isinstance(levels, int) else {}
        own = own if isinstance(levels, int) or not number else "per record"
        efforts.append(Effort(number, table(connection, frame), own))
    tree = None if hierarchy is None else table(connection, hierarchy)
    reader = EffortReader(
        efforts[0],
        [FeatureColumn("x", feature["kind"], tree)],
        reading or Reading(),
        Sample(len(raw), len(raw)),
        "k",
        may_be_hidden=may_be_hidden,
    )
    data, _, first = reader.read_untouched({})
    return data, reader.read_effort(efforts[1], first)


def rows(data: EffortData, space: str = VALUES) -> list[list[float]]:
    """Return the features of each record of an effort."""
    means = data.means
    return data.design.take(data.own[space], data.design.codes, means).tolist()


def originals(raw: EffortData, data: EffortData, space: str = VALUES) -> list[list[float]]:
    """Return the same features of the untouched records."""
    return raw.design.take(data.original[space], raw.design.codes).tolist()


INTERVAL, CATEGORY, PLAIN = ({"kind": kind} for kind in ("interval", "categorical", "plain"))


nan = np.nan
