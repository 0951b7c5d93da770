"""Clusterings and rankings by anomaly: measures by their definitions, and the whole evaluation."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.ensemble import IsolationForest
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import own_models
from dbt_anonymize.evaluation.estimators import make_estimator
from dbt_anonymize.evaluation.own_models import Agglomerative
from dbt_anonymize.evaluation.splits import Split, Splitting, draw_splits, seeds
from dbt_anonymize.evaluation.unsupervised import (
    anomaly_measures,
    clustering_measures,
    silhouette,
    unsupervised_answers,
)
from tests.evaluation.tables import effort, evaluated, interval_hierarchy, mean, measured, table

pytestmark = pytest.mark.costly

Connection = duckdb.DuckDBPyConnection
RECORDS = 90


def people(connection: Connection, *, width: int = 15) -> list[dict[str, Any]]:
    """Return three clouds of people, untouched and with intervals of a width."""
    draws = np.random.default_rng(4)
    age = np.concatenate([draws.integers(center - 4, center + 4, 30) for center in (30, 50, 80)])
    frame = pd.DataFrame(
        {
            "record_id": np.arange(RECORDS),
            "weight": np.round(draws.normal(70, 3, RECORDS) + age / 5, 1),
            "is_suppressed": False,
        }
    )
    found = []
    for number in (0, 1):
        lower = np.floor(age / width) * width if number else age
        own = frame.assign(age_lower=lower, age_upper=lower + width * number)
        own["age"] = [f"[{value}" for value in lower]
        own["is_suppressed"] = bool(number) & (np.arange(RECORDS) % 30 == 0)
        found.append(effort(connection, number, own, {"age": number}))
    return found


def features(connection: Connection, efforts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tree = interval_hierarchy(connection, efforts)
    return [
        {"name": "age", "kind": "interval", "hierarchy": tree},
        {"name": "weight", "kind": "plain"},
    ]


def matrices(efforts: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of untouched and of generalized records, intervals as midpoints."""
    raw, own = (e["relation"].df().sort_values("record_id") for e in efforts)
    middle = (own["age_lower"] + own["age_upper"]) / 2
    return raw[["age_lower", "weight"]].to_numpy(), np.column_stack([middle, own["weight"]])


def split_of(repetition: int) -> tuple[Split, int]:
    """Return a split as an evaluation draws it, and the seed of its models."""
    split_seed, model_seed = seeds(1, repetition)
    splitting = Splitting(repetition, test_share=0.3)
    (split,) = draw_splits(splitting, split_seed, records=RECORDS, strata=None, groups=None)
    return split, model_seed


def rand_by_pairs(first: np.ndarray, second: np.ndarray) -> float:
    """Return the adjusted Rand index by looking at each pair."""
    pairs = list(combinations(range(len(first)), 2))
    together = [first[i] == first[j] for i, j in pairs], [second[i] == second[j] for i, j in pairs]
    both = sum(a and b for a, b in zip(*together, strict=True))
    expected = sum(together[0]) * sum(together[1]) / len(pairs)
    most = (sum(together[0]) + sum(together[1])) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def silhouette_by_distances(rows: np.ndarray, clusters: np.ndarray) -> float:
    values = []
    for place, own in enumerate(clusters):
        distances = np.linalg.norm(rows - rows[place], axis=1)
        others = np.arange(len(rows)) != place
        if not (others & (clusters == own)).any():
            values.append(0.0)
            continue
        within = distances[others & (clusters == own)].mean()
        closest = min(distances[clusters == c].mean() for c in set(clusters) - {own})
        values.append((closest - within) / max(closest, within))
    return float(np.mean(values))


@pytest.mark.parametrize("seed", range(20))
def test_measures_of_clusters_are_those_of_their_definitions(seed: int) -> None:
    draws = np.random.default_rng(seed)
    first, second = draws.integers(0, 4, (2, 25)).astype(float)
    rows = draws.normal(size=(25, 2))
    found = clustering_measures(first, second)["adjusted_rand_index"]
    assert found == pytest.approx(rand_by_pairs(first, second), abs=1e-12)
    assert silhouette(rows, second) == pytest.approx(
        silhouette_by_distances(rows, second), abs=1e-12
    )


@pytest.mark.parametrize("seed", range(20))
def test_measures_of_scores_are_those_of_their_definitions(seed: int) -> None:
    draws = np.random.default_rng(seed)
    first, second = draws.integers(0, 12, (2, 40)).astype(float)
    found = anomaly_measures(first, second, 0.1)
    expected = pd.Series(first).rank().corr(pd.Series(second).rank())
    assert found["rank_correlation"] == pytest.approx(expected, abs=1e-12)
    # Ties at the edge are broken in many ways.
    overlaps = []
    for _ in range(4000):
        tops = [
            set(np.lexsort((draws.random(40), -scores))[:4].tolist()) for scores in (first, second)
        ]
        overlaps.append(len(tops[0] & tops[1]) / 4)
    error = 5 * np.std(overlaps) / np.sqrt(len(overlaps))
    assert found["top_overlap"] == pytest.approx(np.mean(overlaps), abs=error + 1e-9)


def test_a_constant_answer_has_what_chance_gives() -> None:
    scores, same = np.arange(40.0), np.zeros(40)
    found = anomaly_measures(scores, same, 0.1)
    assert found == {"rank_correlation": 0.0, "top_overlap": pytest.approx(0.1)}
    assert clustering_measures(scores % 3, same) == {"adjusted_rand_index": 0.0}
    assert silhouette(scores[:, None], same) == silhouette(scores[:, None], scores) == 0.0


@pytest.mark.parametrize("model", ["k_means", "agglomerative"])
def test_a_clustering_is_that_of_scikit_learn(connection: Connection, model: str) -> None:
    efforts = people(connection)
    choices = {"task": "clustering", "model": model, "parameters": {"n_clusters": 3}}
    choices["reading"] = {"numbers": "midpoint"}
    found = evaluated(
        connection, efforts, features=features(connection, efforts), target="clustering", **choices
    )
    raw, own = matrices(efforts)
    is_released = np.arange(RECORDS) % 30 != 0

    def clusters(rows: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
        scaler = StandardScaler().fit(rows)
        if model == "k_means":
            means = KMeans(3, n_init=10, random_state=seed).fit(scaler.transform(rows))
            return means.predict(scaler.transform(test))
        known = AgglomerativeClustering(3).fit_predict(scaler.transform(rows))
        centers = [scaler.transform(rows)[known == cluster].mean(axis=0) for cluster in range(3)]
        distances = [np.linalg.norm(scaler.transform(test) - c, axis=1) for c in centers]
        return np.argmin(distances, axis=0)

    for repetition in (1, 2, 3):
        split, seed = split_of(repetition)
        train, test = split.train, raw[split.test]
        expected = clusters(raw[train], test, seed + 1)
        got = clusters(own[train[is_released[train]]], test, seed)
        standard = StandardScaler().fit(raw[train]).transform(test)
        values = {
            "adjusted_rand_index": rand_by_pairs(expected, got),
            "silhouette": silhouette_by_distances(standard, got),
        }
        for measure, value in values.items():
            scored = measured(found, measure, model)
            is_own = (scored["effort"] == 1) & (scored["test_on"] == "original")
            at = scored[is_own & (scored["repetition"] == repetition)]["value"].item()
            assert at == pytest.approx(value, rel=1e-9)
    assert mean(measured(found, "adjusted_rand_index", "zero_rule"), 1) == 0.0
    assert 0.5 < mean(measured(found, "adjusted_rand_index", model), 1) < 1.0


def test_anomalies_are_those_of_scikit_learn(connection: Connection) -> None:
    efforts = people(connection)
    target = {"name": "anomaly", "task": "anomaly", "top_share": 0.2}
    choices: dict[str, Any] = {"model": "isolation_forest", "parameters": {"n_estimators": 30}}
    choices["reading"] = {"numbers": "midpoint"}
    read = features(connection, efforts)
    found = evaluated(connection, efforts, features=read, targets=[target], **choices)
    raw, own = matrices(efforts)
    is_released = np.arange(RECORDS) % 30 != 0
    for repetition in (1, 2, 3):
        split, seed = split_of(repetition)
        train, test = split.train, raw[split.test]
        released = own[train[is_released[train]]]
        forests = [
            IsolationForest(n_estimators=30, random_state=drawn).fit(rows)
            for rows, drawn in ((raw[train], seed + 1), (released, seed))
        ]
        expected = anomaly_measures(*(-forest.score_samples(test) for forest in forests), 0.2)
        for measure, value in expected.items():
            scored = measured(found, measure, "isolation_forest")
            is_own = (scored["effort"] == 1) & (scored["test_on"] == "original")
            at = scored[is_own & (scored["repetition"] == repetition)]["value"].item()
            assert at == pytest.approx(value, rel=1e-9)
    # Of 27 test records the share is 5.
    assert mean(measured(found, "top_overlap", "zero_rule"), 0) == pytest.approx(5 / 27)
    assert mean(measured(found, "rank_correlation", "zero_rule"), 1) == 0.0
    # Two forests of the same records differ by their draws.
    assert 0.5 < mean(measured(found, "rank_correlation", "isolation_forest"), 0) < 1.0


def test_what_loses_nothing_is_as_good_as_the_untouched_table(connection: Connection) -> None:
    efforts = people(connection)
    first = efforts[0]["relation"].df()
    efforts[1] = effort(connection, 1, first, {"age": 0})
    choices = {"task": "clustering", "model": "k_means", "parameters": {"n_clusters": 3}}
    read = [
        {
            "name": "age",
            "kind": "interval",
            "hierarchy": table(
                connection,
                pd.DataFrame({"lower_bound": [0.0], "upper_bound": [100.0], "level_1": ["*"]}),
            ),
        },
        {"name": "weight", "kind": "plain"},
    ]
    found = evaluated(connection, efforts, features=read, target="clustering", **choices)
    scored = measured(found, "adjusted_rand_index", "k_means")
    by_effort = [scored[scored["effort"] == number]["value"].tolist() for number in (0, 1)]
    assert by_effort[0] == by_effort[1]


def test_too_many_records_to_agglomerate_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_models, "MOST_AGGLOMERATED", 3)
    Agglomerative(n_clusters=2).fit(np.arange(3.0)[:, None])
    with pytest.raises(EvaluationError, match=r"at most 3 training records.* got 4\. Lower"):
        Agglomerative(n_clusters=2).fit(np.arange(4.0)[:, None])


def test_more_clusters_than_records_are_a_failure_with_its_reason(connection: Connection) -> None:
    efforts = people(connection)
    choices = {"task": "clustering", "model": "k_means", "parameters": {"n_clusters": 80}}
    read = features(connection, efforts)
    found = evaluated(connection, efforts, features=read, target="clustering", **choices)
    failures = found[found["kind"] == "failure"]
    assert failures["name"].str.contains("n_clusters=80").all()
    assert len(failures)


class Distances(OutlierMixin, BaseEstimator):
    """A detector that says who is normal, but not by ``score_samples``."""

    def fit(self, rows: np.ndarray) -> Distances:
        """Learn the mean."""
        self.center_ = rows.mean(axis=0)
        return self

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return -1 for the rows that are farther than others from the mean, else 1."""
        distances = np.abs(rows - self.center_).sum(axis=1)
        return np.where(distances > np.median(distances), -1, 1)


def test_rarer_records_have_the_higher_score_of_any_detector() -> None:
    rows = np.array([[0.0], [1.0], [1.1], [0.9], [9.0]])
    for detector in (Distances(), IsolationForest(random_state=1), OneClassSVM()):
        scores = unsupervised_answers(detector.fit(rows), rows, "anomaly")
        assert scores[4] > scores[1]


def test_the_task_of_any_class_is_known_by_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    # scikit-learn 1.5 lacks the function that newer ones have for this.
    monkeypatch.delattr("sklearn.base.is_clusterer", raising=False)
    for name, task in (
        ("cluster.Birch", "clustering"),
        ("svm.OneClassSVM", "anomaly"),
        ("linear_model.Lasso", "regression"),
    ):
        make_estimator(f"sklearn.{name}", {}, 1, task)
        with pytest.raises(EvaluationError, match=f"it is one of {task}"):
            make_estimator(f"sklearn.{name}", {}, 1, "classification")


def test_zero_rule_first_is_judged_by_what_the_next_model_finds(connection: Connection) -> None:
    efforts = people(connection)
    means = {"name": "means", "model": "k_means", "parameters": {"n_clusters": 3}}
    rule = {"name": "zero_rule", "model": "zero_rule", "parameters": {}}
    read = features(connection, efforts)
    target = [{"name": "clustering", "task": "clustering"}]
    orders = [[means, rule], [rule, means]]
    first, second = (
        evaluated(connection, efforts, features=read, targets=target, models=models)
        for models in orders
    )
    for model in ("means", "zero_rule"):
        for measure in ("adjusted_rand_index", "silhouette"):
            values = [measured(each, measure, model)["value"] for each in (first, second)]
            assert values[0].tolist() == values[1].tolist()


@pytest.mark.sampled_tests(group="workers")
@pytest.mark.parametrize(
    ("task", "model"), [("clustering", "k_means"), ("anomaly", "isolation_forest")]
)
def test_scores_do_not_depend_on_the_tasks_that_share_the_work(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, task: str, model: str
) -> None:
    efforts = people(connection)
    read = features(connection, efforts)
    found = []
    for workers in ("1", "16"):
        monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", workers)
        choices: dict[str, Any] = {"task": task, "model": model, "random_state": 2**32 - 1}
        scores = evaluated(connection, efforts, features=read, target=task, **choices)
        found.append(scores[scores["kind"] != "seconds"].reset_index(drop=True))
    pd.testing.assert_frame_equal(*found)
