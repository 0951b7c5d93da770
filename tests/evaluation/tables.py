"""Small efforts as real DuckDB relations, in the shape of the effort views."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd

from dbt_anonymize.evaluation import evaluate

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
        efforts.append(effort(connection, number, frame))
    return efforts


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


def scores(
    connection: duckdb.DuckDBPyConnection, efforts: list[dict[str, Any]], **choices: Any
) -> pd.DataFrame:
    """Evaluate with short defaults."""
    defaults: dict[str, Any] = {
        "anonymization": "test",
        "record_key": "record_id",
        "target": "label",
        "features": [{"name": "age", "kind": "interval"}],
        "model": "decision_tree",
        "parameters": {},
        "measure": "accuracy",
        "positive": None,
        "repetitions": 3,
        "test_share": 0.3,
        "random_state": 1,
    }
    return evaluate(connection, efforts=efforts, **{**defaults, **choices})


def mean(found: pd.DataFrame, effort_number: int, test_on: str = "original") -> float:
    """Return the mean score of an effort."""
    chosen = found[(found["effort"] == effort_number) & (found["test_on"] == test_on)]
    return float(chosen["value"].mean())
