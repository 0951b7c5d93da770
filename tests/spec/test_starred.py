"""Quasi-identifiers that are `*` in every effort: the release has no column of them."""

from __future__ import annotations

from typing import Any

import pytest

from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.contract import released_types
from tests.spec.declarations import spec

AGE, KEPT = ["age", "age_lower", "age_upper"], ["income", "ill", "cqi"]
STARRED = {"age": 1, "city": 2}


def found(*efforts: dict[str, Any], **changes: Any) -> Spec:
    one = Spec.model_validate(spec(efforts=list(efforts), **changes))
    assert list(one.quasi_identifiers) == ["age", "city"], "both are counted, lost and searched"
    return one


def test_what_is_starred_in_every_effort_is_not_released() -> None:
    one = found(STARRED, {"levels": {"age": 2, "city": 2}, "k": 7})
    assert one.released_columns == [*AGE, *KEPT]
    assert one.generalized_columns == [*AGE, "city"], "those of its classes"


def test_the_columns_do_not_depend_on_the_effort_that_is_released() -> None:
    efforts = STARRED, {"age": 2, "city": 1}
    for number in (1, 2):
        one = found(*efforts, release={"effort": number})
        assert one.released_columns == [*AGE, "city", *KEPT]


def test_a_release_has_columns_even_if_all_is_starred() -> None:
    assert found({"age": 3, "city": 2}).released_columns == [*AGE, "city", *KEPT]


def test_neither_bounds_nor_midpoints_of_it_are_released() -> None:
    one = found({"age": 3, "city": 1}, release={"midpoints": True})
    assert one.released_columns == ["city", *KEPT]
    one = found(STARRED, release={"midpoints": True})
    assert one.released_columns == [*AGE, "age_midpoint", *KEPT]


def test_a_contract_has_the_columns_of_the_release() -> None:
    declared = spec(efforts=[STARRED])
    for name, type_ in {"age": "integer", "income": "double", "ill": "text"}.items():
        declared["columns"][name]["data_type"] = type_
    assert [*released_types(Spec.model_validate(declared))] == [*AGE, *KEPT]


@pytest.mark.needs("recoding")
@pytest.mark.parametrize(
    "effort",
    [
        {"age": {"level": 3, "show": "mean"}, "city": 1},
        {"recoding": "local", "rounds": [{"age": 3, "city": 0}, {"age": 3, "city": 1}]},
        {"recoding": "cell_suppression", "levels": {"age": 3, "city": 1}},
        {"recoding": "multidimensional", "k": 4},
    ],
)
def test_what_may_show_more_than_a_label_is_released(effort: dict[str, Any]) -> None:
    one = found({"age": 3, "city": 0}, effort)
    assert one.released_columns == [*AGE, "city", *KEPT]
