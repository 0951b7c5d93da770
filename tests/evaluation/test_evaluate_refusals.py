"""Refusals and warnings of an evaluation."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators
from tests.evaluation.conftest import Log
from tests.evaluation.tables import (
    evaluated,
    interval_efforts,
    interval_hierarchy,
    mean,
    scores,
)

pytestmark = pytest.mark.costly

Connection = duckdb.DuckDBPyConnection


def test_the_positive_class_may_be_a_boolean_or_a_number(connection: Connection) -> None:
    efforts = interval_efforts(connection)
    for sql, positive in (("label = 'yes'", True), ("(label = 'yes')::int", 1)):
        typed = [
            {**e, "relation": e["relation"].project(f"* replace ({sql} as label)")} for e in efforts
        ]
        found = scores(connection, typed, measure="recall", positive=positive)
        assert mean(found, 0) > 0.5


def test_a_training_set_without_two_classes_has_no_score_but_a_warning(
    connection: Connection, log: Log
) -> None:
    efforts = interval_efforts(connection, suppressed=tuple(range(60)))
    found = scores(connection, efforts)
    assert found[found["effort"] == 1]["value"].isna().all()
    assert found[found["effort"] == 0]["value"].notna().all()
    reason = "the training records hold 0 of 2 classes"
    assert log.warnings == [
        f"test: effort 1: 3 of 3 models {model} of label have no score: {reason}"
        for model in ("decision_tree", "zero_rule")
    ]
    nulls = connection.sql("select count(*) from found where value is null").fetchall()
    assert nulls == [(6,)]
    failures = evaluated(connection, efforts).query("kind == 'failure'")
    assert set(failures["name"]) == {reason}
    assert failures["repetition"].value_counts().to_dict() == {1: 4, 2: 4, 3: 4}


def test_a_model_that_cannot_be_trained_on_an_effort_has_no_score_but_a_warning(
    connection: Connection, log: Log
) -> None:
    efforts = interval_efforts(connection, suppressed=tuple(range(50)))
    found = scores(
        connection, efforts, model="k_nearest_neighbours", parameters={"n_neighbors": 12}
    )
    assert found[found["effort"] == 1]["value"].isna().all()
    assert all("n_neighbors" in line for line in log.warnings)
    assert log.warnings


def test_a_parameter_with_an_impossible_value_is_an_error(connection: Connection) -> None:
    with pytest.raises(EvaluationError, match="n_estimators"):
        scores(
            connection,
            interval_efforts(connection),
            model="random_forest",
            parameters={"n_estimators": -1},
        )


def test_a_model_that_fails_on_the_untouched_table_does_not_end_the_others(
    connection: Connection, log: Log
) -> None:
    efforts = interval_efforts(connection)
    found = scores(
        connection, efforts, model="k_nearest_neighbours", parameters={"n_neighbors": 50}
    )
    assert found["value"].isna().all()
    assert len(log.warnings) == 2


class Moody:
    """An estimator of somebody else, whose message holds values."""

    def __init__(self, offset: int = 0) -> None:
        self.offset = offset

    def fit(self, rows: np.ndarray, _: np.ndarray) -> Moody:
        """Say what was seen."""
        raise RuntimeError(f"cannot learn from {rows[0]}")


def test_what_others_say_about_records_is_not_recorded(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    make_estimator = estimators.make_estimator
    monkeypatch.setattr(
        estimators,
        "make_estimator",
        lambda model, *given: make_estimator(model, *given) if model == "zero_rule" else Moody(),
    )
    monkeypatch.setattr(
        estimators, "_type_at", lambda _: estimators.EstimatorType("builtins", "object")
    )
    found = evaluated(connection, interval_efforts(connection), model="others.Moody")
    assert set(found[found["kind"] == "failure"]["name"]) == {"RuntimeError"}
    assert len(log.warnings) == 2
    assert "cannot" not in "".join(log.warnings)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"positive": "maybe"}, "one of the 2 values"),
        ({"task": "regression", "model": "ridge"}, "`label` must hold numbers"),
        ({"target": "age_bracket"}, "`age_bracket` must be in the relation"),
        ({"model": "oracle"}, "oracle"),
        ({"record_key": "label"}, "58 repeated values"),
    ],
)
def test_choices_that_cannot_be_evaluated_are_refused(
    connection: Connection, change: dict[str, Any], rule: str
) -> None:
    with pytest.raises(EvaluationError, match=rule):
        scores(connection, interval_efforts(connection), **change)


def test_a_target_of_many_classes_is_refused(connection: Connection) -> None:
    for records, accepted in ((200, True), (201, False)):
        efforts = interval_efforts(connection, records=2 * records)
        classes = "* replace (cast(record_id // 2 as text) as label)"
        efforts = [{**e, "relation": e["relation"].project(classes)} for e in efforts]
        if accepted:
            evaluated(connection, efforts, model="zero_rule", repetitions=1, test_share=0.5)
            continue
        with pytest.raises(EvaluationError, match=r"at most 200 classes.*got 201"):
            evaluated(connection, efforts, model="zero_rule", repetitions=1, test_share=0.5)


def test_classes_of_a_sample_are_not_those_of_the_table(connection: Connection) -> None:
    efforts = interval_efforts(connection)
    choices = {"fit": "per_split", "guarantees": [{"model": "k_anonymity", "k": 2}]}
    with pytest.raises(EvaluationError, match=r"sample of 40 of 60 records.*at least 60"):
        evaluated(connection, efforts, sample=40, **choices)


@pytest.mark.parametrize("condition", ["record_id < 59", "record_id > 0"])
def test_efforts_with_other_records_are_refused(connection: Connection, condition: str) -> None:
    efforts = interval_efforts(connection)
    efforts[1]["relation"] = efforts[1]["relation"].filter(condition)
    with pytest.raises(EvaluationError, match="got 59 and 60 records"):
        scores(connection, efforts)


def test_as_many_but_other_records_are_refused(connection: Connection) -> None:
    efforts = interval_efforts(connection)
    moved = "* replace (record_id + 1 as record_id)"
    efforts[1]["relation"] = efforts[1]["relation"].project(moved)
    with pytest.raises(EvaluationError, match="same record keys"):
        scores(connection, efforts)


@pytest.mark.parametrize("sql", ["'yes'", "case when record_id > 0 then 'yes' end"])
def test_a_target_of_one_class_is_refused(connection: Connection, sql: str) -> None:
    efforts = interval_efforts(connection)
    for each in efforts:
        each["relation"] = each["relation"].project(f"* replace ({sql} as label)")
    with pytest.raises(EvaluationError, match="target `label`") as raised:
        scores(connection, efforts)
    assert "yes" not in str(raised.value)


def test_the_working_database_is_left_as_it_was(connection: Connection) -> None:
    efforts = interval_efforts(connection)
    objects = "select count(*) from duckdb_tables() union all select count(*) from duckdb_views()"
    tree = {"name": "age", "kind": "interval", "hierarchy": interval_hierarchy(connection, efforts)}
    before = connection.execute(objects).fetchall()
    scores(connection, efforts, features=[tree])
    assert connection.execute(objects).fetchall() == before
