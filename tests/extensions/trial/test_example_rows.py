"""The records that `try` shows: different ones, as they would be released."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.extensions.trial.example_rows import (
    example_places,
    generalized_labels,
    other_values,
)

PLANS = [Plan("years", "y", equal_width_intervals(0, 20, [5, 10]), "")]
YEARS = (2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 7.5, 12.5, 2.5)
ILL = ("no", "no", "no", "no", "no", "no", "no", "yes", "yes")


def drawn() -> Any:
    leaves = np.array([[int(one // 5)] for one in YEARS])
    places = np.arange(len(YEARS))
    examples = SimpleNamespace(places=places, values={"ill": [*ILL]}, raw={"years": [*YEARS]})
    return SimpleNamespace(leaves=leaves, examples=examples)


def trial(*levels: int, suppressed: tuple[int, ...] = ()) -> Any:
    mask = np.isin(np.arange(len(YEARS)), suppressed)
    names = [("more-use",), ("balanced",), ("more-privacy",)]
    return SimpleNamespace(
        alternatives=[
            SimpleNamespace(
                names=names[at], suppressed=mask, checked=SimpleNamespace(node=(level,))
            )
            for at, level in enumerate(levels)
        ]
    )


@pytest.mark.parametrize(
    ("levels", "suppressed", "expected"),
    [
        # As balanced releases them: 7.5 is in the same interval as 2.5.
        ((1, 2, 3), (), [0, 1, 2, 7, 8]),
        ((1, 1, 3), (), [0, 1, 6, 7, 8]),
        ((1, 1, 3), (0, 7), [1, 2, 3, 6, 8]),
        # One alternative has all names.
        ((3,), (), [0, 1, 2, 3, 7]),
        ((3,), (0, 1, 2, 3, 4, 5), [6, 7, 8]),
    ],
)
def test_records_differ_where_any_do(
    levels: tuple[int, ...], suppressed: tuple[int, ...], expected: list[int]
) -> None:
    assert example_places(drawn(), trial(*levels, suppressed=suppressed), PLANS) == expected


def test_numbers_that_stay_as_they_are_are_shown() -> None:
    rows = [1, 6]
    assert generalized_labels(drawn(), PLANS, (0,), rows) == {"years": ["2.5", "7.5"]}
    assert generalized_labels(drawn(), PLANS, (1,), rows) == {"years": ["[0, 5)", "[5, 10)"]}
    assert other_values(drawn(), rows) == {"ill": ["no", "no"]}
