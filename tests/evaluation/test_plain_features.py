"""Features of columns that are not generalized, and of values that others may not see."""

from __future__ import annotations

import numpy as np
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import limits
from dbt_anonymize.evaluation.data.design import class_means, make_design, make_space
from dbt_anonymize.evaluation.data.features import POSITIONS, VALUES, Column
from dbt_anonymize.evaluation.data.reading import Effort, EffortReader, FeatureColumn, Reading
from dbt_anonymize.evaluation.data.sampling import Sample
from dbt_anonymize.evaluation.data.spaces import Numbers, OneHot
from tests.evaluation.reading import (
    AGES,
    CATEGORY,
    CITIES,
    INTERVAL,
    PLAIN,
    Bounds,
    Connection,
    nan,
    originals,
    read,
    rows,
)


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
    data, _, _ = reader.read_untouched({})
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
            reader.read_untouched({})


def test_too_many_plain_categories_are_refused(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_CATEGORIES", 2)
    with pytest.raises(EvaluationError, match="at most 2 categories"):
        read(connection, PLAIN, ["a", "b", "c"], ["a", "b", "c"])


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
        assert originals(raw, data, space)[:2] == [[0, 10, 0], [15, 40, 0]]
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
