"""How values enter a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import features
from dbt_anonymize.evaluation.design import (
    class_means,
    filled,
    known_leaves,
    make_design,
    training_medians,
    with_leaf_counts,
)
from dbt_anonymize.evaluation.features import (
    Encoding,
    categorical_encoding,
    interval_encodings,
    label_encoding,
    plain_encoding,
)
from dbt_anonymize.evaluation.relations import read_arrays
from tests.evaluation.tables import table

HIERARCHY = pd.DataFrame(
    {
        "value": ["Köln", "Bonn", "Rome"],
        "level_1": ["DE", "DE", 'it\'s "IT"'],
        # The label DE covers another set of leaves here.
        "level_2": ["DE", "other", "other"],
        "level_3": ["*", "*", "*"],
    }
)


def matrix(relation: duckdb.DuckDBPyRelation, *encodings: Encoding) -> np.ndarray:
    expressions = {str(position): encoding.sql for position, encoding in enumerate(encodings)}
    arrays = read_arrays(relation, expressions, order_by="k")
    design = make_design(encodings, [arrays[name] for name in expressions])
    return design.take(design.codes)


def column(connection: duckdb.DuckDBPyConnection, values: list[Any], name: str = "x") -> Any:
    return table(connection, pd.DataFrame({"k": range(len(values)), name: values}))


def test_an_interval_is_its_midpoint(connection: duckdb.DuckDBPyConnection) -> None:
    relation = connection.sql(
        "select * from (values (2, 0.5, 0.5), (1, 10, 15), (3, -4, -1)) as t(k, x_lower, x_upper)"
    )
    found = matrix(relation, *interval_encodings(relation, "x"))
    assert found.tolist() == [[12.5], [0.5], [-2.5]]


def test_an_interval_of_dates_is_its_midpoint_in_days(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    for kind in ("date", "timestamp"):
        relation = connection.sql(
            f"select 1 as k, {kind} '1970-01-01' as x_lower, {kind} '1970-01-04' as x_upper"
        )
        assert matrix(relation, *interval_encodings(relation, "x")).tolist() == [[1.5]]


def test_a_missing_bound_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    relation = connection.sql("select 1 as k, null::double as x_lower, 2.0 as x_upper")
    with pytest.raises(EvaluationError, match="1 of 1 are not"):
        matrix(relation, *interval_encodings(relation, "x"))


def test_text_bounds_are_refused(connection: duckdb.DuckDBPyConnection) -> None:
    relation = connection.sql("select 1 as k, '1' as x_lower, '2' as x_upper")
    with pytest.raises(EvaluationError, match="`x_lower` must hold numbers or dates"):
        interval_encodings(relation, "x")


@pytest.mark.parametrize(
    ("level", "labels", "expected"),
    [
        # Leaves in the order of their names: Bonn, Köln, Rome.
        (0, ["Köln", "Rome"], [[0, 1, 0], [0, 0, 1]]),
        (1, ["DE", 'it\'s "IT"'], [[1 / 2, 1 / 2, 0], [0, 0, 1]]),
        (2, ["DE", "other"], [[0, 1, 0], [1 / 2, 0, 1 / 2]]),
        (3, ["*", "*"], [[1 / 3] * 3, [1 / 3] * 3]),
        (0, ["*", None], [[1 / 3] * 3, [1 / 3] * 3]),
        (1, ["*", "DE"], [[1 / 3] * 3, [1 / 2, 1 / 2, 0]]),
    ],
)
def test_a_category_is_an_expected_one_hot_over_the_leaves_of_its_label(
    connection: duckdb.DuckDBPyConnection,
    level: int,
    labels: list[str | None],
    expected: list[list[float]],
) -> None:
    relation = column(connection, labels)
    hierarchy = table(connection, HIERARCHY)
    found = matrix(relation, categorical_encoding(relation, "x", hierarchy, level))
    assert found == pytest.approx(np.array(expected))


def test_numbers_and_leading_zeros_are_compared_as_text(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    hierarchy = table(connection, pd.DataFrame({"value": ["01067", "1067"]}))
    relation = column(connection, ["1067", "01067"])
    found = matrix(relation, categorical_encoding(relation, "x", hierarchy, 0))
    assert found.tolist() == [[0, 1], [1, 0]]


def test_a_label_that_is_not_in_its_level_is_refused_and_not_shown(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    relation = column(connection, ["DE", "Bonn"])
    encoding = categorical_encoding(relation, "x", table(connection, HIERARCHY), 1)
    with pytest.raises(EvaluationError, match="1 of 2 records") as raised:
        matrix(relation, encoding)
    assert "Bonn" not in str(raised.value)


@pytest.mark.parametrize(
    ("hierarchy", "level", "rule"),
    [
        (HIERARCHY, 4, "no \\['level_4'\\]"),
        (pd.DataFrame({"value": ["a", "a"], "level_1": ["b", "c"]}), 1, "2 rows for 1 values"),
        (pd.DataFrame({"value": ["a", "d"], "level_1": ["b", None]}), 1, "1 of them without"),
    ],
)
def test_a_hierarchy_that_does_not_give_one_label_is_refused(
    connection: duckdb.DuckDBPyConnection, hierarchy: pd.DataFrame, level: int, rule: str
) -> None:
    relation = column(connection, ["a"])
    with pytest.raises(EvaluationError, match=rule):
        categorical_encoding(relation, "x", table(connection, hierarchy), level)


def test_plain_columns_enter_by_their_type(connection: duckdb.DuckDBPyConnection) -> None:
    relation = connection.sql(
        """
        select * from (values
            (1, 2, 'b', true, date '1970-01-03', 1.5::decimal(5, 2)),
            (2, null, null, null, null, null),
            (3, 4, 'a', false, date '1970-01-02', 2.5)
        ) as t(k, "int", "select", flag, day, amount)
        """
    )
    names = ("int", "select", "flag", "day", "amount")
    found = matrix(relation, *(plain_encoding(relation, name) for name in names))
    nan = np.nan
    assert found == pytest.approx(
        np.array(
            [
                [2, 0, 1, 0, 1, 2, 1.5],
                [nan, 0, 0, 0, 0, nan, nan],
                [4, 1, 0, 1, 0, 1, 2.5],
            ]
        ),
        nan_ok=True,
    )


def test_a_missing_number_becomes_the_median_of_the_training_records_alone() -> None:
    rows = np.array([[1.0], [2.0], [7.0], [np.nan], [1000.0]])
    medians = training_medians(rows, np.array([0, 1, 2, 3]), np.array([0]))
    assert filled(rows, medians)[3] == 2.0
    assert training_medians(rows, np.array([3]), np.array([0])) == 0.0


def test_infinity_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    relation = column(connection, [1.0, float("-inf"), float("nan")])
    with pytest.raises(EvaluationError, match="`x` must be finite or missing; 1 of 3"):
        matrix(relation, plain_encoding(relation, "x"))


def test_a_type_that_no_model_reads_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    relation = connection.sql("select 1 as k, [1, 2] as x")
    with pytest.raises(EvaluationError, match="got INTEGER\\[\\]"):
        plain_encoding(relation, "x")


def test_a_column_that_is_missing_is_refused(connection: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(EvaluationError, match="`y` must be in the relation"):
        plain_encoding(column(connection, [1]), "y")


def test_too_many_categories_are_refused(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "MAX_CATEGORIES", 2)
    with pytest.raises(EvaluationError, match="at most 2 categories"):
        plain_encoding(column(connection, ["a", "b", "c"]), "x")


def test_equal_rows_are_stored_once() -> None:
    numbers = [np.array([1.0, np.nan, 1.0, np.nan, 1.0]), np.array([3.0, 5.0, 3.0, 5.0, 4.0])]
    encodings = [Encoding(name, "", may_be_missing=True) for name in ("a", "b")]
    design = make_design(encodings, numbers)
    assert design.size == 3
    assert np.array_equal(design.take(design.codes), np.column_stack(numbers), equal_nan=True)
    assert design.incomplete.tolist() == [0]


def test_bounds_are_two_features(connection: duckdb.DuckDBPyConnection) -> None:
    relation = connection.sql(
        "select * from (values (1, 0.5, 0.5), (2, 10, 15)) as t(k, x_lower, x_upper)"
    )
    found = matrix(relation, *interval_encodings(relation, "x", "bounds"))
    assert found.tolist() == [[0.5, 0.5], [10, 15]]


def test_frequencies_weigh_the_leaves_of_a_label(connection: duckdb.DuckDBPyConnection) -> None:
    hierarchy = table(connection, HIERARCHY)
    untouched = column(connection, ["Bonn", "Bonn", "Bonn", "Köln", None, "Rome", "Rome"])
    raw = categorical_encoding(untouched, "x", hierarchy, 0)
    codes = read_arrays(untouched, {"code": raw.sql}, order_by="k")["code"]
    leaves = known_leaves(raw, codes)
    assert leaves.tolist() == [0, 0, 0, 1, -1, 2, 2]
    relation = column(connection, ["DE", "DE", "DE", "DE", "*", None, 'it\'s "IT"'])
    encoding = categorical_encoding(relation, "x", hierarchy, 1)
    codes = read_arrays(relation, {"code": encoding.sql}, order_by="k")["code"]
    design = replace(make_design([encoding], [codes]), leaves={0: leaves})
    # Where Rome does not occur, its own label has no frequencies; nobody is there in the root.
    for released, de, root in (
        (range(5), [3 / 4, 1 / 4, 0], [3 / 4, 1 / 4, 0]),
        ([1, 3], [1 / 2, 1 / 2, 0], [1 / 2, 1 / 2, 0]),
        ([5, 6, 4], [1 / 2, 1 / 2, 0], [0, 0, 1]),
        ([4], [1 / 2, 1 / 2, 0], [1 / 3] * 3),
    ):
        counted = with_leaf_counts(design, np.array(released))
        expected = [de, de, de, de, root, root, [0, 0, 1]]
        assert counted.take(counted.codes) == pytest.approx(np.array(expected)), released


def test_a_label_may_be_a_feature_of_its_own(connection: duckdb.DuckDBPyConnection) -> None:
    relation = column(connection, ["other", "DE", None, "*"])
    encoding = label_encoding(relation, "x", table(connection, HIERARCHY), 2)
    assert matrix(relation, encoding).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]]


def test_a_hidden_record_has_no_quasi_identifiers(connection: duckdb.DuckDBPyConnection) -> None:
    relation = column(connection, ["Köln", "Rome"])
    category = categorical_encoding(relation, "x", table(connection, HIERARCHY), 0)
    encodings = [Encoding("age", "", is_quasi=True), category, Encoding("height", "")]
    values = [np.array([1.0, 2.0]), np.array([1, 2]), np.array([5.0, 6.0])]
    design = make_design(encodings, values, may_be_hidden=True)
    assert design.take(design.codes).tolist() == [[1, 0, 1, 0, 5], [2, 0, 0, 1, 6]]
    assert design.hidden is not None
    hidden = design.take(design.hidden)
    assert np.isnan(hidden[:, 0]).all()
    assert hidden[:, 1:].tolist() == [[1 / 3, 1 / 3, 1 / 3, 5], [1 / 3, 1 / 3, 1 / 3, 6]]
    assert design.quasi.tolist() == [True, True, True, True, False]


def test_a_class_mean_is_that_of_the_released_records_of_the_class() -> None:
    encodings = [Encoding("height", ""), Encoding("age", "", is_quasi=True)]
    height = np.array([7.0, 7.0, 7.0, 7.0, 8.0])
    midpoints = np.array([5.0, 5.0, 5.0, 15.0, 25.0])
    raw = np.array([1.0, 4.0, np.nan, 11.0, 29.0])
    classes = np.array([2, 2, 2, 0, 1])
    design = make_design(encodings, [height, midpoints], classes=classes, raw=[None, raw])
    means = design.take(design.codes, class_means(design, np.array([0, 1, 2, 3])))
    assert means[:, 1].tolist() == [2.5, 2.5, 2.5, 11.0, 25.0]
    assert means[:, 0].tolist() == height.tolist()
    means = design.take(design.codes, class_means(design, np.array([0])))
    assert means[:, 1].tolist() == [1, 1, 1, 15, 25]


def test_a_class_mean_of_equal_numbers_is_that_number_to_the_last_digit() -> None:
    numbers = np.full(7, 0.1)
    encoding = Encoding("age", "", is_quasi=True)
    design = make_design([encoding], [numbers], classes=np.zeros(7, dtype=int), raw=[numbers])
    numbers = class_means(design, np.arange(7))
    assert numbers is not None
    assert numbers.tolist() == [[0.1]]
