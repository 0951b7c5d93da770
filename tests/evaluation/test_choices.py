"""Targets, models, splits, readings and fits in the whole evaluation."""

from __future__ import annotations

import importlib.util
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, mean_absolute_error, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.splits import Split, Splitting, draw_splits, seeds
from tests.evaluation.conftest import Log
from tests.evaluation.tables import (
    effort,
    evaluated,
    interval_efforts,
    interval_hierarchy,
    mean,
    measured,
    table,
)

Connection = duckdb.DuckDBPyConnection


def patients(connection: Connection, records: int = 120, width: int = 20) -> list[dict[str, Any]]:
    """Return two efforts of patients with several things to predict."""
    draws = np.random.default_rng(2)
    age = draws.integers(20, 90, records)
    city = np.array(["Bonn", "Köln", "Rome"])[draws.integers(0, 3, records)]
    risk = age / 30 + draws.normal(0, 0.5, records)
    frame = pd.DataFrame(
        {
            "record_id": np.arange(records),
            "city": city,
            "weight": draws.normal(70, 10, records),
            "label": np.array(["low", "middle", "high"])[np.digitize(risk, [1.5, 2.2])],
            "is_ill": risk > 1.8,
            "charges": 100 * risk,
            "time": np.round(50 / risk, 1),
            "person": draws.integers(0, records // 3, records),
            "is_suppressed": False,
        }
    )
    countries = {"Bonn": "DE", "Köln": "DE", "Rome": "IT"}
    efforts = []
    for number in (0, 1):
        lower = np.floor(age / width) * width if number else age
        upper = lower + width * number
        label = [countries[name] for name in city] if number else city
        own = frame.assign(age_lower=lower, age_upper=upper, city=label)
        own["age"] = [f"[{a:g}, {b:g}]" for a, b in zip(lower, upper, strict=True)]
        own["equivalence_class"] = own["age"] + own["city"]
        sizes = own["equivalence_class"].map(own["equivalence_class"].value_counts())
        own["is_suppressed"] = bool(number) & (sizes < 12)
        efforts.append(effort(connection, number, own, {"age": number, "city": number}))
    return efforts


def draw_all(frame: pd.DataFrame, repetitions: int) -> list[Split]:
    """Return the splits of an evaluation with the defaults of the tests."""
    _, codes = np.unique(frame.sort_values("record_id")["label"], return_inverse=True)
    splitting = Splitting(repetitions=repetitions, test_share=0.3)
    found: list[Split] = []
    for repetition in range(1, repetitions + 1):
        seed, _ = seeds(1, repetition)
        found += draw_splits(splitting, seed, records=len(codes), strata=codes, groups=None)
    return found


def features(connection: Connection, efforts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a number, a category and a plain number."""
    hierarchy = pd.DataFrame({"value": ["Bonn", "Köln", "Rome"], "level_1": ["DE", "DE", "IT"]})
    ages = interval_hierarchy(connection, efforts)
    return [
        {"name": "age", "kind": "interval", "hierarchy": ages},
        {"name": "city", "kind": "categorical", "hierarchy": table(connection, hierarchy)},
        {"name": "weight", "kind": "plain"},
    ]


def matrices(efforts: list[dict[str, Any]]) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return effort 1, its features, and the same features of untouched records, made by hand.

    For a model that sees midpoints; the country stands in two columns.
    """
    frame, raw = (
        e["relation"].df().sort_values("record_id").reset_index(drop=True)
        for e in (efforts[1], efforts[0])
    )
    middle = (frame["age_lower"] + frame["age_upper"]) / 2
    country = (frame["city"] == "DE").to_numpy()
    own, untouched = (
        np.column_stack([age, country, ~country, frame["weight"]]).astype(float)
        for age in (middle, raw["age_lower"])
    )
    return frame, own, untouched


def test_several_targets_and_models_are_scored_each_on_its_own(connection: Connection) -> None:
    efforts = patients(connection)
    read = features(connection, efforts)
    targets = [
        {"name": "label", "task": "classification", "positive": "high", "time": None},
        {"name": "is_ill", "task": "classification", "positive": True, "time": None},
    ]
    models = [
        {"name": "tree", "model": "decision_tree", "parameters": {"max_depth": 3}},
        {"name": "bayes", "model": "naive_bayes", "parameters": {}},
    ]
    found = evaluated(connection, efforts, features=read, targets=targets, models=models)
    assert set(found["model"]) == {"tree", "bayes", "zero_rule"}
    for target in targets:
        for model in models:
            alone = evaluated(connection, efforts, features=read, targets=[target], models=[model])
            same = (found["target"] == target["name"]) & (found["model"] == model["name"])
            expected = alone[alone["model"] == model["name"]].reset_index(drop=True)
            pd.testing.assert_frame_equal(found[same].reset_index(drop=True), expected)


def test_probabilities_of_three_classes_are_those_of_scikit_learn(connection: Connection) -> None:
    efforts = patients(connection)
    read = features(connection, efforts)
    choices: dict[str, Any] = {"model": "logistic_regression", "repetitions": 1, "folds": 4}
    choices["reading"] = {"numbers": "midpoint"}
    found = evaluated(connection, efforts, features=read, **choices)
    frame, own, raw = matrices(efforts)
    classes, codes = np.unique(frame["label"], return_inverse=True)
    split_seed, model_seed = seeds(1, 1)
    splits = draw_splits(
        Splitting(1, folds=4), split_seed, records=len(codes), strata=codes, groups=None
    )
    is_released = ~frame["is_suppressed"].to_numpy()
    assert is_released.sum() < len(frame)
    for fold, split in enumerate(splits, start=1):
        train = split.train[is_released[split.train]]
        # A feature for each country has no unit.
        numbers = ColumnTransformer(
            [("numbers", StandardScaler(), [0, 3])], remainder="passthrough"
        )
        model = make_pipeline(numbers, LogisticRegression(random_state=model_seed))
        model.fit(own[train], codes[train])
        for test_on, rows in (("original", raw), ("generalized", own)):
            probabilities = model.predict_proba(rows[split.test])
            expected = {
                "roc_auc": roc_auc_score(codes[split.test], probabilities, multi_class="ovr"),
                "log_loss": log_loss(codes[split.test], probabilities),
            }
            for measure, value in expected.items():
                scored = measured(found, measure, "logistic_regression")
                is_own = (scored["effort"] == 1) & (scored["test_on"] == test_on)
                assert scored[is_own & (scored["fold"] == fold)]["value"].item() == pytest.approx(
                    value, rel=1e-6
                )
    per_class = found[(found["name"] == "sensitivity") & found["other"].notna()]
    assert set(per_class["other"]) == set(classes)


def test_a_regression_is_that_of_scikit_learn(connection: Connection) -> None:
    efforts = patients(connection)
    read = features(connection, efforts)
    choices = {"task": "regression", "model": "random_forest", "parameters": {"n_estimators": 7}}
    choices["reading"] = {"numbers": "midpoint"}
    found = evaluated(connection, efforts, features=read, target="charges", **choices)
    assert set(found["kind"]) == {"measure"}
    frame, own, _ = matrices(efforts)
    charges, is_released = frame["charges"].to_numpy(), ~frame["is_suppressed"].to_numpy()
    for repetition in (1, 2, 3):
        split_seed, model_seed = seeds(1, repetition)
        (split,) = draw_splits(
            Splitting(3, test_share=0.3),
            split_seed,
            records=len(charges),
            strata=None,
            groups=None,
        )
        train = split.train[is_released[split.train]]
        model = RandomForestRegressor(n_estimators=7, random_state=model_seed)
        predicted = model.fit(own[train], charges[train]).predict(own[split.test])
        for measure, score in (("r2", r2_score), ("mae", mean_absolute_error)):
            scored = measured(found, measure, "random_forest")
            is_own = (scored["effort"] == 1) & (scored["test_on"] == "generalized")
            value = scored[is_own & (scored["repetition"] == repetition)]["value"].item()
            assert value == pytest.approx(score(charges[split.test], predicted), rel=1e-12)


@pytest.mark.skipif(
    importlib.util.find_spec("sksurv") is None, reason="scikit-survival is not installed"
)
@pytest.mark.parametrize("model", ["cox", "random_survival_forest"])
def test_a_time_to_event_is_scored(connection: Connection, model: str) -> None:
    choices = {"task": "survival", "time": "time", "model": model}
    efforts = patients(connection)
    read = features(connection, efforts)
    found = evaluated(connection, efforts, features=read, target="is_ill", **choices)
    assert mean(measured(found, "concordance_index", model), 1) > 0.7
    assert mean(measured(found, "concordance_index", "zero_rule"), 1) == 0.5


def test_nobody_both_trains_and_tests(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    efforts, seen = patients(connection), []

    class Spy:
        classes_ = np.array([0, 1, 2])

        def fit(self, rows: np.ndarray, _: np.ndarray) -> Spy:
            self.rows = rows
            return self

        def predict(self, rows: np.ndarray) -> np.ndarray:
            seen.append((self.rows, rows))
            return np.zeros(len(rows), dtype=int)

    monkeypatch.setattr(estimators, "make_estimator", lambda *_: Spy())
    read = [{"name": "weight", "kind": "plain"}]  # different for every record
    subjects = {"relation": efforts[0]["relation"], "column": "person"}
    evaluated(connection, efforts[:1], features=read, subjects=subjects, repetitions=5)
    evaluated(connection, efforts[:1], features=read, subjects=subjects, repetitions=1, folds=3)
    frame = efforts[0]["relation"].df()
    person = dict(zip(frame["weight"], frame["person"], strict=True))
    assert len(seen) == 16
    for trained, asked in seen:
        assert not {person[w] for w in trained[:, 0]} & {person[w] for w in asked[:, 0]}
        assert len(trained) + len(asked) == 120


def test_bounds_tell_what_midpoints_do_not(connection: Connection) -> None:
    # Two intervals with one midpoint; the model can tell them apart by their bounds alone.
    draws = np.arange(80) % 2
    frame = pd.DataFrame({"record_id": np.arange(80), "label": np.where(draws, "yes", "no")})
    frame = frame.assign(age="-", age_lower=40.0 - draws, age_upper=40.0 + draws)
    frame["is_suppressed"] = False
    efforts = [effort(connection, number, frame) for number in (0, 1)]
    ages = table(
        connection,
        pd.DataFrame(
            {"lower_bound": [39.0, 40.0], "upper_bound": [40.0, 41.0], "level_1": ["a", "b"]}
        ),
    )
    for numbers, expected in (("midpoint", 0.5), ("bounds", 1.0)):
        read = [{"name": "age", "kind": "interval", "hierarchy": ages}]
        found = evaluated(connection, efforts, features=read, reading={"numbers": numbers})
        assert mean(measured(found), 1, "generalized") == pytest.approx(expected, abs=0.1)


def test_class_means_are_those_of_released_records_and_per_split_of_training_records(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    efforts, seen = patients(connection), []

    class Spy:
        def fit(self, rows: np.ndarray, numbers: np.ndarray) -> Spy:
            seen.append((rows, numbers))
            return self

        def predict(self, rows: np.ndarray) -> np.ndarray:
            return np.zeros(len(rows))

    monkeypatch.setattr(estimators, "make_estimator", lambda *_: Spy())
    guarantees = [{"model": "k_anonymity", "k": 12}]
    choices = {"target": "charges", "task": "regression", "fit": "per_split", "repetitions": 1}
    choices |= {"features": features(connection, efforts)[:1], "reading": {"numbers": "class_mean"}}
    evaluated(connection, efforts, guarantees=guarantees, **choices)
    # Of effort 0 one model and the zero rule; of effort 1 both, once and per split.
    assert len(seen) == 6
    raw, own = (e["relation"].df().sort_values("record_id") for e in efforts)
    own = own.assign(age=raw["age_lower"].to_numpy())
    all_means = own[~own["is_suppressed"]].groupby("equivalence_class")["age"].mean()
    by_charges = own.set_index("charges")
    rows, numbers = seen[2]
    trained = by_charges.loc[numbers]
    assert rows[:, 0] == pytest.approx(trained["equivalence_class"].map(all_means).to_numpy())
    untouched = by_charges.loc[seen[0][1]]
    large = untouched["equivalence_class"].value_counts()
    expected = untouched[untouched["equivalence_class"].map(large) >= 12]
    rows, numbers = seen[4]
    assert sorted(numbers) == sorted(expected.index)
    assert len(numbers) < len(trained)
    means = expected.groupby("equivalence_class")["age"].mean()
    trained = by_charges.loc[numbers]
    assert rows[:, 0] == pytest.approx(trained["equivalence_class"].map(means).to_numpy())


def test_both_ways_of_fitting_are_reported(connection: Connection, log: Log) -> None:
    efforts = patients(connection)
    read = features(connection, efforts)
    once = evaluated(connection, efforts, features=read)
    guarantees = [
        {"model": "k_anonymity", "k": 12},
        {"model": "l_diversity", "attribute": "is_ill", "l": 2, "variant": "distinct"},
    ]
    found = evaluated(connection, efforts, features=read, fit="per_split", guarantees=guarantees)
    own = found[found["fit"] == "once"].reset_index(drop=True)
    pd.testing.assert_frame_equal(own, once)
    refitted_rows = found[found["fit"] == "per_split"]
    refitted = measured(refitted_rows)
    assert (
        refitted[refitted["effort"] == 0]["value"].tolist()
        == measured(once.query("effort == 0"))["value"].tolist()
    )
    assert mean(refitted, 1) != mean(measured(once), 1)
    assert log.warnings == []
    splits = draw_all(efforts[0]["relation"].df(), repetitions=3)
    classes = efforts[1]["relation"].df().sort_values("record_id")
    shares = []
    for split in splits:
        trained = classes.iloc[split.train]
        by_class = trained.groupby("equivalence_class")
        sizes = by_class["is_ill"].transform("size")
        shares.append(((sizes < 12) | (by_class["is_ill"].transform("nunique") < 2)).mean())
    assert min(shares) < max(shares)
    line = f"suppresses at most {max(shares):.1%} of the training records of effort 1"
    assert [line in written for written in log.lines].count(True) == 1
    # Where a guarantee cannot hold there is no model, but a reason.
    efforts[1]["k"] = 1000
    found = evaluated(connection, efforts, features=read, fit="per_split", guarantees=guarantees)
    failures = found[found["kind"] == "failure"]
    assert set(failures["fit"]) == {"per_split"}
    assert set(failures["name"]) == {"the training records hold 0 of 3 classes"}
    assert "with fit per_split" in log.warnings[0]


def test_leaves_weigh_as_often_as_they_occur_in_what_is_released(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[np.ndarray, np.ndarray]] = []

    class Spy:
        def fit(self, rows: np.ndarray, numbers: np.ndarray) -> Spy:
            seen.append((rows, numbers))
            return self

        def predict(self, rows: np.ndarray) -> np.ndarray:
            return np.zeros(len(rows))

    monkeypatch.setattr(estimators, "make_estimator", lambda *_: Spy())
    efforts = patients(connection, records=400, width=7)
    choices = {"target": "charges", "task": "regression", "fit": "per_split", "repetitions": 1}
    choices |= {"features": features(connection, efforts)[1:2], "model": "ridge"}
    choices |= {"reading": {"categories": "frequencies"}}
    choices |= {"guarantees": [{"model": "k_anonymity", "k": 12}]}
    evaluated(connection, efforts, **choices)
    # A model and the zero rule: of effort 0 and of effort 1, both once and per split.
    assert len(seen) == 8
    raw, own = (e["relation"].df().sort_values("record_id") for e in efforts)
    own = own.assign(leaf=raw["city"].to_numpy())
    found = []
    for rows, among in (
        (seen[4], own[~own["is_suppressed"]]),
        (seen[6], own[own["charges"].isin(seen[6][1])]),
    ):
        counts = among[among["city"] == "DE"]["leaf"].value_counts()
        expected = [counts["Bonn"] / counts.sum(), counts["Köln"] / counts.sum(), 0]
        is_de = own.set_index("charges").loc[rows[1], "city"].eq("DE").to_numpy()
        assert rows[0][is_de] == pytest.approx(np.tile(expected, (is_de.sum(), 1)))
        assert (rows[0][~is_de] == [0, 0, 1]).all()
        found.append(expected)
    everybody = raw[raw["city"] != "Rome"]["city"].eq("Bonn").mean()
    assert len({found[0][0], found[1][0], everybody}) == 3


def test_suppressed_records_may_train_without_their_quasi_identifiers(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[np.ndarray] = []

    class Spy:
        classes_ = np.array([0, 1])

        def fit(self, rows: np.ndarray, _: np.ndarray) -> Spy:
            seen.append(rows)
            return self

        def predict(self, rows: np.ndarray) -> np.ndarray:
            return np.zeros(len(rows), dtype=int)

    monkeypatch.setattr(estimators, "make_estimator", lambda *_: Spy())
    efforts = interval_efforts(connection, widths=(0, 1), suppressed=tuple(range(0, 60, 3)))
    midpoints = {"numbers": "midpoint"}
    evaluated(connection, efforts, suppressed="missing", repetitions=4, reading=midpoints)
    untouched, generalized = seen[::4], seen[2::4]
    ages = efforts[0]["relation"].filter("record_id % 3 <> 0").df()["age_lower"].to_numpy()
    for raw, rows in zip(untouched, generalized, strict=True):
        is_released = np.isin(raw[:, 0], ages)
        assert 0 < is_released.sum() < len(raw) == len(rows)
        assert rows[is_released, 0].tolist() == (raw[is_released, 0] + 0.5).tolist()
        assert set(rows[~is_released, 0]) == {np.median(rows[is_released, 0])}
        assert rows[:, 1].tolist() == (~is_released).tolist()
