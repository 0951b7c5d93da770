"""A masked feature: models learn from the mask and are tested on the value."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.evaluation.data.features import POSITIONS, VALUES, Reading
from dbt_anonymize.evaluation.data.reading import Effort, EffortReader, FeatureColumn
from dbt_anonymize.evaluation.data.sampling import Sample
from tests.evaluation.tables import table
from tests.evaluation.test_features import originals, rows


@pytest.mark.parametrize("space", [POSITIONS, VALUES])
def test_a_mask_is_learned_from_and_the_value_is_read(space: str) -> None:
    with duckdb.connect() as connection:
        efforts = [
            Effort(
                number,
                table(connection, pd.DataFrame({"k": range(3), "is_suppressed": False, "x": x})),
                {},
            )
            for number, x in enumerate(([12.0, 47.0, np.nan], [10.0, 50.0, np.nan]))
        ]
        columns = [FeatureColumn("x", "masked")]
        reader = EffortReader(efforts[0], columns, Reading(), Sample(3, 3), "k")
        raw, _, first = reader.read_untouched({})
        data = reader.read_effort(efforts[1], first)
        unknown = [np.nan, 1]
        assert np.array_equal(rows(raw, space), [[12, 0], [47, 0], unknown], equal_nan=True)
        assert np.array_equal(rows(data, space), [[10, 0], [50, 0], unknown], equal_nan=True)
        assert np.array_equal(
            originals(raw, data, space), [[12, 0], [47, 0], unknown], equal_nan=True
        )
