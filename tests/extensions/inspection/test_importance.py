"""Permutation importance against a plain loop with scikit-learn, and what it must say."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.splits import seeds
from dbt_anonymize.extensions.inspection import importance
from tests.evaluation.tables import CLASSES, effort, evaluated, hold_out, table

Connection = duckdb.DuckDBPyConnection
FEATURES = ["city", "noise", "size"]
CITIES = np.array(["a", "b", "c", "d"])
REGION = {"a": "north", "b": "north", "c": "south", "d": "south"}


def importances(
    connection: Connection, **choices: Any
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the evaluation, its importances and the records: a city decides most targets."""
    draws = np.random.default_rng(5)
    city, size = CITIES[draws.integers(0, 4, 80)], draws.normal(size=80)
    label = CLASSES[(np.isin(city, ["a", "c"]) ^ (size > 1.2)).astype(int)]
    frame = pd.DataFrame(
        {"record_id": range(80), "city": city, "size": size, "noise": draws.normal(size=80)}
    ).assign(label=label, is_suppressed=False)
    regions = frame.assign(city=frame["city"].map(REGION))
    efforts = [
        effort(connection, number, each, {"city": number})
        for number, each in enumerate([frame, regions])
    ]
    tree = table(connection, pd.DataFrame({"value": CITIES, "level_1": list(REGION.values())}))
    found = evaluated(
        connection,
        efforts,
        features=[{"name": "city", "kind": "categorical", "hierarchy": tree}]
        + [{"name": name, "kind": "plain"} for name in FEATURES[1:]],
        **choices,
    )
    return found, found[found["kind"] == "importance"], frame


def test_importance_is_the_fall_of_a_plain_scikit_learn_model(connection: Connection) -> None:
    _, found, frame = importances(
        connection,
        inspections={"inspection": {"importance": "accuracy"}},
        repetitions=3,
        parameters={"max_depth": 3},
    )
    target = np.searchsorted(CLASSES, frame["label"].to_numpy(dtype=str))
    expected = []
    for labels in (CITIES, ["north", "south"]):
        city = frame["city"] if len(labels) == 4 else frame["city"].map(REGION)
        columns = {
            "city": np.column_stack([city == label for label in labels]).astype(float),
            "noise": frame[["noise"]].to_numpy(),
            "size": frame[["size"]].to_numpy(),
        }
        for repetition in (1, 2, 3):
            split_seed, model_seed = seeds(1, repetition)
            split = hold_out(target, 0.3, split_seed)
            rows = np.hstack(list(columns.values()))
            model = DecisionTreeClassifier(random_state=model_seed, max_depth=3)
            model.fit(rows[split.train], target[split.train])
            right = model.score(rows[split.test], target[split.test])
            draws = np.random.default_rng((model_seed, 1))
            draws.permutation(len(split.test))
            for name in columns:
                order = draws.permutation(len(split.test))
                own = {n: values[split.test] for n, values in columns.items()}
                own[name] = own[name][order]
                fall = right - model.score(np.hstack(list(own.values())), target[split.test])
                expected.append(fall)
    assert found["other"].tolist() == FEATURES * 6
    assert set(found["model"]) == {"decision_tree"}
    assert found["value"].tolist() == pytest.approx(expected)
    assert max(expected) > 0.2


def test_importance_follows_what_an_effort_leaves(connection: Connection) -> None:
    _, found, _ = importances(
        connection,
        inspections={"inspection": {"importance": "accuracy"}},
        repetitions=8,
        parameters={"max_depth": 3},
    )
    mean = found.groupby(["effort", "other"])["value"].mean()
    assert mean[0, "city"] > 0.2 > abs(mean[0, "noise"])
    # Regions say nothing of the target.
    assert mean[1, "city"] < mean[0, "city"] / 2


def test_importance_changes_no_other_row(connection: Connection) -> None:
    plain, nothing, _ = importances(connection)
    found, _, _ = importances(connection, inspections={"inspection": {"importance": "accuracy"}})
    assert nothing.empty
    others = found[found["kind"] != "importance"].reset_index(drop=True)
    pd.testing.assert_frame_equal(plain, others)


def test_large_test_parts_are_sampled(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importance, "MOST_PERMUTED", 10)
    _, found, _ = importances(
        connection, inspections={"inspection": {"importance": "accuracy"}}, repetitions=3
    )
    tenths = found["value"] * 10
    assert np.allclose(tenths, tenths.round())
    assert (found["value"] > 0).any()


@pytest.mark.parametrize(
    ("task", "target", "measure", "model"),
    [("regression", "size", "rmse", "ridge"), ("classification", "label", "log_loss", "bagging")],
)
def test_errors_rise_where_a_feature_helps(
    connection: Connection, task: str, target: str, measure: str, model: str
) -> None:
    _, found, _ = importances(
        connection,
        inspections={"inspection": {"importance": measure}},
        model=model,
        task=task,
        target=target,
        repetitions=2,
    )
    assert len(found) == 2 * 2 * 3
    strongest = "size" if task == "regression" else "city"
    own = found[(found["effort"] == 0) & (found["other"] == strongest)]
    assert (own["value"] < 0).all()


def test_an_unknown_inspection_is_refused(connection: Connection) -> None:
    with pytest.raises(EvaluationError, match=r"got gruops.*dbt-anonymize generate"):
        importances(connection, inspections={"inspection": {"gruops": ["city"]}})
