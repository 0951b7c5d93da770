"""The whole evaluation, on real relations."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from dbt_anonymize.evaluation import estimators, workers
from dbt_anonymize.evaluation.splits import seeds
from tests.evaluation.conftest import Log
from tests.evaluation.tables import (
    CLASSES,
    effort,
    evaluated,
    hold_out,
    interval_efforts,
    interval_hierarchy,
    mean,
    measured,
    scores,
    table,
)

Connection = duckdb.DuckDBPyConnection


NAME = 'Bildung "neu"'


MIDPOINTS = {"numbers": "midpoint"}


class Spy:
    """A model that keeps what it is given and always answers the first class."""

    classes_ = np.array([0, 1])

    def __init__(self, seen: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self.seen = seen

    def fit(self, rows: np.ndarray, _: np.ndarray) -> Spy:
        """Keep the training rows."""
        self.rows = rows
        return self

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Keep the rows that are asked for."""
        self.seen.append((self.rows, rows))
        return np.zeros(len(rows), dtype=int)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[np.ndarray, np.ndarray]]:
    """Give what models are trained on and asked for, one pair per model."""
    found: list[tuple[np.ndarray, np.ndarray]] = []
    make_estimator = estimators.make_estimator
    monkeypatch.setattr(
        estimators,
        "make_estimator",
        lambda model, *given: make_estimator(model, *given) if model == "zero_rule" else Spy(found),
    )
    return found


def test_the_table_has_the_columns_and_rows_of_the_interface(connection: Connection) -> None:
    found = evaluated(connection, interval_efforts(connection), repetitions=2)
    assert list(found.columns) == [
        *("effort", "target", "model", "fit", "test_on", "repetition", "fold"),
        *("kind", "name", "other", "bin", "value"),
    ]
    assert set(found["target"]) == {"label"}
    assert set(found["model"]) == {"decision_tree", "zero_rule"}
    assert set(found["fit"]) == {"once"}
    rows = measured(found)
    keys = rows[["effort", "repetition", "fold", "test_on"]].to_numpy().tolist()
    assert keys == [
        [e, r, 1, t] for e in (0, 1) for r in (1, 2) for t in ("original", "generalized")
    ]
    original, generalized = (mean(rows, 0, test_on) for test_on in ("original", "generalized"))
    assert original == generalized
    types = connection.sql("select * from found").types
    assert [str(kind) for kind in types] == [
        *("BIGINT", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "BIGINT", "BIGINT"),
        *("VARCHAR", "VARCHAR", "VARCHAR", "BIGINT", "DOUBLE"),
    ]
    sql = "select kind, count(repetition), count(fold), count(bin) from found group by 1 order by 1"
    splits = {kind: counts for kind, *counts in connection.sql(sql).fetchall()}
    assert splits["confusion"] == [0, 0, 0]
    assert splits["probability"][:2] == [0, 0]
    assert splits["probability"][2] == (found["kind"] == "probability").sum()
    assert splits["measure"][2] == 0


def test_quantiles_come_with_the_scores(connection: Connection) -> None:
    choices: dict[str, Any] = {"repetitions": 6, "folds": 5, "confidence": 0.9, "seconds": True}
    found = evaluated(connection, interval_efforts(connection), **choices)
    rows = found[found["kind"] == "quantile"]
    for name, share in (("two_sided", 0.95), ("one_sided", 0.9)):
        own = rows[rows["name"] == name]
        assert own["bin"].tolist() == [*range(2, 31)]
        expected = stats.t.ppf(share, own["bin"].to_numpy(dtype=int) - 1)
        np.testing.assert_allclose(own["value"], expected, rtol=1e-12)
    assert set(rows["other"]) == {"0.9"}
    assert set(rows["effort"]) == {0}
    assert rows[["target", "model", "fit", "test_on", "repetition", "fold"]].isna().all(axis=None)


def test_confusions_and_probabilities_count_every_test_record(connection: Connection) -> None:
    found = evaluated(connection, interval_efforts(connection), model="naive_bayes", repetitions=4)
    rows = found[(found["effort"] == 1) & (found["model"] == "naive_bayes")]
    for test_on in ("original", "generalized"):
        own = rows[rows["test_on"] == test_on]
        confusion = own[own["kind"] == "confusion"]
        assert confusion["value"].sum() == 4 * 18
        right = confusion[confusion["name"] == confusion["other"]]["value"].sum()
        scored = measured(found, model="naive_bayes")
        of_effort = scored[(scored["effort"] == 1) & (scored["test_on"] == test_on)]
        assert right / (4 * 18) == pytest.approx(of_effort["value"].mean())
        counted = own[own["kind"] == "probability"]
        for name in CLASSES:
            of_class = counted[counted["name"] == name]
            assert of_class["value"].sum() == 4 * 18
            members = of_class[of_class["other"] == "1"]["value"].sum()
            assert members == confusion[confusion["name"] == name]["value"].sum()
        # The Brier score of all splits, up to the width of a bin.
        one = counted[counted["name"] == "yes"]
        errors = (one["bin"].astype(float) / 1000 - one["other"].astype(float)) ** 2
        brier = measured(found, "brier_score", "naive_bayes")
        brier = brier[(brier["effort"] == 1) & (brier["test_on"] == test_on)]["value"].mean()
        assert (errors * one["value"]).sum() / (4 * 18) == pytest.approx(brier, abs=1e-3)


@pytest.mark.parametrize("model", ["random_forest", "decision_tree"])
def test_scores_equal_those_of_a_plain_scikit_learn_loop(
    connection: Connection, model: str
) -> None:
    efforts = interval_efforts(connection, widths=(0, 10), suppressed=(1, 2, 30))
    found = scores(connection, efforts, model=model, repetitions=4, reading=MIDPOINTS)
    frames = [e["relation"].df().sort_values("record_id") for e in efforts]
    target = np.searchsorted(CLASSES, frames[0]["label"].to_numpy(dtype=str))
    rows = [((f["age_lower"] + f["age_upper"]) / 2).to_numpy().reshape(-1, 1) for f in frames]
    expected = []
    for frame, own in zip(frames, rows, strict=True):
        for repetition in range(1, 5):
            split_seed, model_seed = seeds(1, repetition)
            split = hold_out(target, 0.3, split_seed)
            train = split.train[~frame["is_suppressed"].to_numpy()[split.train]]
            kind = RandomForestClassifier if model == "random_forest" else DecisionTreeClassifier
            fitted = kind(random_state=model_seed).fit(own[train], target[train])
            expected += [
                float((fitted.predict(x[split.test]) == target[split.test]).mean())
                for x in (rows[0], own)
            ]
    assert found["value"].tolist() == expected


def test_training_never_sees_a_test_record(
    connection: Connection, seen: list[tuple[np.ndarray, np.ndarray]]
) -> None:
    scores(connection, interval_efforts(connection, widths=(0,)), repetitions=20)
    assert len(seen) == 20
    for trained, asked in seen:
        # Every record has its own age.
        assert not set(trained[:, 0]) & set(asked[:, 0])
        assert len(trained) + len(asked) == 60


def test_all_efforts_of_a_repetition_share_their_split(
    connection: Connection, seen: list[tuple[np.ndarray, np.ndarray]]
) -> None:
    # Intervals narrower than the distance of two ages: every record stays apart.
    efforts = interval_efforts(connection, widths=(0, 0.5, 0.25))
    scores(connection, efforts, repetitions=4, reading=MIDPOINTS)
    for first in range(0, 12, 3):
        ages = [np.floor(trained[:, 0]) for trained, _ in seen[first : first + 3]]
        assert np.array_equal(ages[0], ages[1])
        assert np.array_equal(ages[0], ages[2])
    assert not np.array_equal(seen[0][0], seen[3][0])


def test_suppressed_records_test_but_do_not_train(
    connection: Connection, seen: list[tuple[np.ndarray, np.ndarray]]
) -> None:
    hidden = tuple(range(0, 60, 3))
    efforts = interval_efforts(connection, widths=(0, 0.5), suppressed=hidden)
    hidden_ages = set(efforts[0]["relation"].filter("record_id % 3 = 0").df()["age_lower"].tolist())
    scores(connection, efforts, repetitions=10, reading=MIDPOINTS)
    trained = [np.floor(rows[:, 0]) for rows, _ in seen[1::2]]
    asked = [np.floor(rows[:, 0]) for _, rows in seen[1::2]]
    assert not any(hidden_ages & set(ages) for ages in trained)
    assert set(np.concatenate(asked)) >= hidden_ages
    assert all(len(set(ages)) == 18 for ages in asked)


@pytest.mark.sampled_tests(group="workers")
@pytest.mark.parametrize("model", ["random_forest", "gradient_boosting", "logistic_regression"])
def test_scores_do_not_depend_on_the_number_of_workers(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    efforts = interval_efforts(connection, records=200, widths=(0, 7, 30))
    monkeypatch.setattr(workers, "_START_SECONDS", 0.0)
    monkeypatch.setattr(workers, "_SHARED_BYTES", 100)
    given_away: list[int] = []
    run_in_workers = workers._run_in_workers
    monkeypatch.setattr(
        workers,
        "_run_in_workers",
        lambda *given: given_away.append(len(given[1])) or run_in_workers(*given),
    )
    found = []
    for count in ("1", "2"):
        monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", count)
        found.append(evaluated(connection, efforts, repetitions=9, model=model))
    assert given_away == [0, 8]
    pd.testing.assert_frame_equal(found[0], found[1], check_exact=True)


@pytest.mark.slow
def test_two_threads_may_evaluate_at_once(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As dbt does with two Python models and two threads.
    efforts = interval_efforts(connection)
    tree = interval_hierarchy(connection, efforts)
    expected = scores(connection, efforts, repetitions=9)
    monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", "2")
    monkeypatch.setattr(workers, "_START_SECONDS", 0.0)

    def evaluate_again(_: int) -> pd.DataFrame:
        cursor = connection.cursor()
        own = [{**e, "relation": cursor.table(e["relation"].alias)} for e in efforts]
        read = {"name": "age", "kind": "interval", "hierarchy": cursor.table(tree.alias)}
        return scores(cursor, own, repetitions=9, features=[read])

    with ThreadPoolExecutor(2) as threads:
        for found in threads.map(evaluate_again, range(2)):
            pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_scores_do_not_depend_on_the_physical_order_of_rows(connection: Connection) -> None:
    efforts = interval_efforts(connection)
    shuffled = [
        {**e, "relation": table(connection, e["relation"].df().sample(frac=1, random_state=seed))}
        for seed, e in enumerate(efforts)
    ]
    found = [scores(connection, each, model="random_forest") for each in (efforts, shuffled)]
    pd.testing.assert_frame_equal(found[0], found[1], check_exact=True)


def test_scores_are_repeatable_and_follow_the_random_state(connection: Connection) -> None:
    efforts = interval_efforts(connection)
    first, again, other = (
        scores(connection, efforts, random_state=state)["value"].tolist() for state in (4, 4, 5)
    )
    assert first == again
    assert first != other


def education(connection: Connection) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return efforts over a category that decides the target, and their features."""
    label_of = {"Bachelors": "higher", "Masters": "higher", "9th": "lower", "10th": "lower"}
    raw = np.tile(list(label_of), 25)
    labels = [raw, np.array([label_of[value] for value in raw])]
    efforts = [
        effort(
            connection,
            number,
            pd.DataFrame(
                {
                    "record_id": np.arange(100),
                    NAME: values,
                    "label": np.where(labels[1] == "higher", "yes", "no"),
                    "is_suppressed": False,
                }
            ),
            {NAME: number},
        )
        for number, values in enumerate(labels)
    ]
    hierarchy = pd.DataFrame({"value": label_of.keys(), "level_1": label_of.values()})
    name = {"name": NAME, "kind": "categorical"}
    return efforts, [{**name, "hierarchy": table(connection, hierarchy)}]


def test_a_one_hot_of_labels_could_not_read_untouched_values(connection: Connection) -> None:
    untouched, generalized = (each["relation"].df() for each in education(connection)[0])
    encoder = OneHotEncoder(handle_unknown="ignore").fit(generalized[[NAME]])
    model = DecisionTreeClassifier(random_state=1)
    model.fit(encoder.transform(generalized[[NAME]]), generalized["label"])
    predicted = model.predict(encoder.transform(untouched[[NAME]]))
    # Every raw value is unknown, so every record gets the same answer.
    assert len(set(predicted)) == 1
    assert min(f1_score(untouched["label"], predicted, average=None)) == 0.0


@pytest.mark.parametrize(
    "model", ["logistic_regression", "random_forest", "naive_bayes", "decision_tree"]
)
def test_a_model_trained_on_labels_reads_untouched_values(
    connection: Connection, model: str
) -> None:
    efforts, features = education(connection)
    found = scores(
        connection, efforts, features=features, model=model, measure="f1", positive="yes"
    )
    assert found["value"].tolist() == [1.0] * 12


def test_names_may_hold_quotes_spaces_unicode_and_reserved_words(connection: Connection) -> None:
    plain = interval_efforts(connection)
    names = {
        "record_id": 'we"ird id',
        "age": "select",
        "age_lower": "select_lower",
        "age_upper": "select_upper",
        "label": "größe {{ x }} '☃'",
    }
    renamed = [
        {
            **e,
            "relation": table(connection, e["relation"].df().rename(columns=names)),
            "levels": {"select": e["effort"]},
        }
        for e in plain
    ]
    tree = interval_hierarchy(connection, plain)
    found = scores(
        connection,
        renamed,
        record_key='we"ird id',
        target="größe {{ x }} '☃'",
        features=[{"name": "select", "kind": "interval", "hierarchy": tree}],
    )
    expected = scores(connection, plain).assign(target="größe {{ x }} '☃'")
    pd.testing.assert_frame_equal(found, expected)


def test_an_effort_that_carries_no_information_scores_like_the_zero_rule(
    connection: Connection,
) -> None:
    efforts = interval_efforts(connection, widths=(0, 1000))
    tree = scores(connection, efforts)
    zero = scores(connection, efforts, model="zero_rule")
    assert mean(tree, 1) == mean(zero, 1)
    assert mean(tree, 0) > mean(zero, 0)


def test_missing_plain_numbers_are_filled(connection: Connection) -> None:
    efforts = interval_efforts(connection)
    relations = [
        e["relation"].project("*, case when record_id % 4 > 0 then age_lower end as weight")
        for e in efforts
    ]
    changed = [{**e, "relation": r} for e, r in zip(efforts, relations, strict=True)]
    tree = interval_hierarchy(connection, efforts)
    features = [{"name": "age", "kind": "interval", "hierarchy": tree}]
    features.append({"name": "weight", "kind": "plain"})
    found = scores(connection, changed, features=features, model="logistic_regression")
    assert found["value"].between(0.5, 1.0).all()


@pytest.mark.parametrize("hidden", [False, True])
def test_no_records_give_no_scores(connection: Connection, log: Log, *, hidden: bool) -> None:
    efforts, features = education(connection)
    empty = [{**e, "relation": e["relation"].limit(0)} for e in efforts]
    if hidden:  # `--empty` builds limit the hierarchies as well
        features[0]["hierarchy"] = features[0]["hierarchy"].limit(0)
    found = evaluated(connection, empty, features=features)
    assert len(found) == 0
    assert log.lines == ["test: no records, so no models are trained"]
    types = [str(kind) for kind in connection.sql("select * from found").types]
    assert types == [
        *("BIGINT", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "BIGINT", "BIGINT"),
        *("VARCHAR", "VARCHAR", "VARCHAR", "BIGINT", "DOUBLE"),
    ]


def test_noise_is_not_above_the_best_constant_answer(connection: Connection) -> None:
    draws = np.random.default_rng(5)
    efforts = interval_efforts(connection, records=400)
    label = np.where(draws.random(400) < 0.45, "yes", "no")
    drawn = table(connection, pd.DataFrame({"record_id": np.arange(400), "noise": label}))
    for each in efforts:
        each["relation"] = each["relation"].join(drawn, "record_id")
    found = evaluated(connection, efforts, target="noise", positive="yes", repetitions=10)
    for measure, expected in (("precision", 0.45), ("f1", 2 * 0.45 / 1.45)):
        zero = mean(measured(found, measure, "zero_rule"), 0)
        assert zero == pytest.approx(expected, abs=0.03)
        assert mean(measured(found, measure), 1) <= zero + 0.03
        assert mean(measured(found, measure, "zero_rule"), 1) == pytest.approx(zero)
