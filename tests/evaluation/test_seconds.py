"""Computing time of an effort."""

from __future__ import annotations

import itertools
import time

import duckdb
import numpy as np
import pytest

from dbt_anonymize.evaluation.scoring import Outcome
from dbt_anonymize.evaluation.stopwatch import Stopwatch
from tests.evaluation.tables import evaluated, interval_efforts

STEPS = {"prepare", "train", "score"}


def test_every_step_of_every_effort_has_its_seconds(connection: duckdb.DuckDBPyConnection) -> None:
    efforts = interval_efforts(connection, widths=(0, 10, 20))
    found = evaluated(connection, efforts, seconds=True)
    rows = found[found["kind"] == "seconds"]
    read = rows[rows["name"] == "read"]
    assert read["effort"].tolist() == [0, 1, 2]
    assert read["model"].isna().all()
    of_models = rows[rows["name"] != "read"]
    assert set(zip(of_models["effort"], of_models["model"], of_models["name"], strict=True)) == {
        # The zero rule looks at the features that the first model has made.
        *itertools.product(range(3), ["decision_tree"], STEPS),
        *itertools.product(range(3), ["zero_rule"], STEPS - {"prepare"}),
    }
    assert len(of_models) == 3 * 5
    assert set(of_models["fit"]) == {"once"}
    assert (rows["value"] > 0).all()
    assert np.isfinite(rows["value"]).all()
    columns = ["test_on", "repetition", "fold", "other", "bin"]
    assert rows[columns].isna().all(axis=None)


def test_reading_a_sample_takes_what_its_effort_takes(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    efforts = interval_efforts(connection, records=100)

    def slow(number: int) -> bool:
        time.sleep(0.005)
        return number >= 0

    connection.create_function("slow", slow)
    efforts[1]["relation"] = efforts[1]["relation"].filter("slow(record_id)")
    found = evaluated(connection, efforts, sample=40, seconds=True)
    rows = found[(found["kind"] == "seconds") & (found["name"] == "read")]
    assert rows["effort"].tolist() == [0, 1]
    assert rows["value"].iloc[1] > 40 * 0.005


def test_they_are_no_more_than_the_whole_run(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", "1")
    efforts = interval_efforts(connection)
    watch = Stopwatch()
    with watch.running("run"):
        found = evaluated(connection, efforts, seconds=True)
    seconds = found[found["kind"] == "seconds"]["value"]
    assert seconds.sum() < watch.take()["run"]


def test_a_step_that_fails_has_taken_its_time() -> None:
    watch = Stopwatch(clock=iter([1.0, 3.0, 7.0, 8.5]).__next__)
    with pytest.raises(ValueError, match="no"), watch.running("train"):
        raise ValueError("no")
    with watch.running("train"):
        pass
    assert watch.take() == {"train": 3.5}


def test_outcomes_are_equal_whatever_they_took() -> None:
    slow, fast = (Outcome(0, 0, 0, "once", 1, 1, seconds={"train": n}) for n in (9.0, 1.0))
    assert slow == fast
