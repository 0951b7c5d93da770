"""Round intervals of numbers: steps, bounds that grow, whole numbers, labels that sort."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.growing import growing_intervals
from dbt_anonymize.extensions.hierarchy_builders.integers import integer_groups
from dbt_anonymize.extensions.hierarchy_builders.intervals import cut_intervals
from dbt_anonymize.extensions.hierarchy_builders.padding import padded_labels
from dbt_anonymize.extensions.hierarchy_builders.rules import violations
from dbt_anonymize.extensions.hierarchy_builders.steps import nice_widths
from dbt_anonymize.hierarchies import IntervalHierarchy

amounts = st.dictionaries(
    st.one_of(
        st.integers(-(10**6), 10**6).map(Decimal),
        st.decimals("-50", "50", places=2),
        st.just(Decimal(0)),
    ),
    st.integers(1, 400),
    min_size=2,
    max_size=60,
)


def assert_sorts(built: IntervalHierarchy) -> None:
    for level in built.labels:
        assert list(level) == sorted(level)


@given(records=amounts, leaves=st.integers(4, 40))
def test_bounds_that_grow_hold_every_value_and_sort(records, leaves):
    whole = all(number == number.to_integral_value() for number in records)
    try:
        built = growing_intervals(records, leaves=leaves, whole=whole)
    except HierarchyError:
        return
    assert violations(built) == ()
    assert_sorts(built)
    assert all(built.leaf(number) is not None for number in records)
    assert all(len(set(level)) > 1 for level in built.labels[:-1])
    if min(records) >= 0:
        assert built.lower_bounds[0] >= 0


def test_a_long_tail_has_round_bounds_that_grow_and_few_empty_intervals():
    """Incomes as of a log-normal distribution: quantiles of it, many times."""
    records = Counter(Decimal(round(30_000 * 1.5 ** (place / 100))) for place in range(-600, 700))
    built = growing_intervals(records, whole=True)
    digits = {str(bound.normalize().as_tuple().digits[0]) for bound in built.lower_bounds[1:]}
    assert digits <= set("12345678 9")
    assert len(built.labels[0]) <= 37
    coarse = [len(set(level)) for level in built.labels]
    assert coarse == sorted(coarse, reverse=True)
    assert "[050000, 100000)" in {label for level in built.labels for label in level}
    counts = Counter(built.leaf(number) for number in records)
    assert sum(counts[place] == 0 for place in range(len(built.lower_bounds))) == 0


def test_zero_that_many_have_stands_by_itself_also_between_debts_and_savings():
    savings = {Decimal(10 * n): 5 for n in range(1, 200)}
    built = growing_intervals({Decimal(0): 900, **savings}, whole=True)
    (first, second) = built.labels[-2][0], built.labels[-2][-1]
    assert first == "0"
    assert second == "[0001, 2000)"
    debts = {-number: count for number, count in savings.items()}
    built = growing_intervals({Decimal(0): 900, **savings, **debts}, whole=True)
    leaf = built.leaf(Decimal(0))
    assert leaf is not None
    assert built.leaf(Decimal(10)) != leaf != built.leaf(Decimal(-10))
    assert len(set(built.labels[-2])) == 3
    assert_sorts(built)


def test_noise_near_zero_makes_no_bounds_and_few_debts_are_not_alone():
    records = {Decimal(n): 10 for n in range(20, 3000, 10)} | {Decimal("0.00001"): 1}
    assert growing_intervals(records).lower_bounds[:2] == (Decimal(0), Decimal(50))
    built = growing_intervals({**records, Decimal(-3): 1})
    assert built.labels[0][0].startswith("[-")
    assert built.upper_bounds[0] > 0


def test_whole_numbers_are_their_own_leaves_and_rare_ends_are_open():
    cylinders = {Decimal(n): 50 for n in (4, 6, 8)}
    assert integer_groups(cylinders).labels[0] == ("4", "5", "6", "7", "8")
    children = {Decimal(n): count for n, count in enumerate((90, 40, 50, 20, 9, 2, 1, 0, 1))}
    built = integer_groups(children)
    assert built.labels[0] == ("0", "1", "2", "3", "4+")
    assert built.upper_bounds[-1] == 10
    assert len(set(built.labels[-2])) == 2
    wide = integer_groups({Decimal(n): 10 for n in range(1, 13)})
    assert_sorts(wide)
    assert wide.labels[0][:2] == ("01", "02")
    for wrong in ({Decimal("1.5"): 9}, {Decimal(-1): 9}, {Decimal(0): 9, Decimal(400): 9}, {}):
        with pytest.raises(HierarchyError, match="whole numbers >= 0"):
            integer_groups(wrong)


@given(lower=st.integers(-5000, 5000), size=st.integers(1, 20_000), whole=st.booleans())
def test_widths_are_round_and_each_divides_the_next(lower, size, whole):
    widths = nice_widths(Decimal(lower), Decimal(lower + size), leaves=32, whole=whole)
    assert all(str(width.normalize().as_tuple().digits[0]) in "125" for width in widths)
    assert all(b % a == 0 and b > a for a, b in pairwise(widths))
    assert not whole or widths[0] >= 1


@given(st.lists(st.decimals(-999, 999, places=1), min_size=3, max_size=30, unique=True).map(sorted))
def test_padded_labels_sort_and_are_of_the_same_bounds(cuts):
    plain = cut_intervals(cuts, merge=[2] if len(cuts) > 3 else [])
    padded = padded_labels(plain)
    assert_sorts(padded)
    assert (padded.lower_bounds, padded.upper_bounds) == (plain.lower_bounds, plain.upper_bounds)
    assert violations(padded) == ()


def test_many_values_have_the_bounds_that_they_had_one_by_one(monkeypatch) -> None:
    records = Counter(Decimal(round(3_000_000 * 1.5 ** (n / 400))) for n in range(-4000, 4000))
    one_by_one = growing_intervals(records, whole=True)
    monkeypatch.setattr("dbt_anonymize.extensions.hierarchy_builders.growing._MANY", 10)
    assert growing_intervals(records, whole=True) == one_by_one


def test_counts_are_named_by_their_first_and_last_number_where_some_are_alone():
    visits = {Decimal(n): 4000 // (n + 1) ** 2 for n in range(60)}
    built = growing_intervals(visits, whole=True)
    assert built.labels[0][:3] == ("0", "01", "02")
    assert all("[" not in label for level in built.labels for label in level)
    assert built.labels[-2][0] == "0"
    assert_sorts(built)


def test_a_level_that_tells_little_is_left_out():
    records = {Decimal(n) / 10: 10 for n in range(150, 600)} | {Decimal(3000): 6}
    shares = []
    built = growing_intervals(records)
    for level in built.labels[:-1]:
        counts = Counter()
        for number, count in records.items():
            counts[level[built.leaf(number)]] += count
        shares.append(max(counts.values()) / sum(counts.values()))
    assert shares[-1] < 0.9
