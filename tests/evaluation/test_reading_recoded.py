"""Originals are read by what recoded training records know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.evaluation.splits import seeds
from tests.evaluation.read_efforts import (
    AGES,
    JOBS,
    OTHERS,
    SPLITTING,
    Connection,
    efforts_of,
    intervals,
    job_efforts,
)
from tests.evaluation.tables import effort, evaluated, hold_out, mean, measured, table

pytestmark = pytest.mark.costly


def recoded_ages(
    connection: Connection, shown: Sequence[tuple[float, float, int | None]], limit: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return 600 ages and a recoding of them to given intervals with their levels.

    The target is whether an age is at least the limit, one of the bounds.
    """
    tree = intervals(list(range(0, 101, 10)), [0, 50, 100])
    ages = np.random.default_rng(4).uniform(0, 100, 600)
    label = np.where(ages >= limit, "yes", "no").tolist()
    efforts, features = efforts_of(connection, {"age": ages.tolist()}, {"age": tree}, [], label)
    frame = efforts[0]["relation"].df().sort_values("record_id").reset_index(drop=True)
    at = [next(i for i in shown if i[0] <= age < i[1]) for age in ages]
    frame["age_lower"], frame["age_upper"] = [i[0] for i in at], [i[1] for i in at]
    frame["age"] = [f"[{i[0]}, {i[1]})" for i in at]
    frame["age_level"] = pd.array([i[2] for i in at], dtype="Int32")
    efforts.append({**effort(connection, 1, frame), "levels": "per record"})
    return efforts, features


COARSE_REGION = [*((float(a), a + 10.0, 1) for a in range(0, 50, 10)), (50.0, 100.0, 2)]


BETWEEN_LEVELS = [(0.0, 10.0, 1), (10.0, 30.0, None), (30.0, 100.0, None)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("model", SPLITTING)
@pytest.mark.parametrize(
    ("shown", "limit"), [(COARSE_REGION, 50.0), (BETWEEN_LEVELS, 30.0)], ids=["coarse", "between"]
)
def test_a_recoding_that_keeps_the_bound_of_the_target_loses_nothing(
    connection: Connection, model: str, shown: Any, limit: float
) -> None:
    efforts, features = recoded_ages(connection, shown, limit)
    found = evaluated(connection, efforts, features=features, model=model, repetitions=2)
    scored = measured(found, model=model)
    assert mean(scored, 1, "original") == 1.0
    assert mean(scored, 1, "generalized") == 1.0


def recoded_jobs(connection: Connection) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return jobs of which all private ones are recoded to their label."""
    efforts, features = job_efforts(connection)
    frame = efforts[0]["relation"].df().sort_values("record_id").reset_index(drop=True)
    is_private = frame["label"] == "no"
    frame["job_level"] = is_private.astype(int)
    frame.loc[is_private, "job"] = "private"
    return [efforts[0], {**effort(connection, 1, frame), "levels": "per record"}], features


@pytest.mark.sampled(2)
@pytest.mark.parametrize("model", [*SPLITTING, *OTHERS])
def test_a_region_that_is_coarse_throughout_is_read_as_itself(
    connection: Connection, model: str
) -> None:
    efforts, features = recoded_jobs(connection)
    found = evaluated(connection, efforts, features=features, model=model, repetitions=1)
    scored = measured(found, model=model)
    assert mean(scored, 1, "original") == 1.0
    assert mean(scored, 1, "generalized") == 1.0


@pytest.mark.parametrize("model", ["random_forest", "logistic_regression"])
@pytest.mark.parametrize("kind", ["interval", "categorical"])
def test_how_test_records_are_recoded_changes_no_original(
    connection: Connection, model: str, kind: str
) -> None:
    if kind == "interval":
        efforts, features = recoded_ages(connection, COARSE_REGION, 47.0)
        change = {"age": "[0, 50)", "age_lower": 0.0, "age_upper": 50.0, "age_level": 2}
    else:
        efforts, features = recoded_jobs(connection)
        change = {"job": "*", "job_level": 2}
    before = evaluated(connection, efforts, features=features, model=model, repetitions=1)
    frame = efforts[1]["relation"].df().sort_values("record_id").reset_index(drop=True)
    codes = np.unique(frame["label"], return_inverse=True)[1]
    test = hold_out(codes, 0.3, seeds(1, 1)[0]).test
    frame.loc[test[::3], list(change)] = list(change.values())
    frame.loc[test[1::3], "is_suppressed"] = True
    efforts[1]["relation"] = table(connection, frame)
    after = evaluated(connection, efforts, features=features, model=model, repetitions=1)
    originals = [e[e["test_on"] == "original"].reset_index(drop=True) for e in (before, after)]
    pd.testing.assert_frame_equal(*originals, check_exact=True)


@pytest.mark.parametrize("model", ["decision_tree", "logistic_regression", "k_nearest_neighbours"])
def test_a_feature_of_nothing_but_null_teaches_nothing(connection: Connection, model: str) -> None:
    label = ["yes", "no"] * 30
    for values, tree in (([None] * 60, JOBS), ([None] * 60, AGES)):
        name = "job" if tree is JOBS else "age"
        levels = [{name: 1}]
        efforts, features = efforts_of(connection, {name: values}, {name: tree}, levels, label)
        found = measured(
            evaluated(connection, efforts, features=features, model=model), model=model
        )
        assert found["value"].tolist() == [0.5] * 12
