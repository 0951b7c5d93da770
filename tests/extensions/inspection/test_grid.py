"""Predictions over a grid against a plain scikit-learn model."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.splits import seeds
from tests.evaluation.tables import CLASSES, effort, evaluated, hold_out, table

Connection = duckdb.DuckDBPyConnection
FEATURES = ["age", "city", "size", "weight"]


def grid_of(
    connection: Connection, grid: tuple[str, ...]
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the evaluation of ages, raw and in tens, and the records of both efforts."""
    draws = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "record_id": range(101),
            "age": draws.permutation(101).astype(float),
            "city": np.array(["a", "b", "b"])[draws.integers(0, 3, 101)],
            "size": draws.normal(size=101),
            "weight": draws.normal(size=101),
        }
    )
    inside = (frame["age"] > 50) ^ (frame["size"] > 0)
    frame = frame.assign(label=CLASSES[inside.astype(int)], is_suppressed=False)
    lower = frame["age"] // 10 * 10
    raw = frame.assign(age_lower=frame["age"], age_upper=frame["age"])
    tens = frame.assign(age_lower=lower, age_upper=lower + 10)
    bounds = np.arange(0.0, 110, 10)
    tree = table(
        connection,
        pd.DataFrame({"lower_bound": bounds, "upper_bound": bounds + 10, "level_1": bounds}),
    )
    efforts = [
        effort(connection, number, each.assign(age=each["age_lower"].astype(str)), {"age": number})
        for number, each in enumerate([raw, tens])
    ]
    features = [{"name": name, "kind": "plain"} for name in FEATURES[1:]]
    found = evaluated(
        connection,
        efforts,
        features=[{"name": "age", "kind": "interval", "hierarchy": tree}, *features],
        parameters={"max_depth": 4},
        repetitions=2,
        reading={"numbers": "midpoint"},
        inspections={"inspection": {"decision_grid": grid}} if grid else {},
    )
    return found, raw, tens


def test_a_grid_has_the_predictions_of_a_plain_scikit_learn_model(connection: Connection) -> None:
    found, raw, tens = grid_of(connection, ("age", "size"))
    points = found[found["kind"] == "grid_point"]
    x = points[points["name"] == "age"]["value"].to_numpy()
    y = points[points["name"] == "size"]["value"].to_numpy()
    assert (len(set(x)), min(x), max(x)) == (30, 0, 100)
    assert set(y) <= set(raw["size"])
    assert len(set(zip(x, y, strict=True))) == len(x) == len(set(x)) * len(set(y))
    split_seed, model_seed = seeds(1, 1)
    target = np.searchsorted(CLASSES, raw["label"].to_numpy(dtype=str))
    split = hold_out(target, 0.3, split_seed)
    others = [np.zeros(len(x)), np.ones(len(x))]
    asked = np.column_stack([x, *others, y, np.full(len(x), raw["weight"].median())])
    for number, frame in enumerate([raw, tens]):
        age = (frame["age_lower"] + frame["age_upper"]) / 2
        city = [frame["city"] == name for name in "ab"]
        rows = np.column_stack([age, *city, frame["size"], frame["weight"]]).astype(float)
        model = DecisionTreeClassifier(random_state=model_seed, max_depth=4)
        model.fit(rows[split.train], target[split.train])
        own = found[(found["kind"] == "grid") & (found["effort"] == number)]
        for code, name in enumerate(CLASSES):
            shares = own[own["name"] == name].sort_values("bin")["value"]
            assert shares.tolist() == model.predict_proba(asked)[:, code].tolist()
    assert set(found[found["kind"] == "grid"]["model"]) == {"decision_tree"}


def test_a_grid_changes_no_other_row(connection: Connection) -> None:
    plain, _, _ = grid_of(connection, ())
    found, _, _ = grid_of(connection, ("size", "weight"))
    others = found[~found["kind"].isin(["grid", "grid_point"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(plain, others)


def test_a_grid_needs_numbers(connection: Connection) -> None:
    with pytest.raises(EvaluationError, match="feature `city` must be a number or a date"):
        grid_of(connection, ("age", "city"))
