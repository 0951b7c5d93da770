"""Efforts whose levels differ per record."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.design import make_design
from dbt_anonymize.evaluation.features import (
    categorical_encoding,
    interval_encodings,
    recoded_encoding,
)
from dbt_anonymize.evaluation.relations import read_arrays
from tests.evaluation.tables import effort, mean, scores, table

NAME = 'Bildung "neu"'
HIERARCHY = pd.DataFrame(
    {
        "value": ["Köln", "Bonn", "Rome", "Pisa"],
        "level_1": ["DE", "DE", "IT", "IT"],
        # The label DE covers another set of leaves here, and Rome is a label too.
        "level_2": ["DE", "Rome", "Rome", "Rome"],
        "level_3": ["*", "*", "*", "*"],
    }
)


def recoded(
    connection: duckdb.DuckDBPyConnection, labels: list[Any], levels: list[Any]
) -> duckdb.DuckDBPyRelation:
    frame = pd.DataFrame({"k": range(len(labels)), NAME: labels})
    frame[f"{NAME}_level"] = pd.array(levels, dtype="Int32")
    return table(connection, frame)


def matrix(relation: duckdb.DuckDBPyRelation, encoding: Any) -> np.ndarray:
    values = read_arrays(relation, {"x": encoding.sql}, order_by="k")["x"]
    design = make_design([encoding], [values])
    return design.take(design.codes)


def test_each_label_is_read_at_the_level_of_its_record(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    relation = recoded(
        connection, ["Rome", "Rome", "DE", "DE", "*", "*", "Bonn"], [0, 2, 1, 2, 3, 1, 0]
    )
    hierarchy = table(connection, HIERARCHY)
    found = matrix(relation, recoded_encoding(relation, NAME, hierarchy))
    # Leaves in the order of their names: Bonn, Köln, Pisa, Rome.
    assert found == pytest.approx(
        np.array(
            [
                [0, 0, 0, 1],
                [1 / 3, 0, 1 / 3, 1 / 3],
                [1 / 2, 1 / 2, 0, 0],
                [0, 1, 0, 0],
                [1 / 4] * 4,
                [1 / 4] * 4,
                [1, 0, 0, 0],
            ]
        )
    )


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_one_level_for_all_is_read_as_in_an_effort_of_that_level(
    connection: duckdb.DuckDBPyConnection, level: int
) -> None:
    hierarchy = table(connection, HIERARCHY)
    column = "value" if level == 0 else f"level_{level}"
    labels = [*HIERARCHY[column], "*", None]
    relation = recoded(connection, labels, [level] * len(labels))
    found = matrix(relation, recoded_encoding(relation, NAME, hierarchy))
    expected = matrix(relation, categorical_encoding(relation, NAME, hierarchy, level))
    assert found.tolist() == expected.tolist()


def test_a_label_of_another_level_is_refused_and_not_shown(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    relation = recoded(connection, ["IT", "IT"], [1, 2])
    encoding = recoded_encoding(relation, NAME, table(connection, HIERARCHY))
    with pytest.raises(EvaluationError, match="1 of 2 records") as raised:
        matrix(relation, encoding)
    assert "IT" not in str(raised.value).replace("Build the efforts", "")


def test_a_missing_or_unknown_level_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    hierarchy = table(connection, HIERARCHY)
    relation = recoded(connection, ["*", "*"], [3, None])
    with pytest.raises(EvaluationError, match="must hold the level of every record"):
        recoded_encoding(relation, NAME, hierarchy)
    relation = recoded(connection, ["*"], [4])
    with pytest.raises(EvaluationError, match="to read level 4"):
        recoded_encoding(relation, NAME, hierarchy)
    relation = table(connection, pd.DataFrame({"k": [1], NAME: ["*"]}))
    with pytest.raises(EvaluationError, match="must be in the relation"):
        recoded_encoding(relation, NAME, hierarchy)
    relation = table(connection, pd.DataFrame({"k": [1], NAME: ["*"], f"{NAME}_level": ["root"]}))
    with pytest.raises(EvaluationError, match="must hold numbers, the level"):
        recoded_encoding(relation, NAME, hierarchy)


def test_an_interval_between_two_levels_is_its_midpoint(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    relation = connection.sql(
        "select 1 as k, 3 as x_lower, 20 as x_upper, null::integer as x_level"
    )
    assert matrix(relation, *interval_encodings(relation, "x")).tolist() == [[11.5]]


class Spy:
    """A model that keeps what it is given and always answers the first class."""

    classes_ = np.array([0, 1])

    def __init__(self, seen: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self.seen = seen

    def fit(self, rows: np.ndarray, _: np.ndarray) -> Spy:
        """Keep the training rows."""
        self.rows = rows
        return self

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Keep the rows that are asked for."""
        self.seen.append((self.rows, rows))
        return np.zeros(len(rows), dtype=int)


def cities(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    """Return effort 0 and a recoding of it in which records of one city have different levels."""
    raw = (["Köln", "Bonn", "Rome", "Pisa"] * 15)[:60]
    levels = [number % 3 for number in range(60)]
    rows = HIERARCHY.set_index("value")
    labels = [
        city if level == 0 else rows.loc[city, f"level_{level}"]
        for city, level in zip(raw, levels, strict=True)
    ]
    frame = pd.DataFrame(
        {
            "record_id": range(60),
            NAME: raw,
            "label": ["no" if city in ("Köln", "Bonn") else "yes" for city in raw],
            "is_suppressed": False,
        }
    )
    generalized = frame.assign(**{NAME: labels, f"{NAME}_level": levels})
    return [
        effort(connection, 0, frame),
        {**effort(connection, 1, generalized), "levels": "per record"},
    ]


def test_a_test_record_is_read_as_the_closest_released_record(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[np.ndarray, np.ndarray]] = []
    monkeypatch.setattr(estimators, "make_estimator", lambda *_: Spy(seen))
    features = [{"name": NAME, "kind": "categorical", "hierarchy": table(connection, HIERARCHY)}]
    efforts = cities(connection)
    hidden = "* replace (record_id % 5 = 0 as is_suppressed)"
    efforts[1]["relation"] = efforts[1]["relation"].project(hidden)
    scores(connection, efforts, features=features, repetitions=6)
    recoded = seen[2::4]
    assert len(recoded) == 6
    for trained, asked in recoded:
        # First the untouched rows, one-hot, then for each of them the closest released row.
        untouched, closest = np.split(asked, 2)
        assert (
            sorted(untouched.sum(axis=1)) == [1] * len(untouched) == sorted(untouched.max(axis=1))
        )
        released = np.unique(trained, axis=0)
        distances = ((untouched[:, None] - released[None]) / _deviations(trained)) ** 2
        assert closest.tolist() == released[distances.sum(axis=2).argmin(axis=1)].tolist()


def _deviations(trained: np.ndarray) -> np.ndarray:
    found = trained.std(axis=0)
    return np.where(found > 0, found, 1)


def test_what_needs_a_generalization_of_each_record_is_refused(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    features = [{"name": NAME, "kind": "categorical", "hierarchy": table(connection, HIERARCHY)}]
    guarantees = [{"model": "k_anonymity", "k": 2}]
    with pytest.raises(EvaluationError, match="per_split needs efforts with levels"):
        scores(
            connection,
            cities(connection),
            features=features,
            fit="per_split",
            guarantees=guarantees,
        )
    with pytest.raises(EvaluationError, match="label needs efforts with levels"):
        scores(connection, cities(connection), features=features, reading={"categories": "label"})


def test_a_recoded_effort_is_scored(connection: duckdb.DuckDBPyConnection) -> None:
    features = [{"name": NAME, "kind": "categorical", "hierarchy": table(connection, HIERARCHY)}]
    found = scores(connection, cities(connection), features=features, repetitions=5)
    assert mean(found, 0) == 1
    # Raw values are among the released ones, and are the closest to themselves.
    assert mean(found, 1, "original") == 1
    assert mean(found, 1, "generalized") == 1


def test_other_texts_are_refused(connection: duckdb.DuckDBPyConnection) -> None:
    efforts = cities(connection)
    efforts[1]["levels"] = "various"
    features = [{"name": NAME, "kind": "categorical", "hierarchy": table(connection, HIERARCHY)}]
    with pytest.raises(
        EvaluationError, match="effort 1 must be a mapping or the text 'per record'"
    ):
        scores(connection, efforts, features=features)
