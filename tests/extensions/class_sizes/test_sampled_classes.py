"""Small classes told from a sample of the classes, against a count of everybody."""

from __future__ import annotations

import numpy as np
import pytest

from dbt_anonymize.extensions.class_sizes.sampled_classes import records_below
from tests.sampling import number_of

K = 5
# Classes of each size, 1 first: mostly alone, mostly just below k, few at all, none below k.
TABLES = {
    "alone": (4000, 300, 100, 50, 900),
    "just below": (10, 20, 30, 3000, 500),
    "few": (3, 0, 1, 0, 5000),
    "none": (0, 0, 0, 0, 2000),
    "mixed": (300, 300, 300, 300, 300, 300),
}
DRAWS = number_of("draws of classes", 2000, 300)


@pytest.mark.parametrize("one_in", [2, 10, 100])
@pytest.mark.parametrize("table", TABLES)
def test_the_interval_holds_the_number_of_records(table: str, one_in: int) -> None:
    classes = np.array(TABLES[table])
    sizes = np.arange(1, len(classes) + 1)
    records, true = int(sizes @ classes), int(sizes[: K - 1] @ classes[: K - 1])
    random = np.random.default_rng(5)
    drawn = random.binomial(classes, 1 / one_in, size=(DRAWS, len(classes)))
    found = [
        records_below(
            dict(zip(sizes.tolist(), row.tolist(), strict=True)), K, one_in=one_in, records=records
        )
        for row in drawn
    ]
    held = np.mean([one.low <= true <= one.high for one in found])
    assert held >= 0.95
    assert np.mean([one.estimate for one in found]) == pytest.approx(true, rel=0.25, abs=2 * one_in)
    assert all(0 <= one.low <= one.estimate <= one.high <= records for one in found)


def test_the_interval_narrows_with_the_sample() -> None:
    widths = []
    for one_in in (1, 4, 64):
        found = records_below({1: 64_000 // one_in}, K, one_in=one_in, records=100_000)
        assert found.estimate == 64_000
        widths.append(found.high - found.low)
    assert widths[0] == 0
    assert widths == sorted(widths)
    assert widths[1] < 0.1 * 64_000


def test_another_confidence_is_another_interval() -> None:
    wide, narrow = (
        records_below({1: 400}, K, one_in=10, records=9_000, confidence=confidence)
        for confidence in (0.999, 0.5)
    )
    assert wide.low < narrow.low < 4_000 < narrow.high < wide.high
