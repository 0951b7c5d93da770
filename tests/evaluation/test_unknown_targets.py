"""Records whose target is NULL are counted and released, but not learned from or scored."""

from __future__ import annotations

import re
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.problem import Target
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.evaluation.target_checks import check_known
from tests.evaluation.conftest import Log
from tests.evaluation.tables import effort, evaluated, interval_hierarchy

pytestmark = pytest.mark.costly

Connection = duckdb.DuckDBPyConnection
KNOWN = 60


def efforts_of(connection: Connection, records: int) -> list[dict[str, Any]]:
    """Return two efforts; the targets of records from `KNOWN` on are NULL."""
    draws = np.random.default_rng(5)
    age = draws.permutation(80).astype(float)[:records]
    high = (age + draws.normal(0, 8, 80)[:records] > 40).astype(int)
    unknown = np.arange(records) >= KNOWN
    frames = []
    for width in (0, 10):
        lower = np.floor(age / width) * width if width else age
        frame = pd.DataFrame(
            {
                "record_id": np.arange(records),
                "age": [f"[{value:.0f}" for value in lower],
                "age_lower": lower,
                "age_upper": lower + width,
                "label": pd.Series(np.array(["no", "yes"])[high]).mask(unknown),
                "cost": pd.Series(age * 2.0 + high).mask(unknown),
                # Of a survival target the event or the time may be NULL.
                "died": pd.Series(high == 1, dtype="boolean").mask(
                    unknown & (np.arange(records) % 2 == 0)
                ),
                "months": pd.Series(age + 1.0).mask(unknown & (np.arange(records) % 2 == 1)),
                "is_suppressed": np.zeros(records, dtype=bool),
            }
        )
        frames.append(effort(connection, len(frames), frame, {"age": len(frames)}))
    return frames


@pytest.mark.parametrize(
    ("target", "choices"),
    [
        ("label", {"test_share": 0.3}),
        ("label", {"folds": 4}),
        ("cost", {"task": "regression"}),
        ("died", {"task": "survival", "time": "months", "model": "cox"}),
    ],
)
def test_scores_are_those_without_the_records(
    connection: Connection, target: str, choices: dict[str, Any]
) -> None:
    efforts = efforts_of(connection, 80)
    tree = interval_hierarchy(connection, efforts)
    features = [{"name": "age", "kind": "interval", "hierarchy": tree}]
    found, expected = (
        evaluated(connection, own, target=target, features=features, **choices)
        for own in (efforts, efforts_of(connection, KNOWN))
    )
    assert found["value"].notna().sum() > 10
    pd.testing.assert_frame_equal(found, expected)


def test_the_log_says_how_many_are_not_known(connection: Connection, log: Log) -> None:
    efforts = efforts_of(connection, 80)
    evaluated(connection, efforts)
    assert any(re.search(r"label is NULL in 20 of 80 records", line) for line in log.lines)


def test_subjects_with_unknown_targets_are_on_no_side() -> None:
    codes = np.array([0, 1, -2, 0, 1, -2, 0, 1, 0, 1])
    groups = np.array([5, 5, 5, 6, 6, 7, 7, 8, 8, 9])
    target = Target("label", "classification", ("no", "yes"), codes=codes)
    for seed in range(20):
        (split,) = target.splits(Splitting(1, test_share=0.3), seed, groups)
        assert sorted([*split.train, *split.test]) == [0, 1, 3, 4, 6, 7, 8, 9]
        assert not set(groups[split.train]) & set(groups[split.test])


def test_a_target_that_is_never_known_is_refused() -> None:
    target = Target("cost", "regression", numbers=np.full(7, np.nan))
    with pytest.raises(EvaluationError, match=r"`cost`.*NULL in all of 7"):
        check_known(target)
