"""What a model learns does not depend on how a table is written down.

Each test holds two descriptions of the same people against each other, or an anonymization that
loses nothing which the target needs against the untouched table.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.evaluation.data import features
from dbt_anonymize.evaluation.splits import seeds
from tests.case_studies.preparation import DATA
from tests.evaluation.conftest import Log
from tests.evaluation.tables import effort, evaluated, hold_out, mean, measured, table

Connection = duckdb.DuckDBPyConnection
SPLITTING = ["decision_tree", "random_forest", "extra_trees", "bagging", "gradient_boosting"]
OTHERS = ["logistic_regression", "naive_bayes", "linear_svm", "kernel_svm", "k_nearest_neighbours"]
WISCONSIN = DATA / "breast_cancer_wisconsin_original" / "breast-cancer-wisconsin.data"


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


@pytest.mark.parametrize("model", [*SPLITTING, *OTHERS])
def test_a_label_that_is_the_target_is_all_that_a_model_needs(
    connection: Connection, model: str
) -> None:
    efforts, features = job_efforts(connection)
    found = evaluated(connection, efforts, features=features, model=model, repetitions=2)
    scored = measured(found, model=model)
    for number in (0, 1):
        for test_on in ("original", "generalized"):
            assert mean(scored, number, test_on) == 1.0
    assert mean(scored, 2) < 0.6


AGES = intervals([0, 1, 2, 4, 8, 16, 32, 64], [0, 1, 4, 16, 64], [0, 4, 64])


def age_efforts(
    connection: Connection, tree: pd.DataFrame = AGES, suppressed: Sequence[int] = ()
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return 400 records of a number with NULL, in intervals of very unequal widths."""
    draws = np.random.default_rng(7)
    number = np.round(2 ** draws.uniform(0, 6, 400) - 1, 3)
    label = np.where(np.log2(number + 1) + draws.normal(0, 0.7, 400) > 2.6, "yes", "no")
    values = [None if n % 9 == 0 else value for n, value in enumerate(number.tolist())]
    levels = [{"age": level} for level in (1, 2, 3)]
    return efforts_of(
        connection, {"age": values}, {"age": tree}, levels, label, suppressed=suppressed
    )


@pytest.mark.parametrize("model", SPLITTING)
def test_models_that_split_read_originals_as_their_intervals(
    connection: Connection, model: str
) -> None:
    efforts, features = age_efforts(connection, suppressed=range(0, 400, 7))
    found = evaluated(connection, efforts, features=features, model=model, positive="yes")
    for measure in ("accuracy", "roc_auc", "log_loss"):
        scored = measured(found, measure, model)
        by_test = scored.pivot_table(
            index=["effort", "repetition"], columns="test_on", values="value"
        )
        pd.testing.assert_series_equal(
            by_test["original"], by_test["generalized"], check_names=False, check_exact=True
        )


def test_midpoints_of_unequal_intervals_mislead_a_tree_that_asks_for_them(
    connection: Connection,
) -> None:
    efforts, features = age_efforts(connection)
    choices: dict[str, Any] = {"features": features, "repetitions": 10}
    found = [
        measured(evaluated(connection, efforts, reading={"numbers": numbers}, **choices))
        for numbers in ("by_model", "midpoint")
    ]
    assert mean(found[0], 3) > mean(found[1], 3) + 0.05
    assert mean(found[0], 3, "generalized") == mean(found[1], 3, "generalized")


@pytest.mark.parametrize("model", [*SPLITTING, *OTHERS])
def test_bounds_that_no_record_reaches_change_nothing(connection: Connection, model: str) -> None:
    draws = np.random.default_rng(5)
    ages = draws.uniform(0, 60, 300).tolist()
    label = np.where(np.array(ages) + draws.normal(0, 15, 300) > 30, "yes", "no")
    values = [None if n % 5 == 0 else value for n, value in enumerate(ages)]
    found = []
    for end in (60, 1000):
        bounds = [0, 20, 40, 60, *([end] if end > 60 else [])]
        tree = intervals(bounds)
        levels = [{"age": 1}]
        efforts, features = efforts_of(connection, {"age": values}, {"age": tree}, levels, label)
        found.append(evaluated(connection, efforts, features=features, model=model, repetitions=2))
    pd.testing.assert_frame_equal(found[0], found[1], check_exact=True)


@pytest.mark.parametrize("model", ["decision_tree", "random_forest", "logistic_regression"])
def test_how_a_hierarchy_is_written_changes_nothing(connection: Connection, model: str) -> None:
    swapped = [f"job {number}" for number in (1, 0, 2, 3, 7, 5, 6, 4)]
    extra = pd.DataFrame({"value": ["job 8", "job 9"], "level_1": ["public", "new"]})
    changes: dict[str, dict[str, Any]] = {
        "as it is": {},
        "leaves in another order": {"tree": JOBS.sample(frac=1, random_state=3)},
        "siblings exchanged": {"jobs": swapped},
        "leaves that no record has": {"tree": pd.concat([JOBS, extra.assign(level_2="*")])},
    }
    found = {}
    for name, change in changes.items():
        efforts, features = job_efforts(connection, **change)
        if name == "siblings exchanged":
            # Level 0 tells siblings apart; features in another order are other draws.
            efforts[0] = job_efforts(connection)[0][0]
        found[name] = evaluated(connection, efforts, features=features, model=model)
        found[name] = found[name][found[name]["effort"] > 0].reset_index(drop=True)
    for name in changes:
        pd.testing.assert_frame_equal(found[name], found["as it is"], check_exact=True, obj=name)


@pytest.mark.parametrize("model", ["decision_tree", "random_forest", "naive_bayes"])
def test_labels_that_no_record_tells_apart_may_be_refined(
    connection: Connection, model: str
) -> None:
    draws = np.random.default_rng(3)
    # Nobody is in [20, 40), which one hierarchy parts.
    ages = np.concatenate([draws.uniform(0, 20, 150), draws.uniform(40, 60, 150)])
    label = np.where(ages + draws.normal(0, 20, 300) > 30, "yes", "no")
    found = []
    for bounds in ([0, 10, 20, 40, 50, 60], [0, 10, 20, 25, 30, 40, 50, 60]):
        efforts, features = efforts_of(
            connection, {"age": ages.tolist()}, {"age": intervals(bounds)}, [{"age": 1}], label
        )
        found.append(evaluated(connection, efforts, features=features, model=model))
    pd.testing.assert_frame_equal(found[0], found[1], check_exact=True)


@pytest.mark.parametrize("model", ["random_forest", "logistic_regression"])
def test_originals_are_read_without_their_own_generalization(
    connection: Connection, model: str
) -> None:
    # The labels, bounds and suppression of test records alone are others.
    efforts, features = age_efforts(connection)
    before = evaluated(connection, efforts, features=features, model=model, repetitions=1)
    codes = np.unique(efforts[0]["relation"].order("record_id").df()["label"], return_inverse=True)
    test = hold_out(codes[1], 0.3, seeds(1, 1)[0]).test
    changed = [efforts[0]]
    for each in efforts[1:]:
        frame = each["relation"].df().sort_values("record_id").reset_index(drop=True)
        parts = ["age", "age_lower", "age_upper"]
        frame.loc[test, parts] = frame.loc[np.roll(test, 1), parts].to_numpy()
        frame.loc[test, "is_suppressed"] = test % 2 == 0
        changed.append({**each, "relation": table(connection, frame)})
    after = evaluated(connection, changed, features=features, model=model, repetitions=1)
    originals = [e[e["test_on"] == "original"].reset_index(drop=True) for e in (before, after)]
    pd.testing.assert_frame_equal(*originals, check_exact=True)
    scored = [measured(each, model=model) for each in (before, after)]
    assert mean(scored[0], 2, "generalized") != mean(scored[1], 2, "generalized")


def test_a_biased_representative_still_masks_what_a_linear_model_loses(
    connection: Connection,
) -> None:
    # Values lie in the first tenth of their interval, so its midpoint is far above them.
    draws = np.random.default_rng(2)
    values = draws.integers(0, 5, 500) * 20 + draws.uniform(0, 2, 500)
    columns = {"x": values.tolist()}
    trees = {"x": intervals([0, 20, 40, 60, 80, 100])}
    efforts, features = efforts_of(connection, columns, trees, [{"x": 1}], ["-"] * 500)
    for each in efforts:
        each["relation"] = each["relation"].join(
            table(connection, pd.DataFrame({"record_id": range(500), "y": values})), "record_id"
        )
        each["relation"] = each["relation"].project("*, x_lower as equivalence_class")
    found = {}
    for numbers in ("midpoint", "class_mean"):
        scored = evaluated(
            connection,
            efforts,
            features=features,
            target="y",
            task="regression",
            model="linear_regression",
            reading={"numbers": numbers},
        )
        found[numbers] = measured(scored, "r2", "linear_regression")
    assert mean(found["midpoint"], 1, "generalized") > 0.99
    assert mean(found["midpoint"], 1, "original") < 0.95
    assert mean(found["class_mean"], 1, "original") > 0.99


@pytest.mark.skipif(not WISCONSIN.exists(), reason="needs the data of DBT_ANONYMIZE_DATA")
def test_rare_categories_do_not_outweigh_the_others(connection: Connection) -> None:
    with WISCONSIN.open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    frame = pd.DataFrame(records).drop(columns=["id"])  # grades as text
    grades = [name for name in frame if name != "class"]
    frame["record_id"] = range(len(frame))
    frame["is_suppressed"] = False
    found = evaluated(
        connection,
        [effort(connection, 0, frame)],
        features=[{"name": name, "kind": "plain"} for name in grades],
        target="class",
        model="logistic_regression",
        positive="4",
        repetitions=1,
        folds=10,
    )
    auc = mean(measured(found, "roc_auc", "logistic_regression"), 0)
    # Divided by their deviation, grades that are rare decide: 0.982.
    assert auc == pytest.approx(0.992, abs=0.003)


def test_log_and_table_say_at_which_level_a_long_list_is_read(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, log: Log
) -> None:
    monkeypatch.setattr(features, "MOST_CATEGORIES", 5)
    efforts, read = job_efforts(connection)
    found = evaluated(connection, efforts, features=read, repetitions=1)
    rows = found[found["kind"] == "reading"][["effort", "name", "other", "value"]]
    assert rows.to_numpy().tolist() == [[0, "job", "0", 1.0]]
    line = "labels at level 0; models read it at level 1 in effort 0"
    assert [line in written for written in log.lines].count(True) == 1
    # Every effort is read alike, so that nothing is lost by effort 1.
    assert mean(measured(found), 0) == mean(measured(found), 1) == 1.0


def recoded_ages(
    connection: Connection, shown: Sequence[tuple[float, float, int | None]], limit: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return 600 ages and a recoding of them to given intervals with their levels.

    The target is whether an age is at least the limit, one of the bounds.
    """
    tree = intervals(list(range(0, 101, 10)), [0, 50, 100])
    ages = np.random.default_rng(4).uniform(0, 100, 600)
    label = np.where(ages >= limit, "yes", "no").tolist()
    efforts, features = efforts_of(connection, {"age": ages.tolist()}, {"age": tree}, [], label)
    frame = efforts[0]["relation"].df().sort_values("record_id").reset_index(drop=True)
    at = [next(i for i in shown if i[0] <= age < i[1]) for age in ages]
    frame["age_lower"], frame["age_upper"] = [i[0] for i in at], [i[1] for i in at]
    frame["age"] = [f"[{i[0]}, {i[1]})" for i in at]
    frame["age_level"] = pd.array([i[2] for i in at], dtype="Int32")
    efforts.append({**effort(connection, 1, frame), "levels": "per record"})
    return efforts, features


COARSE_REGION = [*((float(a), a + 10.0, 1) for a in range(0, 50, 10)), (50.0, 100.0, 2)]
BETWEEN_LEVELS = [(0.0, 10.0, 1), (10.0, 30.0, None), (30.0, 100.0, None)]


@pytest.mark.parametrize("model", SPLITTING)
@pytest.mark.parametrize(
    ("shown", "limit"), [(COARSE_REGION, 50.0), (BETWEEN_LEVELS, 30.0)], ids=["coarse", "between"]
)
def test_a_recoding_that_keeps_the_bound_of_the_target_loses_nothing(
    connection: Connection, model: str, shown: Any, limit: float
) -> None:
    efforts, features = recoded_ages(connection, shown, limit)
    found = evaluated(connection, efforts, features=features, model=model, repetitions=2)
    scored = measured(found, model=model)
    assert mean(scored, 1, "original") == 1.0
    assert mean(scored, 1, "generalized") == 1.0


def recoded_jobs(connection: Connection) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return jobs of which all private ones are recoded to their label."""
    efforts, features = job_efforts(connection)
    frame = efforts[0]["relation"].df().sort_values("record_id").reset_index(drop=True)
    is_private = frame["label"] == "no"
    frame["job_level"] = is_private.astype(int)
    frame.loc[is_private, "job"] = "private"
    return [efforts[0], {**effort(connection, 1, frame), "levels": "per record"}], features


@pytest.mark.parametrize("model", [*SPLITTING, *OTHERS])
def test_a_region_that_is_coarse_throughout_is_read_as_itself(
    connection: Connection, model: str
) -> None:
    efforts, features = recoded_jobs(connection)
    found = evaluated(connection, efforts, features=features, model=model, repetitions=1)
    scored = measured(found, model=model)
    assert mean(scored, 1, "original") == 1.0
    assert mean(scored, 1, "generalized") == 1.0


@pytest.mark.parametrize("model", ["random_forest", "logistic_regression"])
@pytest.mark.parametrize("kind", ["interval", "categorical"])
def test_how_test_records_are_recoded_changes_no_original(
    connection: Connection, model: str, kind: str
) -> None:
    if kind == "interval":
        efforts, features = recoded_ages(connection, COARSE_REGION, 47.0)
        change = {"age": "[0, 50)", "age_lower": 0.0, "age_upper": 50.0, "age_level": 2}
    else:
        efforts, features = recoded_jobs(connection)
        change = {"job": "*", "job_level": 2}
    before = evaluated(connection, efforts, features=features, model=model, repetitions=1)
    frame = efforts[1]["relation"].df().sort_values("record_id").reset_index(drop=True)
    codes = np.unique(frame["label"], return_inverse=True)[1]
    test = hold_out(codes, 0.3, seeds(1, 1)[0]).test
    frame.loc[test[::3], list(change)] = list(change.values())
    frame.loc[test[1::3], "is_suppressed"] = True
    efforts[1]["relation"] = table(connection, frame)
    after = evaluated(connection, efforts, features=features, model=model, repetitions=1)
    originals = [e[e["test_on"] == "original"].reset_index(drop=True) for e in (before, after)]
    pd.testing.assert_frame_equal(*originals, check_exact=True)


@pytest.mark.parametrize("model", ["decision_tree", "logistic_regression", "k_nearest_neighbours"])
def test_a_feature_of_nothing_but_null_teaches_nothing(connection: Connection, model: str) -> None:
    label = ["yes", "no"] * 30
    for values, tree in (([None] * 60, JOBS), ([None] * 60, AGES)):
        name = "job" if tree is JOBS else "age"
        levels = [{name: 1}]
        efforts, features = efforts_of(connection, {name: values}, {name: tree}, levels, label)
        found = measured(
            evaluated(connection, efforts, features=features, model=model), model=model
        )
        assert found["value"].tolist() == [0.5] * 12
