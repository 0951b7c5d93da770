from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.intervals import (
    cut_intervals,
    equal_width_intervals,
)
from dbt_anonymize.extensions.hierarchy_builders.quantiles import quantile_intervals
from dbt_anonymize.extensions.hierarchy_builders.rules import is_nested, violations
from dbt_anonymize.hierarchies import IntervalHierarchy

numbers = st.decimals(-10_000, 10_000, places=2)
cut_points = st.lists(numbers, min_size=4, max_size=40, unique=True).map(sorted)


def assert_tiles(hierarchy: IntervalHierarchy, lower: Decimal, upper: Decimal) -> None:
    assert hierarchy.lower_bounds[0] == lower
    assert hierarchy.upper_bounds[-1] == upper
    assert hierarchy.lower_bounds[1:] == hierarchy.upper_bounds[:-1]


@given(cuts=cut_points, factor=st.integers(2, 3))
def test_cut_points_give_nested_intervals_that_tile_the_range(cuts, factor):
    merge = [factor] if len(cuts) - 1 > factor else []
    hierarchy = cut_intervals(cuts, merge=merge)
    assert violations(hierarchy) == ()
    assert_tiles(hierarchy, cuts[0], cuts[-1])


@given(
    lower=numbers,
    leaf=st.decimals("0.01", 100, places=2),
    multiples=st.lists(st.integers(2, 6), unique=True, max_size=3).map(sorted),
    leaves=st.integers(8, 60),
    rest=st.decimals(0, "0.99", places=2),
)
def test_equal_widths_tile_the_range_and_each_level_is_named_by_true_bounds(
    lower, leaf, multiples, leaves, rest
):
    upper = lower + leaf * (leaves + rest)
    widths = [leaf, *(leaf * multiple for multiple in multiples)]
    hierarchy = equal_width_intervals(lower, upper, widths)
    assert violations(hierarchy, nested=False) == ()
    assert_tiles(hierarchy, lower, upper)
    for labels in hierarchy.labels[:-1]:
        for label in set(labels):
            covered = [row for row, other in enumerate(labels) if other == label]
            low, high = (Decimal(part) for part in label[1:-1].split(", "))
            assert low == hierarchy.lower_bounds[covered[0]]
            assert high == hierarchy.upper_bounds[covered[-1]]


@given(cuts=cut_points, value=numbers)
def test_every_value_in_range_has_exactly_one_leaf_and_no_other_value_has_one(cuts, value):
    hierarchy = cut_intervals(cuts)
    holding = [
        row
        for row, (lower, upper) in enumerate(
            zip(hierarchy.lower_bounds, hierarchy.upper_bounds, strict=True)
        )
        if lower <= value < upper
    ]
    assert len(holding) == (cuts[0] <= value < cuts[-1])
    assert hierarchy.leaf(value) == (holding[0] if holding else None)


@given(
    values=st.lists(st.integers(1, 99), min_size=5, max_size=200),
    leaves=st.sampled_from([4, 8, 16]),
)
def test_quantiles_are_nested_and_hold_every_value(values, leaves):
    hierarchy = quantile_intervals(values, 0, 100, leaves=leaves, decimals=0)
    assert violations(hierarchy) == ()
    assert len(hierarchy.lower_bounds) <= leaves
    assert_tiles(hierarchy, Decimal(0), Decimal(100))
    assert all(hierarchy.leaf(Decimal(value)) is not None for value in values)


def test_quantiles_of_distinct_values_hold_equally_many():
    hierarchy = quantile_intervals(range(1000), -1, 2000, leaves=8, decimals=0, merge=[2, 2])
    sizes = [0] * 8
    for value in range(1000):
        sizes[hierarchy.leaf(Decimal(value))] += 1
    assert max(sizes) - min(sizes) <= 2  # cut points are rounded
    assert [len(set(labels)) for labels in hierarchy.labels] == [8, 4, 2, 1]


def test_quantiles_of_many_equal_values_have_fewer_leaves():
    hierarchy = quantile_intervals([5] * 99 + [7], 0, 10, leaves=10, decimals=0)
    assert hierarchy.labels[0] == ("[0, 5)", "[5, 10)")


def test_widths_that_do_not_divide_one_another_are_not_nested_and_others_are():
    assert not is_nested(equal_width_intervals(0, 36, [1, 3, 5]))
    assert is_nested(equal_width_intervals(0, 36, [1, 3, 6], merge=[2]))


def test_the_last_interval_is_cut_at_the_end_of_the_range():
    assert equal_width_intervals(0, 36, [1, 5]).labels[1][-1] == "[35, 36)"


def test_floats_count_as_their_shortest_text():
    assert equal_width_intervals(0.0, 0.3, [0.1]).labels[0] == (
        "[0, 0.1)",
        "[0.1, 0.2)",
        "[0.2, 0.3)",
    )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: equal_width_intervals(0, 10, [2, 3]), "level 2 must merge whole leaf intervals"),
        (lambda: equal_width_intervals(0, 10, [2, 2]), "widths must be numbers > 0 that rise"),
        (lambda: equal_width_intervals(0, 10, [0]), "widths must be numbers > 0"),
        (lambda: equal_width_intervals(10, 10, [1]), "lower must be below upper"),
        (lambda: equal_width_intervals(0, 10, [1, 10]), "at least two intervals below the root"),
        (lambda: equal_width_intervals(0, 10, ["0.000001"]), "at most 1000000 leaves"),
        (lambda: equal_width_intervals(0, float("inf"), [1]), "upper must be a finite number"),
        (lambda: cut_intervals([0, 2, 1]), "rise strictly"),
        (lambda: cut_intervals([0]), "at least two numbers"),
        (lambda: cut_intervals([0, 1, 2], merge=[1]), "merging factor must be an int >= 2"),
        (lambda: cut_intervals([0, 1, 2], merge=[2]), "at least two intervals below the root"),
        (lambda: quantile_intervals([], 0, 1, leaves=2, decimals=0), "1 value; got 2 leaves and 0"),
        (lambda: quantile_intervals([5], 0, 5, leaves=2, decimals=0), "1 of 1 do not"),
        (lambda: quantile_intervals([5], 0, 9, leaves=2, decimals=99), "Round them more"),
    ],
)
def test_what_cannot_be_built_is_refused_with_the_rule(build, message):
    with pytest.raises(HierarchyError, match=message):
        build()


def test_a_value_that_is_no_number_is_not_repeated_in_the_error():
    with pytest.raises(HierarchyError) as error:
        quantile_intervals(["1", "Rosa Núñez"], 0, 9, leaves=2, decimals=0)
    assert "Rosa" not in str(error.value)
