"""Targets that cannot be split or trained are refused with the true cause."""

from __future__ import annotations

import numpy as np
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.data.features import check_numbers as check_feature
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.evaluation.target_checks import check_numbers, check_target

ROWS = 300
CODES = np.arange(ROWS) % 3


def folds(number: int) -> Splitting:
    return Splitting(repetitions=1, folds=number)


def refused(codes: np.ndarray, classes: int, splitting: Splitting) -> str:
    with pytest.raises(EvaluationError) as error:
        check_target(codes, classes, splitting, "value")
    return str(error.value)


def test_more_folds_than_records_is_not_called_a_rare_class() -> None:
    said = refused(CODES, 3, folds(400))
    assert said.startswith("quality.folds must be at most the number of records, 300,")
    assert "got 400. Write fewer folds" in said
    assert "Merge" not in said
    with pytest.raises(EvaluationError, match=r"quality\.folds must be at most"):
        check_numbers(np.arange(ROWS) * 1.0, folds(400), "value")


def test_one_rare_record_is_counted_and_may_be_left_out() -> None:
    said = refused(np.append(CODES, 3), 4, folds(5))
    assert "got 1 of 4 classes with fewer, which has 1 record. Leave those records out" in said
    assert "every class of target `value` must have at least 5 records" in said


def test_where_no_class_is_large_enough_the_folds_are_too_many() -> None:
    said = refused(CODES, 3, folds(150))
    assert "No class has more than 100: write fewer than 150 folds." in said
    assert "erge" not in said


def test_an_infinite_target_is_not_null() -> None:
    values = np.append(np.arange(ROWS) * 1.0, np.inf)
    with pytest.raises(EvaluationError, match=r"must be finite; 1 of 301 records") as error:
        check_numbers(values, folds(5), "value")
    assert "NULL" not in str(error.value)


def test_a_number_beyond_single_precision_is_named() -> None:
    check_feature("dose", np.array([1e38, np.nan, -3e38]))
    with pytest.raises(EvaluationError, match=r"feature `dose` must be at most 3\.4e\+38 in size"):
        check_feature("dose", np.array([1.0, -1e39]))
