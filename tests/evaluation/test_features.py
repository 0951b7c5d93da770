"""How values enter a model."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data import features
from dbt_anonymize.evaluation.data.design import class_means, make_design, make_space
from dbt_anonymize.evaluation.data.features import POSITIONS, VALUES, Column
from dbt_anonymize.evaluation.data.reading import Effort, EffortReader, FeatureColumn, Reading
from dbt_anonymize.evaluation.data.sampling import Sample
from dbt_anonymize.evaluation.data.spaces import Numbers, OneHot
from dbt_anonymize.evaluation.problem import EffortData
from tests.evaluation.tables import table

NAME = 'Bildung "neu"'
CITIES = pd.DataFrame(
    {
        "value": ["Köln", "Bonn", "Rome"],
        "level_1": ["DE", "DE", 'it\'s "IT"'],
        # The label DE covers another set of leaves here.
        "level_2": ["DE", "other", "other"],
        "level_3": ["*", "*", "*"],
    }
)
AGES = pd.DataFrame(
    {
        "lower_bound": [0, 10, 15, 40],
        "upper_bound": [10, 15, 40, 60],
        "level_1": ["[0, 10)", "[10, 15)", "[15, 40)", "[40, 60)"],
        "level_2": ["[0, 15)", "[0, 15)", "[15, 60)", "[15, 60)"],
        "level_3": ["*", "*", "*", "*"],
    }
)
Connection = duckdb.DuckDBPyConnection
Bounds = tuple[float, float] | None


def read(
    connection: Connection,
    feature: dict[str, Any],
    raw: list[Any],
    shown: list[Any],
    *,
    levels: list[int | None] | int = 0,
    reading: Reading | None = None,
    hierarchy: pd.DataFrame | None = None,
    may_be_hidden: bool = False,
) -> tuple[EffortData, EffortData]:
    """Return effort 0 and another effort of one column.

    An interval is shown as its bounds, or as None for NULL and ``*``.
    """
    efforts = []
    for number, values in enumerate((raw, shown)):
        frame = pd.DataFrame({"k": range(len(values)), "is_suppressed": False})
        frame["equivalence_class"] = [str(value) for value in values]
        if feature["kind"] == "interval":
            bounds = [(v, v) if isinstance(v, int | float) else v for v in values]
            frame["x"] = ["*" if b is None else f"[{b}" for b in bounds]
            frame["x_lower"] = [-1000.0 if b is None else float(b[0]) for b in bounds]
            frame["x_upper"] = [1000.0 if b is None else float(b[1]) for b in bounds]
        else:
            frame["x"] = values
        if isinstance(levels, list) and number:
            frame["x_level"] = pd.array(levels, dtype="Int32")
        own: dict[str, int] | str = {"x": number and levels} if isinstance(levels, int) else {}
        own = own if isinstance(levels, int) or not number else "per record"
        efforts.append(Effort(number, table(connection, frame), own))
    tree = None if hierarchy is None else table(connection, hierarchy)
    reader = EffortReader(
        efforts[0],
        [FeatureColumn("x", feature["kind"], tree)],
        reading or Reading(),
        Sample(len(raw), len(raw)),
        "k",
        may_be_hidden=may_be_hidden,
    )
    data, _, first = reader.first({})
    return data, reader.further(efforts[1], first)


def rows(data: EffortData, space: str = VALUES) -> list[list[float]]:
    """Return the features of each record of an effort."""
    means = data.means
    return data.design.take(data.own[space], data.design.codes, means).tolist()


def originals(raw: EffortData, data: EffortData, space: str = VALUES) -> list[list[float]]:
    """Return the same features of the untouched records."""
    return raw.design.take(data.original[space], raw.design.codes).tolist()


INTERVAL, CATEGORY, PLAIN = ({"kind": kind} for kind in ("interval", "categorical", "plain"))
nan = np.nan


def test_an_interval_is_its_position_for_models_that_split_and_its_midpoint_for_others(
    connection: Connection,
) -> None:
    shown: list[Bounds] = [(0, 10), (40, 60), (0, 10), (15, 40)]
    raw, data = read(connection, INTERVAL, [3, 41, 9, 15], shown, levels=1, hierarchy=AGES)
    # [10, 15) has a position although no record is in it.
    assert rows(data, POSITIONS) == [[0], [3], [0], [2]]
    assert originals(raw, data, POSITIONS) == [[0], [3], [0], [2]]
    assert rows(data) == [[5], [50], [5], [27.5]]
    assert originals(raw, data) == [[3], [41], [9], [15]]
    assert rows(raw, POSITIONS) == rows(raw) == [[3], [41], [9], [15]]


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
        untouched, _, first = reader.first({})
        data = reader.further(efforts[1], first)
        assert (rows(untouched), rows(data), originals(untouched, data)) == ([[1]], [[2]], [[1]])


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
        reader.first({})
    texts = table(connection, AGES.astype({"lower_bound": str}))
    columns = [FeatureColumn("x", "interval", texts)]
    reader = EffortReader(Effort(0, relation, {}), columns, Reading(), Sample(1, 1), "k")
    with pytest.raises(EvaluationError, match="bounds that are numbers or dates"):
        reader.first({})


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
        counted = data.own[VALUES].counted(np.array(released))
        found = data.design.take(counted, data.design.codes)
        assert found == pytest.approx(np.array([de] * 4 + [unknown, rome, rome])), released
        carried = raw.design.take(
            data.original[VALUES].counted(np.array(released)), raw.design.codes
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


def test_plain_columns_enter_by_their_type(connection: Connection) -> None:
    relation = connection.sql(
        """
        select *, false as is_suppressed from (values
            (1, 2, 'b', true, date '1970-01-03', 1.5::decimal(5, 2)),
            (2, null, null, null, null, null),
            (3, 4, 'a', false, date '1970-01-02', 2.5)
        ) as t(k, "int", "select", flag, day, amount)
        """
    )
    columns = [FeatureColumn(n, "plain") for n in ("int", "select", "flag", "day", "amount")]
    reader = EffortReader(Effort(0, relation, {}), columns, Reading(), Sample(3, 3), "k")
    data, _, _ = reader.first({})
    assert np.array(rows(data)) == pytest.approx(
        np.array(
            [
                [2, 0, *(0, 1, 0), *(0, 1, 0), *(2, 0), *(1.5, 0)],
                [nan, 1, *(0, 0, 1), *(0, 0, 1), *(nan, 1), *(nan, 1)],
                [4, 0, *(1, 0, 0), *(1, 0, 0), *(1, 0), *(2.5, 0)],
            ]
        ),
        nan_ok=True,
    )
    unit = [True, False, *[False] * 6, True, False, True, False]
    assert data.own[VALUES].scaled.tolist() == unit


def test_infinity_is_refused(connection: Connection) -> None:
    with pytest.raises(EvaluationError, match="`x` must be finite or missing; 1 of 3"):
        read(connection, PLAIN, [1.0, float("-inf"), nan], [1.0, 1.0, 1.0])


def test_a_type_that_no_model_reads_or_a_missing_column_is_refused(connection: Connection) -> None:
    relation = connection.sql("select 1 as k, [1, 2] as x, false as is_suppressed")
    for name, rule in (("x", "got INTEGER\\[\\]"), ("y", "`y` must be in the relation")):
        columns = [FeatureColumn(name, "plain")]
        reader = EffortReader(Effort(0, relation, {}), columns, Reading(), Sample(1, 1), "k")
        with pytest.raises(EvaluationError, match=rule):
            reader.first({})


def test_too_many_plain_categories_are_refused(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "MOST_CATEGORIES", 2)
    with pytest.raises(EvaluationError, match="at most 2 categories"):
        read(connection, PLAIN, ["a", "b", "c"], ["a", "b", "c"])


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
    monkeypatch.setattr(features, "MOST_CATEGORIES", largest)
    raw, data = read(connection, CATEGORY, values, shown, levels=1, hierarchy=POSTCODES)
    for effort, declared, level in ((raw, 0, read_at[0]), (data, 1, read_at[1])):
        column = POSTCODES["value" if level == 0 else f"level_{level}"].tolist()[:5]
        expected = [[float(own == label) for label in sorted(set(column))] for own in column]
        assert rows(effort) == originals(raw, effort) == expected
        assert effort.coarser == ({} if level == declared else {"x": {declared: level}})


def test_a_level_that_tells_nothing_does_not_stand_in_for_too_many_labels(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "MOST_CATEGORIES", 2)
    tree = pd.DataFrame({"value": ["11", "12", "21"], "level_1": "*"})
    with pytest.raises(EvaluationError, match="at most 2 categories"):
        read(connection, CATEGORY, ["11", "12", "21"], ["*"] * 3, levels=1, hierarchy=tree)


def test_leaves_are_not_read_coarser(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "MOST_CATEGORIES", 3)
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


def test_equal_rows_are_stored_once() -> None:
    numbers = [np.array([1.0, nan, 1.0, nan, 1.0]), np.array([3.0, 5.0, 3.0, 5.0, 4.0])]
    columns = []
    for values in numbers:
        distinct, codes = np.unique(values, return_inverse=True)
        blocks = {VALUES: [Numbers(distinct[:, None])]}
        columns.append(Column(codes, blocks, blocks))
    design, space = make_design(columns), make_space(columns, VALUES)
    assert design.size == 3
    found = design.take(space, design.codes)
    assert np.array_equal(found, np.column_stack(numbers), equal_nan=True)


def test_bounds_are_two_features(connection: Connection) -> None:
    shown: list[Bounds] = [(0, 10), (15, 40), None]
    reading = Reading(numbers="bounds")
    raw, data = read(
        connection, INTERVAL, [5, 20, None], shown, levels=1, hierarchy=AGES, reading=reading
    )
    for space in (VALUES, POSITIONS):
        assert rows(data, space)[:2] == [[0, 10, 0], [15, 40, 0]]
        assert originals(raw, data, space)[:2] == [[5, 5, 0], [20, 20, 0]]
        assert rows(data, space)[2][2] == originals(raw, data, space)[2][2] == 1


def test_a_hidden_record_has_no_quasi_identifiers(connection: Connection) -> None:
    raw, data = read(
        connection,
        CATEGORY,
        ["Köln", "Rome"],
        ["DE", 'it\'s "IT"'],
        levels=1,
        hierarchy=CITIES,
        may_be_hidden=True,
    )
    assert rows(data) == originals(raw, data) == [[1, 0, 0], [0, 1, 0]]
    assert data.design.hidden is not None
    assert data.design.take(data.own[VALUES], data.design.hidden).tolist() == [[0, 0, 1]] * 2
    raw, data = read(
        connection, INTERVAL, [3, 12], [(0, 10)] * 2, levels=1, hierarchy=AGES, may_be_hidden=True
    )
    assert data.design.hidden is not None
    for space in (VALUES, POSITIONS):
        hidden = data.design.take(data.own[space], data.design.hidden)
        assert np.isnan(hidden[:, 0]).all()
        assert hidden[:, 1].tolist() == [1, 1]
        assert [row[1] for row in rows(data, space)] == [0, 0]


def test_a_class_mean_is_that_of_the_released_records_of_the_class(connection: Connection) -> None:
    shown: list[Bounds] = [(0, 10), (0, 10), (0, 10), (15, 40), (40, 60), None, None]
    raw, data = read(
        connection,
        INTERVAL,
        [1, 4, 9, 30, 41, 7, None],
        shown,
        levels=1,
        hierarchy=AGES,
        reading=Reading(numbers="class_mean"),
    )
    assert originals(raw, data)[:6] == [[v, 0] for v in (1, 4, 9, 30, 41, 7)]
    for released, expected in (
        ([0, 1, 3], [2.5, 2.5, 2.5, 30, 50]),
        ([0], [1, 1, 1, 27.5, 50]),
    ):
        means = class_means(data.design, np.array(released))
        found = data.design.take(data.own[VALUES], data.design.codes, means)
        assert found[:5, 0].tolist() == expected
        # A label that says nothing has no mean either.
        assert np.isnan(found[5:, 0]).all()
        assert found[:, 1].tolist() == [0] * 5 + [1] * 2


def test_a_class_mean_of_equal_numbers_is_that_number_to_the_last_digit(
    connection: Connection,
) -> None:
    reading = Reading(numbers="class_mean")
    raw = [0.1] * 7
    _, data = read(connection, INTERVAL, raw, raw, hierarchy=AGES, reading=reading)
    assert rows(data) == [[0.1]] * 7


def test_a_one_hot_shows_labels_that_it_has_no_feature_for_as_nothing() -> None:
    block = OneHot(np.array([0, 2, -1]), 2)
    assert block.take(np.array([0, 1, 2])).tolist() == [[1, 0], [0, 0], [0, 0]]
