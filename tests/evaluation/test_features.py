"""Features of values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import limits
from dbt_anonymize.evaluation.data.features import POSITIONS, RANKS, VALUES
from dbt_anonymize.evaluation.data.reading import Effort, EffortReader, FeatureColumn, Reading
from dbt_anonymize.evaluation.data.sampling import Sample
from tests.evaluation.reading import (
    AGES,
    CATEGORY,
    CITIES,
    INTERVAL,
    Bounds,
    Connection,
    nan,
    originals,
    read,
    rows,
)
from tests.evaluation.tables import table

pytestmark = pytest.mark.costly

NAME = 'Bildung "neu"'


def test_an_interval_is_its_position_for_classifiers_and_its_midpoint_for_others(
    connection: Connection,
) -> None:
    shown: list[Bounds] = [(0, 10), (40, 60), (0, 10), (15, 40)]
    raw, data = read(connection, INTERVAL, [3, 41, 9, 15], shown, levels=1, hierarchy=AGES)
    # [10, 15) has a position although no record is in it.
    assert rows(data, POSITIONS) == [[0], [3], [0], [2]]
    assert originals(raw, data, POSITIONS) == [[0], [3], [0], [2]]
    # Models with a scale do not see a gap where nobody is.
    assert rows(data, RANKS) == originals(raw, data, RANKS) == [[0], [2], [0], [1]]
    assert rows(data) == originals(raw, data) == [[5], [50], [5], [27.5]]
    assert rows(raw, POSITIONS) == rows(raw, RANKS) == rows(raw) == [[3], [41], [9], [15]]


def test_an_untouched_value_is_asked_as_itself_where_that_is_named(connection: Connection) -> None:
    shown: list[Bounds] = [(0, 10), (40, 60)]
    for numbers, own, asked in (
        ("midpoint", [[5], [50]], [[3], [41]]),
        ("bounds", [[0, 10], [40, 60]], [[0, 10], [40, 60]]),
    ):
        reading = Reading(numbers=numbers)
        raw, data = read(
            connection, INTERVAL, [3, 41], shown, levels=1, hierarchy=AGES, reading=reading
        )
        assert (rows(data), originals(raw, data)) == (own, asked)


def test_a_label_that_no_record_shows_lies_between_its_neighbours(connection: Connection) -> None:
    shown: list[Bounds] = [(0, 10), (0, 10), (15, 40)]
    raw, data = read(connection, INTERVAL, [3, 12, 59], shown, levels=1, hierarchy=AGES)
    assert originals(raw, data, RANKS) == [[0], [0.5], [1]]
    assert originals(raw, data) == [[5], [12.5], [50]]


def test_an_untouched_value_has_the_position_that_its_record_shows_whatever_that_is(
    connection: Connection,
) -> None:
    numbers = [0, 9.999, 10, 14.9, 15, 39, 40, 59.9]
    shown: list[Bounds] = [None] * 4 + [(0, 15)] * 4
    raw, data = read(connection, INTERVAL, numbers, shown, levels=2, hierarchy=AGES)
    assert [row[0] for row in originals(raw, data, POSITIONS)] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_null_is_not_known_and_has_an_indicator_at_every_level(connection: Connection) -> None:
    for level, shown in ((0, [7, None]), (1, [(0, 10), None]), (2, [(0, 15), None])):
        raw, data = read(connection, INTERVAL, [7, None], shown, levels=level, hierarchy=AGES)
        for space in (VALUES, POSITIONS):
            (first, second), (one, two) = rows(data, space), originals(raw, data, space)
            assert first[1] == one[1] == 0
            assert np.isnan(second[0])
            assert np.isnan(two[0])
            assert second[1] == two[1] == 1
    raw, data = read(connection, CATEGORY, ["Bonn", None], ["DE", "*"], levels=1, hierarchy=CITIES)
    assert rows(data) == originals(raw, data) == [[1, 0], [0, 1]]


def test_the_root_tells_nothing_of_numbers(connection: Connection) -> None:
    raw, data = read(connection, INTERVAL, [7, 50], [None, None], levels=3, hierarchy=AGES)
    assert np.isnan([row[0] for row in rows(data, POSITIONS) + rows(data)]).all()
    assert np.isnan([row[0] for row in originals(raw, data, POSITIONS)]).all()


def test_an_interval_of_dates_is_read_in_days(connection: Connection) -> None:
    tree = connection.sql(
        "select date '1970-01-01' as lower_bound, date '1970-01-05' as upper_bound, 'a' as level_1"
    )
    for kind in ("date", "timestamp"):
        own = f"{kind} '1970-01-01' as x_lower, {kind} '1970-01-05' as x_upper"
        raw = f"{kind} '1970-01-02' as x_lower, {kind} '1970-01-02' as x_upper"
        rest = "select 1 as k, false as is_suppressed, 'a' as x, "
        efforts = [Effort(n, connection.sql(rest + b), {"x": n}) for n, b in enumerate((raw, own))]
        columns = [FeatureColumn("x", "interval", tree)]
        reader = EffortReader(efforts[0], columns, Reading(), Sample(1, 1), "k")
        untouched, _, first = reader.read_untouched({})
        data = reader.read_effort(efforts[1], first)
        assert (rows(untouched), rows(data), originals(untouched, data)) == ([[1]], [[2]], [[2]])


def test_a_bound_that_is_missing_or_not_in_the_hierarchy_is_refused(connection: Connection) -> None:
    with pytest.raises(EvaluationError, match="1 of 2 are not"):
        read(connection, INTERVAL, [1, 2], [(0, 10), (nan, 10)], levels=1, hierarchy=AGES)
    with pytest.raises(EvaluationError, match="1 of 2 do not"):
        read(connection, INTERVAL, [1, 2], [(0, 10), (1, 10)], levels=1, hierarchy=AGES)


def test_text_bounds_are_refused(connection: Connection) -> None:
    relation = connection.sql("select 1 as k, '1' as x, '1' as x_lower, '2' as x_upper")
    columns = [FeatureColumn("x", "interval", table(connection, AGES))]
    reader = EffortReader(Effort(0, relation, {}), columns, Reading(), Sample(1, 1), "k")
    with pytest.raises(EvaluationError, match="`x_lower` must hold numbers or dates"):
        reader.read_untouched({})
    texts = table(connection, AGES.astype({"lower_bound": str}))
    columns = [FeatureColumn("x", "interval", texts)]
    reader = EffortReader(Effort(0, relation, {}), columns, Reading(), Sample(1, 1), "k")
    with pytest.raises(EvaluationError, match="bounds that are numbers or dates"):
        reader.read_untouched({})


def test_a_category_is_one_feature_per_label_of_its_level(connection: Connection) -> None:
    values = ["Köln", "Bonn", "Rome"]
    for level, shown, expected in (
        (0, values, [[0, 1, 0], [1, 0, 0], [0, 0, 1]]),
        (1, ["DE", "DE", 'it\'s "IT"'], [[1, 0], [1, 0], [0, 1]]),
        (2, ["DE", "other", "other"], [[1, 0], [0, 1], [0, 1]]),
        (3, ["*", "*", "*"], [[1], [1], [1]]),
    ):
        raw, data = read(connection, CATEGORY, values, shown, levels=level, hierarchy=CITIES)
        assert rows(data) == rows(data, POSITIONS) == expected
        # At the root one feature says that nothing is known; it is the same for all.
        assert originals(raw, data) == ([[0]] * 3 if level == 3 else expected)


def test_labels_that_no_record_has_are_no_features(connection: Connection) -> None:
    more = pd.concat([CITIES, pd.DataFrame({"value": ["Oslo"], "level_1": ["NO"]})]).fillna("NO")
    values, shown = ["Köln", "Rome"], ["DE", 'it\'s "IT"']
    raw, data = read(connection, CATEGORY, values, shown, levels=1, hierarchy=more)
    assert rows(raw) == rows(data) == originals(raw, data) == [[1, 0], [0, 1]]


def test_leaves_are_shares_of_a_label(connection: Connection) -> None:
    values, shown = ["Köln", "Bonn", "Rome", None], ["DE", "DE", 'it\'s "IT"', "*"]
    reading = Reading(categories="leaves")
    raw, data = read(
        connection, CATEGORY, values, shown, levels=1, hierarchy=CITIES, reading=reading
    )
    assert rows(data) == [[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert originals(raw, data) == [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_frequencies_weigh_the_leaves_of_a_label(connection: Connection) -> None:
    values = ["Bonn", "Bonn", "Bonn", "Köln", None, "Rome", "Rome"]
    shown = ["DE", "DE", "DE", "DE", "*", 'it\'s "IT"', 'it\'s "IT"']
    reading = Reading(categories="frequencies")
    raw, data = read(
        connection, CATEGORY, values, shown, levels=1, hierarchy=CITIES, reading=reading
    )
    unknown, rome = [0, 0, 0, 1], [0, 0, 1, 0]
    # Where no leaf of a label occurs, they weigh the same.
    for released, de in (
        (range(5), [3 / 4, 1 / 4, 0, 0]),
        ([1, 3], [1 / 2, 1 / 2, 0, 0]),
        ([1, 2, 6], [1, 0, 0, 0]),
        ([4, 5], [1 / 2, 1 / 2, 0, 0]),
    ):
        counted = data.own[VALUES].weighted_by(np.array(released))
        found = data.design.take(counted, data.design.codes)
        assert found == pytest.approx(np.array([de] * 4 + [unknown, rome, rome])), released
        carried = raw.design.take(
            data.original[VALUES].weighted_by(np.array(released)), raw.design.codes
        )
        assert carried.tolist() == originals(raw, data)


def test_numbers_and_leading_zeros_are_compared_as_text(connection: Connection) -> None:
    tree = pd.DataFrame({"value": ["01067", "1067"]})
    raw, _ = read(connection, CATEGORY, ["1067", "01067"], ["1067", "01067"], hierarchy=tree)
    assert rows(raw) == [[0, 1], [1, 0]]


def test_a_collation_makes_no_two_values_one(connection: Connection) -> None:
    connection.execute("set default_collation = 'nocase'")
    tree = pd.DataFrame({"value": ["bonn", "Bonn"], "level_1": ["a", "b"]})
    raw, data = read(connection, CATEGORY, ["bonn", "Bonn"], ["a", "b"], levels=1, hierarchy=tree)
    assert rows(data) == originals(raw, data) == [[1, 0], [0, 1]]
    assert rows(raw) == [[0, 1], [1, 0]]


def test_a_label_that_is_not_in_its_level_is_refused_and_not_shown(connection: Connection) -> None:
    with pytest.raises(EvaluationError, match="1 of 2 records") as raised:
        read(connection, CATEGORY, ["Köln", "Bonn"], ["DE", "Bonn"], levels=1, hierarchy=CITIES)
    assert "Bonn" not in str(raised.value)


@pytest.mark.parametrize(
    ("hierarchy", "level", "rule"),
    [
        (pd.DataFrame({"value": ["a"], "level_1": ["b"]}), 2, "must have the column level_2"),
        (pd.DataFrame({"value": ["a", "a"], "level_1": ["b", "c"]}), 1, "2 rows for 1 values"),
        (pd.DataFrame({"value": ["a", "d"], "level_1": ["b", None]}), 1, "1 of 2 without"),
    ],
)
def test_a_hierarchy_that_does_not_give_one_label_is_refused(
    connection: Connection, hierarchy: pd.DataFrame, level: int, rule: str
) -> None:
    with pytest.raises(EvaluationError, match=rule):
        read(connection, CATEGORY, ["a"], ["b"], levels=level, hierarchy=hierarchy)


POSTCODES = pd.DataFrame(
    {
        "value": ["11", "12", "21", "22", "31", "99"],
        "level_1": ["1*", "1*", "2*", "2*", "3*", "9*"],
        "level_2": ["low", "low", "low", "low", "high", "high"],
    }
)


@pytest.mark.parametrize(
    ("largest", "read_at"),
    [(6, (0, 1)), (5, (0, 1)), (4, (1, 1)), (3, (1, 1)), (2, (2, 2))],
)
def test_a_long_list_of_codes_is_read_at_the_finest_level_with_few_enough_labels(
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    largest: int,
    read_at: tuple[int, int],
) -> None:
    # No record has 99: it is not counted.
    values, shown = ["11", "12", "21", "22", "31"], ["1*", "1*", "2*", "2*", "3*"]
    monkeypatch.setattr(limits, "MOST_CATEGORIES", largest)
    raw, data = read(connection, CATEGORY, values, shown, levels=1, hierarchy=POSTCODES)
    for effort, declared, level in ((raw, 0, read_at[0]), (data, 1, read_at[1])):
        column = POSTCODES["value" if level == 0 else f"level_{level}"].tolist()[:5]
        expected = [[float(own == label) for label in sorted(set(column))] for own in column]
        assert rows(effort) == originals(raw, effort) == expected
        assert effort.coarser == ({} if level == declared else {"x": {declared: level}})


def test_a_level_that_tells_nothing_does_not_stand_in_for_too_many_labels(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_CATEGORIES", 2)
    tree = pd.DataFrame({"value": ["11", "12", "21"], "level_1": "*"})
    with pytest.raises(EvaluationError, match="at most 2 categories"):
        read(connection, CATEGORY, ["11", "12", "21"], ["*"] * 3, levels=1, hierarchy=tree)


def test_leaves_are_not_read_coarser(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_CATEGORIES", 3)
    with pytest.raises(EvaluationError, match="at most 3 categories"):
        read(
            connection,
            CATEGORY,
            ["11", "12", "21", "22"],
            ["1*", "1*", "2*", "2*"],
            levels=1,
            hierarchy=POSTCODES,
            reading=Reading(categories="leaves"),
        )
