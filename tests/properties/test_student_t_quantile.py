"""The quantile of Student's t against SciPy."""

from __future__ import annotations

import pytest
from scipy import stats

from tests.properties.statements import QUANTILES
from tests.properties.warehouse import Warehouse


@pytest.mark.parametrize("model", QUANTILES)
def test_the_quantile_is_as_exact_as_documented(warehouse: Warehouse, model: str) -> None:
    confidence, two_sided = QUANTILES[model]
    probability = (1 + confidence) / 2 if two_sided else confidence
    degrees = [*range(400), 10_000, 1_000_000]
    warehouse.load("degrees", {"degrees": "bigint"}, [(n,) for n in [*degrees, None]])
    found = {row["degrees"]: row["quantile"] for row in warehouse.rows(model)}
    assert found.pop(None) is None
    assert found.pop(0) is None
    for number, quantile in found.items():
        exact = float(stats.t.ppf(probability, number))
        beyond = 1e-6 if confidence <= 0.99 else 2e-4
        assert float(quantile) == pytest.approx(exact, rel=1e-9 if number <= 20 else beyond)
