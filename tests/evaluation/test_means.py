"""Numbers that are released as the mean of their group."""

from __future__ import annotations

from typing import Any, cast

import duckdb
import numpy as np
import pytest

from dbt_anonymize.evaluation.data.features import POSITIONS, VALUES, Reading
from dbt_anonymize.evaluation.data.intervals import Interval
from dbt_anonymize.evaluation.data.reading import Effort
from dbt_anonymize.evaluation.data.relations import read_arrays


@pytest.mark.parametrize(
    ("kind", "labels", "expected"),
    [
        # A mean; an interval; NULL; a label of the hierarchy that is a number, but not of this one.
        ("double", ["24.5", "[20, 40)", "*", "1"], [24.5, 30.0, np.nan, 30.0]),
        ("date", ["1970-01-31", "[1970-01-21, 1970-02-10)", "*", "1"], [30.0, 30.0, np.nan, 30.0]),
    ],
)
def test_models_read_the_mean_or_the_midpoint(
    kind: str, labels: list[str], expected: list[float]
) -> None:
    with duckdb.connect() as c:
        bound = "{0}::double" if kind == "double" else "date '1970-01-01' + {0}"
        c.execute(
            "create table effort as select row_number() over () as id, age, "
            f"{bound.format(20)} as age_lower, {bound.format(40)} as age_upper "
            "from (select unnest(?) as age)",
            [labels],
        )
        feature = Interval("age", cast(Any, None), Reading())
        relation = c.table("effort")
        arrays = read_arrays(
            relation, feature.sql(relation, Effort(1, relation, {}, has_means=True)), "id"
        )
    first = feature.untouched(cast(Any, None), {"lower": np.array([21.0, 39.0, np.nan, 22.0])})
    column = feature.generalized(arrays, None, first)
    assert column.own[POSITIONS] is column.own[VALUES]
    np.testing.assert_array_equal(arrays["mean"], expected)
