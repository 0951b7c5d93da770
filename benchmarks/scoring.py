"""Time the scoring of wdbc against a plain scikit-learn loop over the same splits.

The Wisconsin data (569 records, 2 features), effort 0 and equal-width intervals of mean radius
(1, 3, 5, 7, 9, 11), a random forest of 100 trees for each effort and repetition, tested on
original and on generalized records. Both ways run in this process one after the other, and their
scores are compared::

    python benchmarks/scoring.py --repetitions 100 --plain-repetitions 20
"""

from __future__ import annotations

import argparse
import os
import sys
import time

import duckdb
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from dbt_anonymize.evaluation import evaluate
from dbt_anonymize.evaluation.splits import seeds, split_records
from dbt_anonymize.evaluation.workers import WORKERS_VARIABLE, worker_count

WIDTHS = (0, 1, 3, 5, 7, 9, 11)


def source() -> pd.DataFrame:
    """Return the records that scikit-learn ships."""
    data = load_breast_cancer()
    frame = pd.DataFrame(data.data[:, [0, 8]], columns=["mean_radius", "mean_symmetry"])
    frame["diagnosis"] = data.target_names[data.target]
    frame["record_id"] = np.arange(len(frame))
    return frame


def make_efforts(connection: duckdb.DuckDBPyConnection, frame: pd.DataFrame) -> list[dict]:
    """Create one table per effort, with the columns of an effort view."""
    connection.register("wdbc", frame)
    efforts = []
    for number, width in enumerate(WIDTHS):
        lower = f"floor(mean_radius / {width}) * {width}" if width else "mean_radius"
        connection.execute(
            f"create table effort_{number} as select *, {lower} as mean_radius_lower, "  # noqa: S608
            f"{lower} + {width} as mean_radius_upper, false as is_suppressed from wdbc"
        )
        relation = connection.table(f"effort_{number}")
        efforts.append({"effort": number, "relation": relation, "levels": {}})
    return efforts


def run_ours(efforts: list[dict], connection: duckdb.DuckDBPyConnection, repetitions: int):
    """Return the scores of ``evaluate``."""
    return evaluate(
        connection,
        anonymization="wdbc",
        efforts=efforts,
        record_key="record_id",
        target="diagnosis",
        features=[
            {"name": "mean_radius", "kind": "interval"},
            {"name": "mean_symmetry", "kind": "plain"},
        ],
        model="random_forest",
        parameters={"n_estimators": 100},
        measure="accuracy",
        positive=None,
        repetitions=repetitions,
        test_share=0.3,
        random_state=1,
    )


def run_plain(frame: pd.DataFrame, repetitions: int, workers: int) -> np.ndarray:
    """Return the same scores by effort, repetition and kind of test, one process per core."""
    target = np.unique(frame["diagnosis"], return_inverse=True)[1]
    matrices = []
    for width in WIDTHS:
        matrix = frame[["mean_radius", "mean_symmetry"]].to_numpy(copy=True)
        if width:
            matrix[:, 0] = np.floor(matrix[:, 0] / width) * width + width / 2
        matrices.append(matrix)
    values = Parallel(n_jobs=workers)(
        delayed(plain_model)(matrix, matrices[0], target, repetition)
        for matrix in matrices
        for repetition in range(1, repetitions + 1)
    )
    return np.array(values).reshape(len(WIDTHS), repetitions, 2)


def plain_model(matrix: np.ndarray, original: np.ndarray, target: np.ndarray, repetition: int):
    """Train one forest and return its accuracy on original and generalized test records."""
    split_seed, model_seed = seeds(1, repetition)
    split = split_records(target, 0.3, split_seed)
    forest = RandomForestClassifier(n_estimators=100, random_state=model_seed)
    forest.fit(matrix[split.train], target[split.train])
    true = target[split.test]
    return [float((forest.predict(rows[split.test]) == true).mean()) for rows in (original, matrix)]


def main() -> None:
    """Run both and write what they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--plain-repetitions", type=int, default=20)
    parser.add_argument("--workers", type=int, default=0, help="0: all cores")
    options = parser.parse_args()
    if options.workers:
        os.environ[WORKERS_VARIABLE] = str(options.workers)
    workers = worker_count()
    frame = source()
    connection = duckdb.connect()
    efforts = make_efforts(connection, frame)

    started = time.perf_counter()
    scores = run_ours(efforts, connection, options.repetitions)
    ours = time.perf_counter() - started
    started = time.perf_counter()
    plain = run_plain(frame, options.plain_repetitions, workers)
    theirs = time.perf_counter() - started

    found = scores["value"].to_numpy().reshape(len(WIDTHS), options.repetitions, 2)
    shared = min(options.repetitions, options.plain_repetitions)
    is_same = np.array_equal(found[:, :shared], plain[:, :shared])
    per_model = ours / (len(WIDTHS) * options.repetitions) * 1e3
    per_plain = theirs / (len(WIDTHS) * options.plain_repetitions) * 1e3
    sys.stdout.write(
        f"workers {workers}\n"
        f"dbt-anonymize  {options.repetitions * len(WIDTHS):5d} models {ours:7.1f} s "
        f"{per_model:7.1f} ms each\n"
        f"plain loop     {plain[..., 0].size:5d} models {theirs:7.1f} s {per_plain:7.1f} ms each\n"
        f"ratio {per_plain / per_model:.1f}, equal scores: {is_same}\n"
        f"mean by effort (original)    {np.round(found[..., 0].mean(axis=1), 4).tolist()}\n"
        f"mean by effort (generalized) {np.round(found[..., 1].mean(axis=1), 4).tolist()}\n"
    )


if __name__ == "__main__":
    main()
