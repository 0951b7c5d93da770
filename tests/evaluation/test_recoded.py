"""Efforts whose levels differ per record."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import estimators
from dbt_anonymize.evaluation.data.features import POSITIONS, RANKS, VALUES, Reading
from dbt_anonymize.evaluation.data.spaces import read_ends
from tests.evaluation.tables import effort, mean, scores, table
from tests.evaluation.test_features import AGES, CATEGORY, INTERVAL, originals, read, rows

pytestmark = pytest.mark.costly

NAME = 'Bildung "neu"'
HIERARCHY = pd.DataFrame(
    {
        "value": ["Köln", "Bonn", "Rome", "Pisa"],
        "level_1": ["DE", "DE", "IT", "IT"],
        # Rome is a label too.
        "level_2": ["Rome", "Rome", "Rome", "Rome"],
        "level_3": ["*", "*", "*", "*"],
    }
)
Connection = duckdb.DuckDBPyConnection
nan = np.nan


def test_each_label_is_read_in_a_block_of_its_level_and_in_coarser_ones(
    connection: Connection,
) -> None:
    raw, data = read(
        connection,
        CATEGORY,
        ["Rome", "Pisa", "Köln", "Bonn", None],
        ["Rome", "Rome", "DE", "Bonn", "*"],
        levels=[0, 2, 1, 0, 3],
        hierarchy=HIERARCHY,
    )
    # Level 0: Bonn, Rome. Level 1: DE, IT. Level 2: Rome. And whether nothing is known.
    assert rows(data) == [
        [0, 1, 0, 1, 1, 0],
        [0, 0, 0, 0, 1, 0],
        [0, 0, 1, 0, 1, 0],
        [1, 0, 1, 0, 1, 0],
        [0, 0, 0, 0, 0, 1],
    ]
    # Untouched records are known at every level; no record of the effort shows Pisa or Köln.
    assert originals(raw, data) == [
        [0, 1, 0, 1, 1, 0],
        [0, 0, 0, 1, 1, 0],
        [0, 0, 1, 0, 1, 0],
        [1, 0, 1, 0, 1, 0],
        [0, 0, 0, 0, 0, 1],
    ]


def ends(
    raw: Any, data: Any, space: str = POSITIONS
) -> tuple[list[list[float]], list[list[float]]]:
    """Return both ends as models see them, all records training."""
    found = [np.array(rows(data, space)), np.array(originals(raw, data, space))]
    read_ends(found, data.own[space].ends)
    return found[0].tolist(), found[1].tolist()


def test_an_interval_is_where_it_begins_and_ends_among_what_is_shown(
    connection: Connection,
) -> None:
    raw, data = read(
        connection,
        INTERVAL,
        [3, 12, 41, 12.5, None, 30],
        [(0, 10), (0, 15), (15, 60), (12.5, 12.5), None, (10, 40)],
        levels=[1, 2, 2, 0, 3, None],
        hierarchy=AGES,
    )
    own, original = ends(raw, data)
    # They begin at 0, 10, 12.5, 15 and end at 10, 12.5, 15, 40, 60.
    expected = [[0, 0, 0], [0, 2, 0], [3, 4, 0], [2, 1, 0], [nan, nan, 1], [1, 3, 0]]
    np.testing.assert_array_equal(own, expected)
    # An untouched value is read as the finest interval around it: 3 is in [0, 10), 12 between
    # 10 and 12.5, 41 in [15, 60), and 30 between 15 and 40.
    expected = [[0, 0, 0], [1, 1, 0], [3, 4, 0], [2, 1, 0], [nan, nan, 1], [3, 3, 0]]
    np.testing.assert_array_equal(original, expected)
    # Other classifiers see the mean of the ranks, other models midpoints, and nothing more.
    own, original = ends(raw, data, RANKS)
    assert [row[0] for row in own if not row[2]] == [0, 1, 3.5, 1.5, 2]
    assert [row[0] for row in original if not row[2]] == [0, 1, 3.5, 1.5, 3]
    own, original = ends(raw, data, VALUES)
    assert [row[0] for row in own if not row[2]] == pytest.approx([5, 7.5, 37.5, 12.5, 25])
    assert [row[0] for row in original if not row[2]] == pytest.approx([5, 11.25, 37.5, 12.5, 27.5])
    assert {row[1] for row in own + original} == {0}


def test_bounds_of_several_levels_are_those_of_the_finest_interval(connection: Connection) -> None:
    shown: list[Any] = [(0, 10), (0, 15), (15, 60)]
    reading, levels = Reading(numbers="bounds"), [1, 2, 2]
    numbers = [3, 12, 41]
    raw, data = read(
        connection, INTERVAL, numbers, shown, levels=levels, hierarchy=AGES, reading=reading
    )
    own, original = ends(raw, data, VALUES)
    np.testing.assert_allclose(own, shown)
    np.testing.assert_allclose(original, shown)
    midpoints = Reading(numbers="midpoint")
    raw, data = read(
        connection, INTERVAL, numbers, shown, levels=levels, hierarchy=AGES, reading=midpoints
    )
    assert ends(raw, data, VALUES) == ([[5], [7.5], [37.5]], [[3], [12], [41]])


def test_a_bound_belongs_to_the_interval_that_it_begins(connection: Connection) -> None:
    raw, data = read(
        connection,
        INTERVAL,
        [10, 9.999, 15, 59.9],
        [(10, 15), (0, 10), (15, 60), (15, 60)],
        levels=[1, 1, 2, 2],
        hierarchy=AGES,
    )
    own, original = ends(raw, data)
    assert own == original == [[1, 1], [0, 0], [2, 2], [2, 2]]


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_one_level_for_all_is_read_as_in_an_effort_of_that_level(
    connection: Connection, level: int
) -> None:
    column = "value" if level == 0 else f"level_{level}"
    raw, labels = [*HIERARCHY["value"], "Bonn", None], [*HIERARCHY[column], "*", None]
    expected = read(connection, CATEGORY, raw, labels, levels=level, hierarchy=HIERARCHY)
    found = read(connection, CATEGORY, raw, labels, levels=[level] * len(raw), hierarchy=HIERARCHY)
    for space in ("values", POSITIONS):
        assert rows(found[1], space) == rows(expected[1], space)
        assert originals(*found, space) == originals(*expected, space)


def test_a_label_that_leads_to_two_coarser_ones_is_not_known_there(connection: Connection) -> None:
    tree = HIERARCHY.assign(level_2=["A", "B", "B", "B"])
    raw, data = read(
        connection,
        CATEGORY,
        ["Köln", "Bonn", "Rome", "Pisa"],
        ["DE", "DE", "B", "IT"],
        levels=[1, 1, 2, 1],
        hierarchy=tree,
    )
    # Level 1: DE, IT; level 2: B.
    assert rows(data) == [[1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    assert originals(raw, data)[:2] == [[1, 0, 0], [1, 0, 1]]


def test_a_label_of_another_level_is_refused_and_not_shown(connection: Connection) -> None:
    with pytest.raises(EvaluationError, match="1 of 2 records") as raised:
        read(
            connection,
            CATEGORY,
            ["Rome", "Rome"],
            ["IT", "IT"],
            levels=[1, 2],
            hierarchy=HIERARCHY,
        )
    assert "IT" not in str(raised.value).replace("Build the efforts", "")


def test_a_missing_or_unknown_level_is_refused(connection: Connection) -> None:
    own: dict[str, Any] = {"hierarchy": HIERARCHY}
    with pytest.raises(EvaluationError, match="must hold the level of every record"):
        read(connection, CATEGORY, ["Rome"] * 2, ["*", "*"], levels=[3, None], **own)
    with pytest.raises(EvaluationError, match="must have the column level_4"):
        read(connection, CATEGORY, ["Rome"], ["X"], levels=[4], **own)
    level = '"' + f"{NAME}_level".replace('"', '""') + '"'
    for change, rule in (
        (f"* exclude ({level})", "must be in the relation"),
        (f"* replace ('root' as {level})", "must hold numbers, the level"),
    ):
        scored = cities(connection)
        scored[1]["relation"] = scored[1]["relation"].project(change)
        with pytest.raises(EvaluationError, match=rule):
            scores(connection, scored, features=city(connection))


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


def cities(connection: Connection) -> list[dict[str, Any]]:
    """Return effort 0 and a recoding of it in which records of one city have different levels."""
    raw = (["Köln", "Bonn", "Rome", "Pisa"] * 15)[:60]
    levels = [number % 3 for number in range(60)]
    by_value = HIERARCHY.set_index("value")
    labels = [
        own if level == 0 else by_value.loc[own, f"level_{level}"]
        for own, level in zip(raw, levels, strict=True)
    ]
    frame = pd.DataFrame(
        {
            "record_id": range(60),
            NAME: raw,
            "label": ["no" if own in ("Köln", "Bonn") else "yes" for own in raw],
            "is_suppressed": False,
        }
    )
    generalized = frame.assign(**{NAME: labels, f"{NAME}_level": levels})
    return [
        effort(connection, 0, frame),
        {**effort(connection, 1, generalized), "levels": "per record"},
    ]


def city(connection: Connection) -> list[dict[str, Any]]:
    return [{"name": NAME, "kind": "categorical", "hierarchy": table(connection, HIERARCHY)}]


def test_a_test_record_is_read_as_the_closest_released_record(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[np.ndarray, np.ndarray]] = []
    monkeypatch.setattr(estimators, "make_estimator", lambda *_: Spy(seen))
    efforts = cities(connection)
    hidden = "* replace (record_id % 5 = 0 as is_suppressed)"
    efforts[1]["relation"] = efforts[1]["relation"].project(hidden)
    scores(connection, efforts, features=city(connection), repetitions=6)
    recoded = seen[2::4]
    assert len(recoded) == 6
    for trained, asked in recoded:
        # First the untouched rows, then for each of them the closest released row.
        untouched, closest = np.split(asked, 2)
        released = np.unique(trained, axis=0)
        distances = ((untouched[:, None] - released[None]) / _deviations(trained)) ** 2
        assert closest.tolist() == released[distances.sum(axis=2).argmin(axis=1)].tolist()


def _deviations(trained: np.ndarray) -> np.ndarray:
    found = trained.std(axis=0)
    return np.where(found > 0, found, 1)


@pytest.mark.parametrize("model", ["decision_tree", "logistic_regression", "random_forest"])
def test_a_recoded_effort_is_scored(connection: Connection, model: str) -> None:
    choices = {"features": city(connection), "model": model, "repetitions": 5}
    found = scores(connection, cities(connection), **choices)
    assert mean(found, 0) == 1
    # A record of level 2 tells nothing, the others tell the country; so do all untouched ones.
    assert mean(found, 1, "original") == 1
    assert mean(found, 1, "generalized") == 1
