"""First levels of linked tables, by what would be hidden."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dbt_anonymize.extensions.linked.first_levels import draft

PEOPLE, WARDS = 40, 8
# Wards, halves of them, all.
CODES = [np.arange(WARDS), np.arange(WARDS) // 4, np.zeros(WARDS, dtype=np.int64)]


def levels(wards: Any, most_lost: float = 0.0, k: int = 4) -> int:
    """Return the drafted place of one stay per person."""
    numbers = np.arange(PEOPLE)
    rows = {"number": numbers, "parent": numbers}
    ages = {"age": [np.array([0, 1]), np.array([0, 0])]}
    subjects = {"rows": {**rows, "age": numbers // 20}, "over": "", "codes": ages}
    stays = {"rows": {**rows, "ward": np.array(wards)}, "over": "", "codes": {"ward": CODES}}
    (found,) = draft(
        subjects, {"stays": stays}, efforts=[{"age": 0}], k=k, known_records=2, most_lost=most_lost
    )
    return int(found["stays"]["ward"])


@pytest.mark.parametrize(
    ("wards", "most_lost", "expected"),
    [
        ([number % 2 for number in range(PEOPLE)], 0.0, 0),
        ([number % 8 for number in range(PEOPLE)], 0.0, 1),  # two or three of each ward and age
        ([0] * 39 + [7], 0.0, 2),
        ([0] * 39 + [7], 0.1, 0),  # the only one is hidden
    ],
)
def test_levels_are_the_mildest_that_lose_few_enough(
    wards: list[int], most_lost: float, expected: int
) -> None:
    assert levels(wards, most_lost) == expected


def test_records_of_people_who_are_left_out_do_not_make_the_others_coarser() -> None:
    """One of a class by herself has 6 of 46 records: more than is to be lost, at any level."""
    parent = np.r_[np.arange(PEOPLE + 1), np.full(5, PEOPLE)]
    numbers, ages = np.arange(PEOPLE + 1), np.r_[np.zeros(PEOPLE), 1].astype(np.int64)
    subjects = {"rows": {"number": numbers, "parent": numbers, "age": ages}, "over": ""}
    stays = {"rows": {"number": np.arange(len(parent)), "parent": parent, "ward": parent % 2}}

    (found,) = draft(
        {**subjects, "codes": {"age": [np.array([0, 1])]}},
        {"stays": {**stays, "over": "", "codes": {"ward": CODES}}},
        efforts=[{"age": 0}],
        k=4,
        known_records=2,
        most_lost=0.1,
    )

    assert found == {"stays": {"ward": 0}}


def test_they_are_roots_where_none_lose_few_enough() -> None:
    assert levels([0] * PEOPLE, k=PEOPLE) == 2


@pytest.mark.parametrize(("classes", "expected"), [(2, 0), (40, 0), (9_000, 1)])
def test_of_many_people_some_classes_are_looked_at(classes: int, expected: int) -> None:
    """Large ones in part, small ones as a whole: three people of a class are of two wards."""
    numbers = np.arange(27_000)
    rows = {"number": numbers, "parent": numbers}
    ages = {"age": [np.arange(classes)]}
    subjects = {"rows": {**rows, "age": numbers % classes}, "over": "", "codes": ages}
    wards = {"ward": numbers // classes % 2}
    codes = {"ward": [np.array([0, 1]), np.array([0, 0])]}
    stays = {"rows": {**rows, **wards}, "over": "", "codes": codes}
    (found,) = draft(
        subjects, {"stays": stays}, efforts=[{"age": 0}], k=3, known_records=2, most_lost=0.1
    )
    assert found["stays"]["ward"] == expected
