"""Quality by group of test records, against a plain scikit-learn loop."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.splits import seeds
from dbt_anonymize.extensions.inspection.groups import MOST_GROUPS, make_groups
from tests.evaluation.tables import (
    CLASSES,
    effort,
    evaluated,
    hold_out,
    interval_efforts,
    interval_hierarchy,
)
from tests.evaluation.test_unsupervised import features, people

Connection = duckdb.DuckDBPyConnection
# 58 records of a sex that is known, one of a third sex, one NULL.
SEX = ["f" if number % 3 else "m" for number in range(58)] + ["x", None]
MODEL = {"model": "decision_tree", "parameters": {"max_depth": 2}}
MIDPOINTS = {"reading": {"numbers": "midpoint"}}


def grouped(connection: Connection, **choices: Any) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    """Return the evaluation of ages by sex and by decade, and the efforts."""
    efforts = interval_efforts(connection, widths=(0, 10), suppressed=(1, 2, 30))
    tree = interval_hierarchy(connection, efforts)
    frames = [e["relation"].df().sort_values("record_id") for e in efforts]
    efforts = [
        effort(connection, number, frame.assign(sex=SEX), {"age": number})
        for number, frame in enumerate(frames)
    ]
    found = evaluated(
        connection,
        efforts,
        features=[{"name": "age", "kind": "interval", "hierarchy": tree}],
        **{**MODEL, **MIDPOINTS, **choices},
    )
    return found, [frame.assign(sex=SEX) for frame in frames]


def columns_of(connection: Connection) -> list[dict[str, Any]]:
    tree = interval_hierarchy(connection, interval_efforts(connection, widths=(0, 10)))
    decade = {"name": "age", "kind": "interval", "level": 1, "hierarchy": tree}
    return [{"name": "sex", "kind": "plain"}, decade]


def test_groups_have_the_scores_of_a_plain_scikit_learn_loop(connection: Connection) -> None:
    columns = columns_of(connection)
    found, frames = grouped(
        connection, inspections={"inspection": {"groups": columns, "smallest_group": 5}}
    )
    target = np.searchsorted(CLASSES, frames[0]["label"].to_numpy(dtype=str))
    rows = [((f["age_lower"] + f["age_upper"]) / 2).to_numpy().reshape(-1, 1) for f in frames]
    decade = [f"[{value // 10 * 10}, {value // 10 * 10 + 10})" for value in frames[0]["age_lower"]]
    groups = {0: np.array(SEX, dtype=object), 1: np.array(decade, dtype=object)}
    expected: dict[tuple[Any, ...], float] = {}
    for number, (frame, own) in enumerate(zip(frames, rows, strict=True)):
        for repetition in (1, 2, 3):
            split_seed, model_seed = seeds(1, repetition)
            split = hold_out(target, 0.3, split_seed)
            train = split.train[~frame["is_suppressed"].to_numpy()[split.train]]
            model = DecisionTreeClassifier(random_state=model_seed, max_depth=2)
            fitted = model.fit(own[train], target[train])
            for test_on, asked in (("original", rows[0]), ("generalized", own)):
                for place, of_record in groups.items():
                    for group in {"f", "m", *decade}:
                        test = split.test[of_record[split.test] == group]
                        if not len(test):
                            continue
                        true, shares = target[test], fitted.predict_proba(asked[test])[:, 1]
                        key = (number, repetition, test_on, place, group)
                        predicted = fitted.predict(asked[test])
                        expected[*key, "accuracy"] = accuracy_score(true, predicted)
                        brier = brier_score_loss(true, shares, labels=[0, 1])
                        expected[*key, "brier_score"] = brier
                        if len(set(true)) == 2:
                            expected[*key, "roc_auc"] = roc_auc_score(true, shares)
    own = found[(found["kind"] == "group_measure") & (found["model"] == "decision_tree")]
    by = ["effort", "repetition", "test_on", "bin", "other", "name"]
    values = {
        tuple(key): value
        for *key, value in own[[*by, "value"]].itertuples(index=False)
        if key[-1] in {"accuracy", "brier_score", "roc_auc"} and not np.isnan(value)
    }
    assert values == pytest.approx(expected)
    sizes = found[found["kind"] == "group"]
    assert dict(zip(sizes["other"], sizes["value"], strict=True)) == {
        "f": 38,
        "m": 20,
        **{f"[{lower}.0, {lower + 10}.0)": 10 for lower in range(0, 60, 10)},
    }


def test_groups_change_no_other_row(connection: Connection) -> None:
    columns = columns_of(connection)
    plain, _ = grouped(connection)
    found, _ = grouped(
        connection, inspections={"inspection": {"groups": columns, "smallest_group": 5}}
    )
    others = found[~found["kind"].isin(["group", "group_measure"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(plain, others)


def test_a_group_of_fewer_subjects_is_not_shown() -> None:
    texts, codes = ["a", "b", None, "*"], np.array([0, 0, 0, 1, 1, 2, 3])
    records = make_groups("city", texts, codes, None, 2)
    assert (records.labels, records.sizes) == (("*", "a", "b"), (2, 3, 2))
    subjects = make_groups("city", texts, codes, np.array([0, 0, 0, 1, 2, 3, 4]), 2)
    assert (subjects.labels, subjects.sizes) == (("*", "b"), (2, 2))
    assert subjects.codes.tolist() == [-1, -1, -1, 1, 1, 0, 0]


def test_too_many_groups_are_refused() -> None:
    texts = [str(number) for number in range(MOST_GROUPS + 1)]
    codes = np.arange(MOST_GROUPS + 1)
    assert len(make_groups("zip", texts, codes // 2, None, 2).labels) == MOST_GROUPS // 2
    with pytest.raises(EvaluationError, match="`zip` must have at most 200 groups"):
        make_groups("zip", texts, codes, None, 1)


def test_groups_have_the_agreement_of_their_records(connection: Connection) -> None:
    efforts = people(connection)
    choices = {"task": "clustering", "model": "k_means", "parameters": {"n_clusters": 3}}
    group = {"name": "weight", "kind": "plain"}
    found = evaluated(
        connection,
        efforts,
        features=features(connection, efforts),
        target="clustering",
        inspections={"inspection": {"groups": [group]}},
        **choices,
    )
    values = found[found["kind"] == "group_measure"]
    assert set(values["name"]) == {"adjusted_rand_index"}
