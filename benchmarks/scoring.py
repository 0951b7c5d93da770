"""Time the evaluation of models against a plain scikit-learn loop over the same splits.

The Wisconsin data (569 records, 2 features), effort 0 and equal-width intervals of mean radius
(1, 3, 5, 7, 9, 11). For each effort and repetition a model and the zero rule are trained, and
tested on original and on generalized records. The plain loop does the same, one process per core,
with the measures of scikit-learn; measures, and what was predicted by way of them, are compared::

    python benchmarks/scoring.py --repetitions 20 --models random_forest naive_bayes

Both are timed in the same run: seconds on the clock, and seconds of all cores together (CPU), which
tell more where the cores are shared. Both include the start of worker processes, which ``evaluate``
saves where work is small; ``--workers 1`` compares without them. ``fit`` is the part of the CPU
time of the plain loop that it trains and predicts, without measures.

With ``--records`` a table of that many records is drawn instead, in a database file, and a seeded
sample of it is evaluated: time, and the largest memory of all processes together (proportional set
size; Linux only), the database included::

    python benchmarks/scoring.py --records 10000000
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from metering import Clock, Memory
from sklearn import metrics
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from dbt_anonymize.evaluation import evaluate
from dbt_anonymize.evaluation.splits import Splitting, draw_splits, seeds
from dbt_anonymize.evaluation.workers import WORKERS_VARIABLE, worker_count

WIDTHS = (0, 1, 3, 5, 7, 9, 11)
TEST_SHARE = 0.3
# How somebody would write each model by hand.
PLAIN: dict[str, Callable[[int], ClassifierMixin]] = {
    "random_forest": lambda seed: RandomForestClassifier(random_state=seed),
    "bagging": lambda seed: BaggingClassifier(random_state=seed),
    "extra_trees": lambda seed: ExtraTreesClassifier(random_state=seed),
    "decision_tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "logistic_regression": lambda seed: make_pipeline(
        StandardScaler(), LogisticRegression(random_state=seed)
    ),
    "naive_bayes": lambda _: GaussianNB(),
    "gradient_boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "k_nearest_neighbours": lambda _: make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "linear_svm": lambda seed: make_pipeline(StandardScaler(), LinearSVC(random_state=seed)),
    "kernel_svm": lambda seed: make_pipeline(StandardScaler(), SVC(random_state=seed)),
}
# Of a model without probabilities, those that need them are missing.
MEASURES = ("accuracy", "balanced_accuracy", "roc_auc", "brier_score", "log_loss", "f1")
# Sums in another order may differ in the last digits.
EQUAL = 1e-9
# Of the large table.
LARGE_SAMPLE = 1_000_000
LARGE_MODELS = ("naive_bayes", "logistic_regression", "decision_tree")
LARGE_WIDTHS = (0, 2, 5, 10)


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
        efforts.append({"effort": number, "relation": relation, "levels": {"mean_radius": number}})
    labels = [f"range // {width} as level_{level}" for level, width in enumerate(WIDTHS) if width]
    connection.execute(
        "create table radii as select range as lower_bound, range + 1 as upper_bound, "  # noqa: S608
        f"{', '.join(labels)} from range(66)"
    )
    return efforts


def run_ours(
    efforts: list[dict], connection: duckdb.DuckDBPyConnection, model: str, repetitions: int
) -> pd.DataFrame:
    """Return what ``evaluate`` finds."""
    return evaluate(
        connection,
        anonymization="wdbc",
        efforts=efforts,
        record_key="record_id",
        features=[
            {
                "name": "mean_radius",
                "kind": "interval",
                "hierarchy": connection.table("radii"),
            },
            {"name": "mean_symmetry", "kind": "plain"},
        ],
        targets=[{"name": "diagnosis", "positive": "malignant"}],
        **choices([model], repetitions, LARGE_SAMPLE),
    )


def choices(models: Sequence[str], repetitions: int, sample: int) -> dict[str, Any]:
    """Return the arguments of ``evaluate`` that all runs share."""
    return {
        "models": [{"name": model, "model": model} for model in models],
        "splitting": {"repetitions": repetitions, "test_share": TEST_SHARE},
        "random_state": 1,
        "reading": {"numbers": "midpoint"},
        "suppressed": "left_out",
        "fit": "once",
        "sample": sample,
    }


def ours_as_array(found: pd.DataFrame, model: str, repetitions: int) -> np.ndarray:
    """Return measures by effort, repetition, model, kind of test and measure."""
    is_measure = (found["kind"] == "measure") & found["other"].isna()
    rows = found[is_measure & found["name"].isin(MEASURES)]
    keys = ["effort", "repetition", "model", "test_on", "name"]
    values = rows.set_index(keys)["value"]
    names = [model, "zero_rule"], ["original", "generalized"], list(MEASURES)
    index = [range(len(WIDTHS)), range(1, repetitions + 1), *names]
    wanted = pd.MultiIndex.from_product(index, names=keys)
    return values.reindex(wanted).to_numpy().reshape([len(part) for part in index])


def run_plain(
    frame: pd.DataFrame, model: str, repetitions: int, workers: int
) -> tuple[np.ndarray, float]:
    """Return the same measures, and CPU seconds without forming them."""
    target = np.unique(frame["diagnosis"] == "malignant", return_inverse=True)[1]
    matrices = []
    for width in WIDTHS:
        matrix = frame[["mean_radius", "mean_symmetry"]].to_numpy(copy=True)
        if width:
            matrix[:, 0] = np.floor(matrix[:, 0] / width) * width + width / 2
        matrices.append(matrix)
    with threadpool_limits(1):  # as joblib does in other processes
        done = Parallel(n_jobs=workers)(
            delayed(plain_models)(matrix, matrices[0], target, model, repetition)
            for matrix in matrices
            for repetition in range(1, repetitions + 1)
        )
    shape = (len(WIDTHS), repetitions, 2, 2, len(MEASURES))
    return np.array([values for values, _ in done]).reshape(shape), sum(s for _, s in done)


def plain_models(
    matrix: np.ndarray, original: np.ndarray, target: np.ndarray, name: str, repetition: int
) -> tuple[list[float], float]:
    """Train a model and the zero rule; return measures on original and generalized records."""
    split_seed, model_seed = seeds(1, repetition)
    hold_out = Splitting(repetitions=1, test_share=TEST_SHARE)
    (split,) = draw_splits(hold_out, split_seed, records=len(target), strata=target, groups=None)
    values, seconds = [], 0.0
    for model in (PLAIN[name](model_seed), DummyClassifier(strategy="prior")):
        started = time.process_time()
        model.fit(matrix[split.train], target[split.train])
        found = [predictions(model, rows[split.test]) for rows in (original, matrix)]
        seconds += time.process_time() - started
        for labels, scores, probabilities in found:
            values += plain_measures(target[split.test], labels, scores, probabilities)
    return values, seconds


def predictions(
    model: ClassifierMixin, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return classes, scores of the positive class, and the probabilities if there are any."""
    if not hasattr(model, "predict_proba"):
        return model.predict(rows), model.decision_function(rows), None
    probabilities = model.predict_proba(rows)
    return model.predict(rows), probabilities[:, 1], probabilities


def plain_measures(
    true: np.ndarray, labels: np.ndarray, scores: np.ndarray, probabilities: np.ndarray | None
) -> list[float]:
    """Return ``MEASURES`` as scikit-learn forms them."""
    brier = loss = np.nan
    if probabilities is not None:
        brier = metrics.brier_score_loss(true, probabilities[:, 1])
        loss = metrics.log_loss(true, probabilities)
    return [
        metrics.accuracy_score(true, labels),
        metrics.balanced_accuracy_score(true, labels),
        metrics.roc_auc_score(true, scores),
        brier,
        loss,
        metrics.f1_score(true, labels),
    ]


def compare(models: Sequence[str], repetitions: int) -> None:
    """Run both ways for each model, and write what they took."""
    workers = worker_count()
    frame = source()
    connection = duckdb.connect()
    efforts = make_efforts(connection, frame)
    run_ours(efforts, connection, "decision_tree", 1)  # imports, and the checks of the forest
    _write(
        f"workers {workers}, {len(WIDTHS) * repetitions} of each model\n"
        f"{'model':<21}{'plain s':>9}{'ours s':>9}{'ratio':>7}{'plain CPU':>11}{'ours CPU':>10}"
        f"{'ratio':>7}{'fit CPU':>9}{'ratio':>7}  measures\n"
    )
    for model in models:
        ours, theirs = Clock(), Clock()
        with theirs.running():
            plain, fitting = run_plain(frame, model, repetitions, workers)
        with ours.running():
            found = run_ours(efforts, connection, model, repetitions)
        _write(
            f"{model:<21}{theirs.wall:9.2f}{ours.wall:9.2f}{theirs.wall / ours.wall:7.1f}"
            f"{theirs.cpu:11.2f}{ours.cpu:10.2f}{theirs.cpu / ours.cpu:7.1f}"
            f"{fitting:9.2f}{fitting / ours.cpu:7.1f}  "
            f"{_difference(ours_as_array(found, model, repetitions), plain)}\n"
        )


def _difference(ours: np.ndarray, plain: np.ndarray) -> str:
    if not np.array_equal(np.isnan(ours), np.isnan(plain)):
        return "differ in what is missing"
    largest = float(np.nanmax(np.abs(ours - plain)))
    if largest <= EQUAL:
        return "equal"
    share = np.mean(np.nan_to_num(np.abs(ours - plain)) > EQUAL)
    return f"{share:.2%} differ, by at most {largest:.1e}"


def large(records: int, models: Sequence[str], repetitions: int, memory_limit: str | None) -> None:
    """Evaluate a sample of a large table, and write time and memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.duckdb"
        with duckdb.connect(str(path)) as connection:
            draw_large(connection, records)
        connection = duckdb.connect(str(path))
        if memory_limit:
            connection.execute(f"set memory_limit = '{memory_limit}'")
        clock, memory = Clock(), Memory()
        with memory.watched(), clock.running():
            found = evaluate(
                connection,
                anonymization="large",
                efforts=[
                    {
                        "effort": number,
                        "relation": connection.table(f"effort_{number}"),
                        "levels": {"age": number, "region": number},
                    }
                    for number in range(len(LARGE_WIDTHS))
                ],
                record_key="record_id",
                features=[
                    {"name": "age", "kind": "interval", "hierarchy": connection.table("ages")},
                    {
                        "name": "region",
                        "kind": "categorical",
                        "hierarchy": connection.table("regions"),
                    },
                    {"name": "income", "kind": "plain"},
                ],
                targets=[{"name": "churned", "positive": "yes"}],
                **choices(models, repetitions, LARGE_SAMPLE),
            )
    failures = int((found["kind"] == "failure").sum())
    _write(
        f"{records:,} records, sample {LARGE_SAMPLE:,}, {len(LARGE_WIDTHS)} efforts, "
        f"{repetitions} repetitions, workers {worker_count()}, models {', '.join(models)}\n"
        f"{clock.wall:.1f} s, {clock.cpu:.1f} s of CPU, at most {memory.largest / 1e9:.2f} GB "
        f"(with {memory.before / 1e9:.2f} GB before), {failures} failures\n"
    )


def draw_large(connection: duckdb.DuckDBPyConnection, records: int) -> None:
    """Create the source, a hierarchy of 50 regions, and the efforts as views."""
    connection.execute("select setseed(0.5)")
    connection.execute(
        f"""
        create table customers as
        select
            range as record_id,
            18 + floor(random() * 70) as age,
            'r' || cast(floor(random() * 50) as integer) as region,
            round(1000 + 500 * random() * random(), 1) as income,
            random() as luck
        from range({records})
        """  # noqa: S608
    )
    labels = [
        f"range // {width} as level_{level}" for level, width in enumerate(LARGE_WIDTHS) if width
    ]
    connection.execute(
        "create table ages as select range as lower_bound, range + 1 as upper_bound, "  # noqa: S608
        f"{', '.join(labels)} from range(120)"
    )
    connection.execute(
        """
        create table regions as
        select 'r' || range as value, 'a' || range // 5 as level_1, 'b' || range // 10 as level_2,
            '*' as level_3
        from range(50)
        """
    )
    for number, width in enumerate(LARGE_WIDTHS):
        lower = f"floor(age / {width}) * {width}" if width else "age"
        label = f"regions.level_{number}" if number else "region"
        connection.execute(
            f"""
            create view effort_{number} as
            select
                record_id,
                income,
                case when luck < age / 100 then 'yes' else 'no' end as churned,
                '[' || {lower} as age,
                {lower} as age_lower,
                {lower} + {width} as age_upper,
                {label} as region,
                {number} > 0 and luck > 0.99 as is_suppressed
            from customers
            inner join regions on regions.value = customers.region
            """  # noqa: S608
        )


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main() -> None:
    """Read the options and run one of both parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=0, help="default 20; with --records 1")
    parser.add_argument("--models", nargs="+", choices=sorted(PLAIN), default=None)
    parser.add_argument("--workers", type=int, default=0, help="0: all cores")
    parser.add_argument("--records", type=int, default=0, help="of a drawn table")
    parser.add_argument("--memory-limit", default=None, help="of the database, like 1GB")
    options = parser.parse_args()
    if options.workers:
        os.environ[WORKERS_VARIABLE] = str(options.workers)
    if options.records:
        models = options.models or LARGE_MODELS
        large(options.records, models, options.repetitions or 1, options.memory_limit)
    else:
        compare(options.models or list(PLAIN), options.repetitions or 20)


if __name__ == "__main__":
    main()
