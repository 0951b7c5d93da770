"""Efforts that models read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from tests.evaluation.tables import effort, table

Connection = duckdb.DuckDBPyConnection


SPLITTING = ["decision_tree", "random_forest", "extra_trees", "bagging", "gradient_boosting"]


OTHERS = ["logistic_regression", "naive_bayes", "linear_svm", "kernel_svm", "k_nearest_neighbours"]


def efforts_of(
    connection: Connection,
    columns: Mapping[str, Sequence[Any]],
    trees: Mapping[str, pd.DataFrame],
    levels: Sequence[Mapping[str, int]],
    label: Sequence[str],
    *,
    suppressed: Sequence[Any] = (),
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return efforts at levels of hierarchies as dbt would build them, and their features.

    A tree with ``lower_bound`` is one of intervals; None is NULL.
    """
    found = []
    for number, chosen in enumerate([dict.fromkeys(columns, 0), *levels]):
        frame = pd.DataFrame({"record_id": np.arange(len(label)), "label": label})
        frame["is_suppressed"] = np.isin(np.arange(len(label)), suppressed) & bool(number)
        for name, values in columns.items():
            tree, level = trees[name], chosen[name]
            own = f"level_{level}" if level else None
            if "lower_bound" not in tree:
                label_of = dict(zip(tree["value"], tree[own or "value"], strict=True))
                frame[name] = ["*" if v is None else label_of[v] for v in values]
                continue
            frame[[name, f"{name}_lower", f"{name}_upper"]] = _intervals(tree, own, values)
        found.append(effort(connection, number, frame, {**chosen}))
    features = [
        {
            "name": name,
            "kind": "interval" if "lower_bound" in tree else "categorical",
            "hierarchy": table(connection, tree),
        }
        for name, tree in trees.items()
    ]
    return found, features


def _intervals(
    tree: pd.DataFrame, level: str | None, values: Sequence[float | None]
) -> list[list[Any]]:
    """Return label and bounds of each number; NULL is ``*`` and covers everything."""
    labels = tree if level is None else tree.assign(label=tree[level])
    if level is not None:
        of_label = labels.groupby("label")
        labels["lower"] = of_label["lower_bound"].transform("min")
        labels["upper"] = of_label["upper_bound"].transform("max")
    rows = [] if level is None else labels[["label", "lower", "upper"]].to_numpy().tolist()
    leaf = np.searchsorted(tree["lower_bound"], [v or 0.0 for v in values], side="right") - 1
    whole = ["*", tree["lower_bound"].min(), tree["upper_bound"].max()]
    return [
        whole if value is None else rows[at] if rows else [str(value), value, value]
        for value, at in zip(values, leaf.tolist(), strict=True)
    ]


def intervals(bounds: Sequence[float], *coarser: Sequence[float]) -> pd.DataFrame:
    """Return a hierarchy: leaves between bounds, and for each level the bounds that it keeps."""
    tree = pd.DataFrame({"lower_bound": bounds[:-1], "upper_bound": bounds[1:]}, dtype=float)
    for level, kept in enumerate((bounds, *coarser), start=1):
        place = np.searchsorted(kept, tree["lower_bound"], side="right") - 1
        tree[f"level_{level}"] = [f"[{kept[at]}, {kept[at + 1]})" for at in place]
    return tree


JOBS = pd.DataFrame(
    {
        "value": [f"job {number}" for number in range(8)],
        "level_1": ["public"] * 4 + ["private"] * 4,
        "level_2": "*",
    }
)


def job_efforts(
    connection: Connection, tree: pd.DataFrame = JOBS, jobs: Sequence[str] | None = None
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return 2,000 records whose target is whether their job is public."""
    drawn = np.random.default_rng(1).integers(0, 8, 2000)
    own = [f"job {number}" for number in drawn] if jobs is None else [jobs[n] for n in drawn]
    label = np.where(drawn < 4, "yes", "no").tolist()
    return efforts_of(connection, {"job": own}, {"job": tree}, [{"job": 1}, {"job": 2}], label)


AGES = intervals([0, 1, 2, 4, 8, 16, 32, 64], [0, 1, 4, 16, 64], [0, 4, 64])
