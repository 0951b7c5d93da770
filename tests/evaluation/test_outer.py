"""Outer records: nothing but the score of the chosen effort depends on them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, mean_absolute_error, roc_auc_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from dbt_anonymize.evaluation import columns, evaluate_outer, outer
from dbt_anonymize.evaluation.measures import Predicted
from dbt_anonymize.evaluation.problem import Problem, Target
from dbt_anonymize.evaluation.splits import Split, Splitting, seeds
from tests.evaluation.tables import (
    CLASSES,
    effort,
    evaluated,
    interval_efforts,
    interval_hierarchy,
    table,
)
from tests.oracle import outer as recount

pytestmark = pytest.mark.costly

Connection = duckdb.DuckDBPyConnection
RECORDS, K, WIDTH = 90, 5, 8
DRAWS = 200
GUARANTEES = [{"model": "k_anonymity", "k": K}]
MIDPOINTS = {"numbers": "midpoint"}
# One record in three is the second of somebody.
SUBJECTS = np.arange(RECORDS) - (np.arange(RECORDS) % 3 == 2)
IS_OUTER = np.array([recount.is_outer(str(subject), 0.3, 1) for subject in SUBJECTS])
COMMON: dict[str, Any] = {"reading": MIDPOINTS, "fit": "per_split", "guarantees": GUARANTEES}


def efforts_of(connection: Connection, **choices: Any) -> list[dict[str, Any]]:
    """Return an untouched and a generalized effort with classes and a number to predict."""
    found = interval_efforts(connection, records=RECORDS, widths=(0, WIDTH), **choices)
    made = []
    for one in found:
        frame = one["relation"].df()
        frame["equivalence_class"] = frame["age"]
        frame["cost"] = frame["record_id"] % 11 + (frame["label"] == "yes") * 20.0
        made.append({**effort(connection, one["effort"], frame, one["levels"])})
    return made


def flags(connection: Connection, is_outer: np.ndarray = IS_OUTER) -> duckdb.DuckDBPyRelation:
    keys = np.arange(RECORDS)
    frame = pd.DataFrame({"record_id": keys, "is_outer": is_outer, "subject": SUBJECTS})
    return table(connection, frame.sample(frac=1, random_state=2))


def scored(connection: Connection, efforts: list[dict[str, Any]], **choices: Any) -> pd.DataFrame:
    task = choices.pop("task", "classification")
    chosen = pd.DataFrame({"effort": [0, 1], "qf_mean": [0.9, 0.8], "is_chosen": [False, True]})
    defaults: dict[str, Any] = {
        "anonymization": "test",
        "results": table(connection, chosen),
        "outer": flags(connection),
        "record_key": "record_id",
        "features": [
            {
                "name": "age",
                "kind": "interval",
                "hierarchy": interval_hierarchy(connection, efforts),
            }
        ],
        "target": {
            "name": "label" if task == "classification" else "cost",
            "task": task,
            "positive": None,
        },
        "model": {"name": "tree", "model": "decision_tree", "parameters": {"max_depth": 2}},
        "measure": "accuracy",
        "random_state": 1,
        "reading": MIDPOINTS,
        "suppressed": "left_out",
        "test_on": "original",
        "confidence": 0.9,
        "guarantees": GUARANTEES,
    }
    return evaluate_outer(connection, {"efforts": efforts, **defaults, **choices})


def without(
    connection: Connection, efforts: list[dict[str, Any]], gone: np.ndarray
) -> list[dict[str, Any]]:
    """Return the efforts without some records."""
    kept = []
    for one in efforts:
        frame = one["relation"].df()
        kept.append(
            effort(
                connection,
                one["effort"],
                frame[~gone[frame["record_id"].to_numpy()]],
                one["levels"],
            )
        )
    return kept


def test_an_evaluation_is_that_of_a_source_without_the_outer_records(
    connection: Connection,
) -> None:
    efforts = efforts_of(connection, suppressed=(1, 2, 30))
    tree = interval_hierarchy(connection, efforts)
    choices = {**COMMON, "features": [{"name": "age", "kind": "interval", "hierarchy": tree}]}
    found = evaluated(connection, efforts, outer=flags(connection), **choices)
    expected = evaluated(connection, without(connection, efforts, IS_OUTER), **choices)
    pd.testing.assert_frame_equal(found, expected)
    everybody = evaluated(connection, efforts, **choices)
    assert not found.equals(everybody)


def test_nobody_is_evaluated_where_all_are_outer(connection: Connection) -> None:
    efforts = efforts_of(connection)
    everybody = flags(connection, np.ones(RECORDS, dtype=bool))
    assert evaluated(connection, efforts, outer=everybody, **COMMON).empty


def expected(
    efforts: list[dict[str, Any]], number: int, model: Any, column: str, subjects: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Train as the definition says; return what is true and predicted, and how many train."""
    own, raw = (efforts[at]["relation"].df().sort_values("record_id") for at in (number, 0))
    middle = ((own["age_lower"] + own["age_upper"]) / 2).to_numpy().reshape(-1, 1)
    inner = set(zip(own["age"][~IS_OUTER], subjects[~IS_OUTER], strict=True))
    sizes = Counter(label for label, _ in inner)
    released = ~IS_OUTER & np.array([number == 0 or sizes[label] >= K for label in own["age"]])
    values = raw[column].to_numpy()
    model.fit(middle[released], values[released])
    ages = raw["age_lower"].to_numpy().reshape(-1, 1)[IS_OUTER]
    if column == "label":
        return (values[IS_OUTER] == "yes"), model.predict_proba(ages)[:, 1], released.sum()
    return values[IS_OUTER], model.predict(ages), released.sum()


def plain(measure: str, true: np.ndarray, says: np.ndarray) -> float:
    if measure == "mae":
        return -mean_absolute_error(true, says)
    if measure == "accuracy":
        return float(accuracy_score(true, says > 0.5))
    return float(roc_auc_score(true, says))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("measure", "has_subjects"), [("accuracy", True), ("roc_auc", False), ("mae", True)]
)
def test_the_scores_are_those_of_a_plain_loop(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, measure: str, has_subjects: bool
) -> None:
    monkeypatch.setattr(outer, "RESAMPLES", 40)
    efforts = efforts_of(connection)
    choices: dict[str, Any] = {"measure": measure}
    kind, column = (DecisionTreeClassifier, "label")
    if measure == "mae":
        choices["task"], kind, column = "regression", DecisionTreeRegressor, "cost"
    if has_subjects:
        choices["subjects"] = {"relation": flags(connection), "column": "subject"}
    found = scored(connection, efforts, **choices)
    subjects = SUBJECTS if has_subjects else np.arange(RECORDS)
    seed, rule = seeds(1, 0)[1], {"resamples": 40, "confidence": 0.9, "random_state": 1}
    said: list[np.ndarray] = []
    trained: list[int] = []
    for number in (0, 1):
        model = kind(max_depth=2, random_state=seed)
        true, says, count = expected(efforts, number, model, column, subjects)
        said.append(says)
        trained.append(count)
    assert trained[1] < trained[0]
    for row, says in zip(found.to_dict("records"), said, strict=True):
        differences = [
            lambda rows, says=says: plain(measure, true[rows], says[rows]),
            lambda rows, says=says: (
                plain(measure, true[rows], says[rows]) - plain(measure, true[rows], said[0][rows])
            ),
        ]
        for name, score in zip(("qf", "qf_difference"), differences, strict=True):
            assert row[name] == pytest.approx(score(np.arange(len(true))))
            ends = recount.interval(score, subjects[IS_OUTER], **rule)
            assert (row[f"{name}_low"], row[f"{name}_high"]) == pytest.approx(ends)
    assert found["training_records"].tolist() == trained
    assert found["outer_records"].tolist() == [len(true)] * 2
    assert found["effort"].tolist() == [0, 1]
    assert found["qf_mean"].tolist() == [0.9, 0.8]
    assert found["reason"].isna().all()
    if measure == "accuracy":
        labels = efforts[0]["relation"].df().sort_values("record_id")["label"].to_numpy()
        common = CLASSES[np.argmax([(labels[~IS_OUTER] == c).sum() for c in CLASSES])]
        assert found["zero_rule"].tolist() == [(labels[IS_OUTER] == common).mean()] * 2
        assert found["beats_zero_rule"].all()


def test_outer_records_are_not_looked_at_before_an_effort_is_chosen(
    connection: Connection,
) -> None:
    nothing = pd.DataFrame({"effort": [0, 1], "qf_mean": [0.9, 0.8], "is_chosen": [False, False]})
    found = scored(connection, efforts_of(connection), results=table(connection, nothing))
    assert found.empty
    assert list(found.columns) == list(columns.OUTER_QUALITY)


@pytest.mark.parametrize(("count", "reason"), [(0, "no record is outer"), (9, None)])
def test_few_outer_records_have_no_interval(
    connection: Connection, count: int, reason: str | None
) -> None:
    found = scored(
        connection, efforts_of(connection), outer=flags(connection, np.arange(RECORDS) < count)
    )
    assert found["outer_records"].tolist() == [count] * 2
    assert found["qf_low"].isna().all()
    assert found["beats_zero_rule"].isna().all()
    assert found["qf"].isna().all() == (count == 0)
    assert [one if isinstance(one, str) else None for one in found["reason"]] == [reason] * 2


def clustered(connection: Connection, clusters: int, **choices: Any) -> pd.DataFrame:
    model = {"name": "means", "model": "k_means", "parameters": {"n_clusters": clusters}}
    return scored(
        connection,
        efforts_of(connection),
        target={"name": "clustering", "task": "clustering"},
        model=model,
        measure="adjusted_rand_index",
        **choices,
    )


def test_a_clustering_is_judged_on_outer_records(connection: Connection) -> None:
    # More clusters than ages are no warning of scikit-learn in the log of a build.
    found = clustered(connection, 20)
    assert found["qf"].tolist()[0] > found["qf"].tolist()[1] > 0
    assert found["zero_rule"].tolist() == [0.0, 0.0]
    assert found["reason"].isna().all()


def test_no_cluster_of_outer_records_is_a_missing_score_with_its_reason(
    connection: Connection,
) -> None:
    nobody = clustered(connection, 2, outer=flags(connection, np.zeros(RECORDS, dtype=bool)))
    assert nobody["reason"].tolist() == ["no record is outer"] * 2
    failed = clustered(connection, 80)
    assert failed["reason"].str.contains("n_clusters=80").all()
    for found in (nobody, failed):
        assert found[["qf", "qf_low", "zero_rule", "beats_zero_rule"]].isna().all(axis=None)


@pytest.mark.slow
def test_the_interval_covers_the_score_among_all_people_as_often_as_it_says() -> None:
    """Accuracy 0.7, 60 outer records in pairs that are alike."""
    random, covered = np.random.default_rng(5), 0
    for _ in range(DRAWS):
        is_right = np.repeat(random.random(60) < 0.7, 2)
        split = Split(np.arange(0), np.arange(120))
        target = Target("t", "classification", ("a", "b"), codes=np.zeros(120, dtype=np.int64))
        problem = Problem(
            [target],
            [],
            [],
            Splitting(1, 0.5),
            int(random.integers(2**31)),
            groups=np.repeat(np.arange(60), 2),
        )
        held_out = outer.HeldOut(problem, split, "accuracy", "original", 0.9)
        said = Predicted(np.where(is_right, 0, 1))
        low, high = held_out.interval(
            np.array([held_out.qf(target, said, rows) for rows in held_out.resamples()])
        )
        covered += low <= 0.7 <= high
    assert 0.84 <= covered / DRAWS <= 0.96
