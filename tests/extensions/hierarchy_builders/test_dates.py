from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.dates import date_intervals
from dbt_anonymize.extensions.hierarchy_builders.rules import is_nested, violations

days = st.dates(date(1900, 1, 1), date(2100, 12, 31))


@given(first=days, span=st.integers(400, 1500), day=st.integers(0, 400))
def test_months_quarters_and_years_are_nested_and_hold_every_day(first, span, day):
    last = date.fromordinal(first.toordinal() + span)
    hierarchy = date_intervals(first, last, ["month", "quarter", "year"])
    assert violations(hierarchy) == ()
    inside = date.fromordinal(first.toordinal() + day)
    leaf = hierarchy.leaf(inside)
    assert hierarchy.labels[0][leaf] == f"{inside:%Y-%m}"
    assert hierarchy.labels[1][leaf] == f"{inside.year}-Q{(inside.month + 2) // 3}"
    assert hierarchy.labels[2][leaf] == f"{inside.year}"


@given(first=days, day=st.integers(0, 60))
def test_weeks_are_iso_weeks(first, day):
    last = date.fromordinal(first.toordinal() + 60)
    hierarchy = date_intervals(first, last, ["week"])
    inside = date.fromordinal(first.toordinal() + day)
    assert hierarchy.labels[0][hierarchy.leaf(inside)] == f"{inside:%G-W%V}"


def test_the_range_is_widened_to_whole_units_so_that_names_are_true():
    hierarchy = date_intervals(date(2015, 6, 1), date(2024, 2, 29), ["year", "decade"])
    assert hierarchy.lower_bounds[0] == date(2010, 1, 1)
    assert hierarchy.upper_bounds[-1] == date(2030, 1, 1)
    assert set(hierarchy.labels[1]) == {"2010s", "2020s"}


def test_weeks_below_months_are_not_nested():
    hierarchy = date_intervals(date(2024, 1, 1), date(2024, 3, 1), ["day", "week", "month"])
    assert not is_nested(hierarchy)
    assert violations(hierarchy, nested=False) == ()


@pytest.mark.parametrize(
    ("first", "last", "granularities", "message"),
    [
        (date(2024, 1, 1), date(2024, 12, 1), ["week", "month"], "cuts some of them"),
        (date(2024, 1, 1), date(2025, 1, 1), ["year", "month"], "from fine to coarse"),
        (date(2024, 1, 1), date(2025, 1, 1), ["fortnight"], "got fortnight"),
        (date(2024, 1, 1), date(2025, 1, 1), [], "got none"),
        (date(2025, 1, 1), date(2024, 1, 1), ["year"], "first not after the last"),
        (date(2025, 1, 1), date(9999, 1, 1), ["year"], "years 10 to 9980"),
        (date(2024, 1, 1), date(2024, 6, 1), ["month", "year"], "at least two intervals"),
    ],
)
def test_what_cannot_be_built_is_refused_with_the_rule(first, last, granularities, message):
    with pytest.raises(HierarchyError, match=message):
        date_intervals(first, last, granularities)
