"""Levels of hierarchies in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise

import pytest

from dbt_anonymize.hierarchies.bounds import Bound
from dbt_anonymize.hierarchies.model import CategoricalHierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.words import level_words


def intervals(bounds: Sequence[Bound]) -> IntervalHierarchy:
    """Return intervals between bounds, with the root alone above them."""
    labels = tuple(f"[{lower}, {upper})" for lower, upper in pairwise(bounds))
    return IntervalHierarchy(tuple(bounds[:-1]), tuple(bounds[1:]), (labels, ("*",) * len(labels)))


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((0, 10, 20, 30), "by 10"),
        (("0", "0.5", "1", "1.5"), "by 0.5"),
        ((0, 18, 28, 38, 48, 120), "by 10"),
        ((0, 1, 2, 3), "by 1"),
        # Two inner intervals of one width are that by chance.
        ((0, 18, 28, 38, 120), "in 4 intervals"),
        ((0, 10, 30, 100, 300, 1000), "in 5 intervals"),
    ],
)
def test_numbers_are_told_by_their_width(bounds: tuple[str | int, ...], words: str) -> None:
    tree = intervals([Decimal(bound) for bound in bounds])
    assert level_words(tree) == (words, "*")


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ([date(2024, month, 1) for month in range(1, 7)], "by month"),
        ([date(2024, month, 1) for month in (1, 4, 7, 10)], "by quarter"),
        ([date(year, 1, 1) for year in range(2020, 2024)], "by year"),
        ([date(year, 1, 1) for year in range(1990, 2030, 10)], "by decade"),
        ([date(year, 1, 1) for year in range(1990, 2010, 5)], "by 5 years"),
        ([date(2024, month, 1) for month in (1, 3, 5, 7)], "by 2 months"),
        ([date(2024, 1, day) for day in (1, 8, 15, 22)], "by week"),
        ([date(2024, 1, day) for day in range(2, 6)], "by day"),
        ([date(2024, 1, day) for day in (2, 4, 6)], "by 2 days"),
        ([date(2024, 1, day) for day in (2, 4, 8)], "in 2 intervals"),
    ],
)
def test_dates_are_told_by_the_calendar(bounds: list[Bound], words: str) -> None:
    assert level_words(intervals(bounds)) == (words, "*")


def test_categories_are_counted() -> None:
    labels = (("a", "b", "c"), ("x", "x", "*"), ("*", "*", "*"))
    tree = CategoricalHierarchy(("a", "b", "c"), labels)
    assert level_words(tree) == ("in 3 groups", "in 2 groups", "*")
