"""Widened hierarchies cover new values, and keep every old label."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.dates import date_intervals
from dbt_anonymize.extensions.hierarchy_builders.extension import (
    extend_categories,
    extend_intervals,
)
from dbt_anonymize.extensions.hierarchy_builders.intervals import (
    cut_intervals,
    equal_width_intervals,
)
from dbt_anonymize.extensions.hierarchy_builders.padding import padded_labels
from dbt_anonymize.extensions.hierarchy_builders.redaction import redact_codes
from dbt_anonymize.extensions.hierarchy_builders.rules import violations
from dbt_anonymize.extensions.hierarchy_builders.splits import split_at
from dbt_anonymize.hierarchies import CategoricalHierarchy, IntervalHierarchy
from tests.sampling import examples

NUMBERS = st.integers(-300, 300).map(Decimal)


def rows(hierarchy: IntervalHierarchy | CategoricalHierarchy) -> list[tuple[str, ...]]:
    return [row.cells for row in hierarchy.table().rows]


@given(
    hierarchy=st.sampled_from(
        [
            equal_width_intervals(0, 20, [5, 10]),
            equal_width_intervals(0, 18, [5, 10]),  # the last interval is cut
            equal_width_intervals(10, 20, [1, 3, 5]),  # not nested
            cut_intervals([0, 18, 40, 65, 120], merge=[2]),
            cut_intervals([-5, 5]),
            split_at(equal_width_intervals(0, 40, [5, 10]), [Decimal(30)]),
            padded_labels(split_at(equal_width_intervals(0, 40, [5, 10]), [Decimal(30)])),
        ]
    ),
    ends=st.tuples(NUMBERS, NUMBERS).map(sorted),
)
@settings(examples(settings(deadline=None), 200))
def test_intervals_cover_more_and_keep_their_rows(
    hierarchy: IntervalHierarchy, ends: list[Decimal]
) -> None:
    extended = extend_intervals(hierarchy, *ends)
    assert set(rows(hierarchy)) <= set(rows(extended))
    assert violations(extended, nested=not violations(hierarchy)) == ()
    assert all(extended.leaf(end) is not None for end in ends)
    inside = hierarchy.leaf(ends[0]) is not None and hierarchy.leaf(ends[1]) is not None
    assert (extended == hierarchy) == inside


def test_units_of_the_calendar_go_on() -> None:
    days = date_intervals(date(2022, 2, 1), date(2023, 9, 9), ["quarter", "year"])
    extended = extend_intervals(days, date(2021, 12, 31), date(2024, 1, 1))
    assert extended.labels[0][0] == "2021-Q1"
    assert extended.labels[0][-1] == "2024-Q4"
    assert set(rows(days)) <= set(rows(extended))


def test_what_lies_below_a_split_goes_on_and_gets_parts_of_its_own() -> None:
    ages = padded_labels(split_at(equal_width_intervals(20, 80, [5, 10]), [Decimal(40)]))
    extended = extend_intervals(ages, Decimal(3), Decimal(97))
    assert set(rows(ages)) <= set(rows(extended))
    assert [*dict.fromkeys(extended.labels[1])][-2:] == ["[80, 90)", "[90, 100)"]
    assert [*dict.fromkeys(extended.labels[2])] == [
        *("[0, 20)", "[20, 40)", "[40, 80)", "[80, 100)")
    ]


def test_ends_are_nobody_s_value() -> None:
    cuts = cut_intervals([0, 18, 65])
    extended = extend_intervals(cuts, Decimal(-7), Decimal(91))
    assert (extended.lower_bounds[0], extended.upper_bounds[-1]) == (Decimal(-8), Decimal(100))
    owned = date_intervals(date(2023, 1, 1), date(2023, 12, 31), ["month", "quarter"])
    own_labels = IntervalHierarchy(
        owned.lower_bounds, owned.upper_bounds, (tuple("abcdefghijkl"), owned.labels[-1])
    )
    wider = extend_intervals(own_labels, date(2023, 5, 5), date(2025, 5, 5))
    assert wider.upper_bounds[-1] == date(2026, 1, 1)


@given(
    old=st.lists(st.text("0123", min_size=3, max_size=3), min_size=2, unique=True),
    new=st.lists(st.text("0123", min_size=3, max_size=3), unique=True),
)
@settings(examples(settings(deadline=None), 100))
def test_codes_are_redacted_as_the_others_are(old: list[str], new: list[str]) -> None:
    extended = extend_categories(redact_codes(old), new)
    labels = dict(zip(extended.values, extended.labels[0], strict=True))
    assert labels == {code: f"{code[:2]}*" for code in [*old, *new]}


def test_other_values_are_the_root_or_go_where_they_are_told() -> None:
    cities = CategoricalHierarchy(("Porto", "Vigo"), (("Portugal", "Spain"), ("*", "*")))
    assert rows(extend_categories(cities, ["Faro", "Vigo"]))[2:] == [("Faro", "*", "*")]
    told = extend_categories(cities, ["Faro"], into="Portugal")
    assert rows(told)[2:] == [("Faro", "Portugal", "*")]
    longer = extend_categories(redact_codes(["12", "34"]), ["567"])
    assert rows(longer)[2:] == [("567", "*", "*")], "its length would tell it apart"
    with pytest.raises(HierarchyError, match="--into must be a label of level 1"):
        extend_categories(cities, ["Faro"], into="France")


def test_values_of_another_type_are_refused() -> None:
    with pytest.raises(HierarchyError, match="must both be numbers or both dates"):
        extend_intervals(cut_intervals([0, 1]), date(2024, 1, 1), date(2024, 1, 1))


@pytest.mark.parametrize("whole", [False, True])
def test_labels_that_sort_go_on_with_as_many_digits(whole: bool) -> None:
    ages = padded_labels(equal_width_intervals(0, 100, [1, 10]), whole=whole)
    once = extend_intervals(ages, Decimal(0), Decimal(104))
    assert once.labels[1][-1] == ("100-109" if whole else "[100, 110)")
    assert once.labels[0][:100] == ages.labels[0]
    again = extend_intervals(once, Decimal(0), Decimal(115))
    assert again.labels[0][-1] == ("119" if whole else "[119, 120)")
    assert again.labels[0][5] == ages.labels[0][5]
