"""Small efforts as real DuckDB relations, in the shape of the effort views."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd

from dbt_anonymize.evaluation import evaluate
from dbt_anonymize.evaluation.splits import Split, Splitting, draw_splits

CLASSES = np.array(["no", "yes"])


def interval_efforts(
    connection: duckdb.DuckDBPyConnection,
    *,
    records: int = 60,
    widths: tuple[float, ...] = (0, 10),
    suppressed: tuple[int, ...] = (),
) -> list[dict[str, Any]]:
    """Return efforts over one number ``age``, different for every record, and a text target."""
    draws = np.random.default_rng(3)
    age = draws.permutation(records).astype(float)
    label = CLASSES[(age + draws.normal(0, records / 12, records) > records / 2).astype(int)]
    efforts = []
    for number, width in enumerate(widths):
        lower = np.floor(age / width) * width if width else age
        frame = pd.DataFrame(
            {
                "record_id": np.arange(records),
                "age": [f"[{value:.0f}" for value in lower],
                "age_lower": lower,
                "age_upper": lower + width,
                "label": label,
                "is_suppressed": np.isin(np.arange(records), suppressed) & bool(width),
            }
        )
        efforts.append(effort(connection, number, frame, {"age": number}))
    return efforts


def interval_hierarchy(
    connection: duckdb.DuckDBPyConnection, efforts: list[dict[str, Any]], name: str = "age"
) -> duckdb.DuckDBPyRelation:
    """Return a hierarchy whose level i has the intervals that effort i shows, and gaps between."""
    columns = f'"{name}_lower" as lower, "{name}_upper" as upper'
    shown = [e["relation"].project(columns).distinct().df() for e in efforts[1:]]
    bounds = np.unique(np.concatenate([frame.to_numpy().ravel() for frame in shown] or [[0, 1]]))
    bounds = bounds[~np.isnan(bounds)]
    leaves = pd.DataFrame({"lower_bound": bounds[:-1], "upper_bound": bounds[1:]})
    for level, frame in enumerate(shown, start=1):
        labels = [f"gap {lower}" for lower in leaves["lower_bound"]]
        for lower, upper in frame.dropna().sort_values(["lower", "upper"]).to_numpy():
            inside = (leaves["lower_bound"] >= lower) & (leaves["upper_bound"] <= upper)
            for at in np.flatnonzero(inside):
                labels[at] = f"[{lower}, {upper})"
        leaves[f"level_{level}"] = labels
    return table(connection, leaves)


def effort(
    connection: duckdb.DuckDBPyConnection,
    number: int,
    frame: pd.DataFrame,
    levels: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Return an effort as the generated Python model hands it over."""
    return {"effort": number, "relation": table(connection, frame), "levels": levels or {}}


def table(connection: duckdb.DuckDBPyConnection, frame: pd.DataFrame) -> duckdb.DuckDBPyRelation:
    """Return a lazy relation over a new table."""
    name = f"t{len(connection.execute('select 1 from duckdb_tables()').fetchall())}"
    connection.register("incoming", frame)
    connection.execute(f"create table {name} as select * from incoming")
    connection.unregister("incoming")
    return connection.table(name)


def hold_out(target: np.ndarray, test_share: float, seed: int) -> Split:
    """Return the split of one stratified hold-out."""
    splitting = Splitting(repetitions=1, test_share=test_share)
    (split,) = draw_splits(splitting, seed, records=len(target), strata=target, groups=None)
    return split


def evaluated(
    connection: duckdb.DuckDBPyConnection, efforts: list[dict[str, Any]], **choices: Any
) -> pd.DataFrame:
    """Evaluate with short defaults; ``target`` and ``model`` stand for one of each.

    Without quantiles and seconds, which no two runs share, unless ``seconds`` says so.
    """
    is_whole = choices.pop("seconds", False)
    target = {"name": choices.pop("target", "label"), "task": choices.pop("task", "classification")}
    target |= {"positive": choices.pop("positive", None), "time": choices.pop("time", None)}
    model = {"name": choices.get("model", "decision_tree")}
    model |= {"model": choices.pop("model", "decision_tree")}
    model |= {"parameters": choices.pop("parameters", {})}
    splitting = {"repetitions": choices.pop("repetitions", 3)}
    if folds := choices.pop("folds", None):
        splitting["folds"] = folds
    else:
        splitting["test_share"] = choices.pop("test_share", 0.3)
    if "features" not in choices:
        tree = interval_hierarchy(connection, efforts)
        choices["features"] = [{"name": "age", "kind": "interval", "hierarchy": tree}]
    defaults: dict[str, Any] = {
        "anonymization": "test",
        "record_key": "record_id",
        "targets": [target],
        "models": [model],
        "splitting": splitting,
        "random_state": 1,
        "reading": {},
        "suppressed": "left_out",
        "fit": "once",
        "sample": 1_000_000,
    }
    found = evaluate(connection, {"efforts": efforts, **defaults, **choices})
    is_of_run = found["kind"].isin(["quantile", "seconds"])
    return found if is_whole else found[~is_of_run].reset_index(drop=True)


def scores(
    connection: duckdb.DuckDBPyConnection,
    efforts: list[dict[str, Any]],
    measure: str = "accuracy",
    **choices: Any,
) -> pd.DataFrame:
    """Evaluate, and return one measure of the model, failures with no value."""
    found = evaluated(connection, efforts, **choices)
    return measured(found, measure, choices.get("model", "decision_tree"))


def measured(
    found: pd.DataFrame, measure: str = "accuracy", model: str = "decision_tree"
) -> pd.DataFrame:
    """Return the rows of one measure of one model in the order of splits, original first."""
    is_measure = (found["kind"] == "measure") & (found["name"] == measure) & found["other"].isna()
    rows = found[(is_measure | (found["kind"] == "failure")) & (found["model"] == model)]
    order = ["effort", "target", "fit", "repetition", "fold", "test_on"]
    ascending = [True] * 5 + [False]
    columns = [*order, "value"]
    return rows.sort_values(order, ascending=ascending)[columns].reset_index(drop=True)


def mean(found: pd.DataFrame, effort_number: int, test_on: str = "original") -> float:
    """Return the mean score of an effort."""
    chosen = found[(found["effort"] == effort_number) & (found["test_on"] == test_on)]
    return float(chosen["value"].mean())
