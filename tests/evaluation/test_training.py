"""Number of trained models: announced beforehand as the evaluation writes it."""

from __future__ import annotations

import functools
import math
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.evaluation import run as evaluator
from dbt_anonymize.evaluation.progress import Progress
from dbt_anonymize.project.generate import render
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.training import describe_training, training_factors
from tests.evaluation.conftest import Log
from tests.evaluation.tables import table
from tests.spec.declarations import spec

RECORDS = 80


def declared(**quality: Any) -> Spec:
    content = spec(features=["age", "income"])
    content["columns"]["smoker"] = {"role": "insensitive"}
    content["quality"] = {"measure": "accuracy", "random_state": 1} | quality
    if quality.get("model") == "zero_rule":  # decides nothing by itself
        content["release"] = {"effort": 1}
    return Spec.model_validate(content)


def built(connection: duckdb.DuckDBPyConnection, anonymization: Spec) -> pd.DataFrame:
    """Return what the generated Python model returns, on efforts of random numbers."""
    draws = np.random.default_rng(3)
    age = draws.permutation(RECORDS).astype(float)
    frame = pd.DataFrame(
        {
            "visit_id": np.arange(RECORDS),
            "age": "[0",
            "age_lower": age,
            "age_upper": age + 1,
            "income": draws.normal(size=RECORDS),
            "ill": draws.integers(2, size=RECORDS),
            "smoker": draws.choice(["no", "yes"], RECORDS),
            "is_suppressed": False,
        }
    )
    effort = table(connection, frame)
    lower = np.arange(RECORDS).astype(float)
    ages = pd.DataFrame({"lower_bound": lower, "upper_bound": lower + 1})
    tree = table(connection, ages.assign(level_1=ages["lower_bound"], level_2="all", level_3="*"))

    class Dbt:
        def ref(self, name: str) -> duckdb.DuckDBPyRelation:
            return tree if name == "ages" else effort

        def config(self, **_: Any) -> None:
            pass

    namespace: dict[str, Any] = {}
    exec(render(anonymization)["visits_evaluation.py"], namespace)  # noqa: S102 (the model itself)
    found: pd.DataFrame = namespace["model"](Dbt(), connection)
    return found


@pytest.mark.parametrize(
    ("quality", "said"),
    [
        (
            {"model": "naive_bayes", "repetitions": 3, "test_share": 0.3},
            "visits: 3 efforts (with the untouched table) x "
            "2 models (with the zero rule) x 3 splits = 18 models to train; "
            "sources of more than 100,000 records are sampled",
        ),
        (
            {"model": "zero_rule", "repetitions": 2, "test_share": 0.3, "sample": 50},
            "visits: 3 efforts (with the untouched table) x 2 splits = 6 models to train; "
            "sources of more than 50 records are sampled",
        ),
        (
            {
                "models": {"tree": {"model": "decision_tree"}, "naive_bayes": {}},
                "further_targets": {"smoker": {}},
                "repetitions": 2,
                "folds": 4,
            },
            "visits: 3 efforts (with the untouched table) x "
            "3 models (with the zero rule) x 2 targets x 8 splits = "
            "144 models to train; sources of more than 100,000 records are sampled",
        ),
    ],
    ids=["hold-out", "zero rule", "folds"],
)
def test_generate_says_how_many_models_the_evaluation_trains(
    connection: duckdb.DuckDBPyConnection, log: Log, quality: dict[str, Any], said: str
) -> None:
    anonymization = declared(**quality)
    assert describe_training(anonymization) == said
    found = built(connection, anonymization)
    trained = found[found["kind"].isin(["measure", "failure"])]
    splits = trained[["repetition", "fold"]].drop_duplicates()
    factors = training_factors(anonymization)
    assert factors == {
        "effort": trained["effort"].nunique(),
        "model": trained["model"].nunique(),
        "target": trained["target"].nunique(),
        "split": len(splits),
        "fit": trained["fit"].nunique(),
    }
    keys = ["effort", "model", "target", "fit", "repetition", "fold"]
    number = math.prod(factors.values())
    assert len(trained[keys].drop_duplicates()) == number
    assert log.lines[-1].startswith(f"visits: {number} of {number} models, ")
    assert any("a sample of" in line for line in log.lines) == ("sample" in quality)


def test_the_time_to_the_end_is_estimated_after_the_first_split(
    connection: duckdb.DuckDBPyConnection, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluator, "Progress", functools.partial(Progress, interval=0.0))
    built(connection, declared(model="naive_bayes", repetitions=20, test_share=0.3))
    assert log.lines[0].startswith("visits: 6 of 120 models, ")
    assert log.lines[0].endswith(" left")
