import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.groups import explicit_groups, ordered_groups
from dbt_anonymize.extensions.hierarchy_builders.priority import (
    priority_by_frequency,
    priority_by_order,
)
from dbt_anonymize.extensions.hierarchy_builders.redaction import all_codes, redact_codes
from dbt_anonymize.extensions.hierarchy_builders.rules import violations

words = st.text(alphabet="abcdef", min_size=1, max_size=4)
distinct_words = st.lists(words, unique=True, min_size=5, max_size=30)
codes = st.lists(st.text(alphabet="0123456789", min_size=5, max_size=5), unique=True, min_size=1)


@given(values=distinct_words, size=st.integers(2, 4))
def test_ordered_groups_hold_neighbours_and_are_nested(values, size):
    hierarchy = ordered_groups(values, [size])
    assert violations(hierarchy) == ()
    assert hierarchy.values == tuple(values)
    for row in range(1, len(values)):
        together = hierarchy.labels[0][row] == hierarchy.labels[0][row - 1]
        assert together == (row % size != 0)


def test_sizes_of_ordered_groups_multiply():
    hierarchy = ordered_groups(list("abcdefghij"), [2, 2])
    assert hierarchy.labels[1] == ("a - d",) * 4 + ("e - h",) * 4 + ("i - j",) * 2


def test_explicit_groups_can_be_grouped_again():
    hierarchy = explicit_groups(
        [
            {"Iberia": ["ES", "PT"], "Benelux": ["NL"], "Japan": ["JP"]},
            {"Europe": ["Iberia", "Benelux"], "Asia": ["Japan"]},
        ]
    )
    assert hierarchy.labels[1] == ("Europe", "Europe", "Europe", "Asia")
    assert violations(hierarchy) == ()


@given(values=codes, prefix=st.booleans())
def test_redaction_hides_one_more_character_at_every_level(values, prefix):
    hierarchy = redact_codes(values, end="prefix" if prefix else "suffix")
    assert violations(hierarchy) == ()
    assert hierarchy.levels == 5
    for level, labels in enumerate(hierarchy.labels[:-1], start=1):
        for value, label in zip(values, labels, strict=True):
            shown = value[level:] if prefix else value[:-level]
            assert label == ("*" * level + shown if prefix else shown + "*" * level)


def test_padding_hides_the_length_of_a_code():
    hierarchy = redact_codes(["7", "71", "712"], pad="_", counts=[2])
    assert hierarchy.values == ("7", "71", "712")
    assert set(hierarchy.labels[0]) == {"7**"}
    assert redact_codes(["7", "71"], end="prefix", pad="0").labels[0] == ("*7", "*1")


def test_all_codes_of_an_alphabet_can_be_redacted():
    hierarchy = redact_codes(all_codes("0123456789", 3))
    assert len(hierarchy.values) == 1000
    assert [len(set(labels)) for labels in hierarchy.labels] == [100, 10, 1]


@given(values=distinct_words, levels=st.integers(2, 5))
def test_priorities_suppress_more_values_at_every_level(values, levels):
    hierarchy = priority_by_order(values, levels=levels)
    assert violations(hierarchy) == ()
    shares = [labels.count("*") for labels in hierarchy.labels]
    assert shares == sorted(set(shares))
    assert shares[-1] == len(values)


def test_the_rarest_value_is_suppressed_first_and_ties_go_by_name():
    hierarchy = priority_by_frequency(["b", "c", "c", "a"])
    assert hierarchy.values == ("a", "b", "c")
    assert hierarchy.labels[0] == ("*", "b", "c")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ordered_groups(["a", "b"], [2]), "at least two groups"),
        (lambda: ordered_groups(["a", "b"], [1]), "int >= 2"),
        (lambda: ordered_groups(["a", "b"], []), "at least one int"),
        (lambda: ordered_groups(list("abab"), [2]), "different names"),
        (lambda: ordered_groups(["a", "b", "c", "a"], [2]), "values are unique"),
        (lambda: ordered_groups(["*", "b", "c"], [2]), "the root label \\* is not a value"),
        (lambda: explicit_groups([]), "at least one level"),
        (lambda: explicit_groups([{"x": ["a"], "y": ["a"]}]), "hold each member once; 1 repeat"),
        (lambda: explicit_groups([{"x": ["a"]}, {"z": ["y"]}]), "1 are missing and 1 are unknown"),
        (lambda: explicit_groups([{"": ["a"], "y": ["b"]}]), "labels are not empty"),
        (lambda: redact_codes(["123", "12"]), "one length; 1 of 2 are shorter"),
        (lambda: redact_codes(["1*3"]), "must not hold the symbol"),
        (lambda: redact_codes(["123"], symbol="**"), "two different single characters"),
        (lambda: redact_codes(["123"], alphabet="12"), "1 of 1 do not"),
        (lambda: redact_codes(["123"], counts=[2, 1]), "counts must rise"),
        (lambda: redact_codes(["123"], counts=[3]), "stay below the length 3"),
        (lambda: redact_codes([]), "at least one value"),
        (lambda: all_codes("0123456789", 7), "at most 1000000 codes"),
        (lambda: all_codes("00", 2), "distinct characters"),
        (lambda: priority_by_order([]), "number of values \\(0\\)"),
        (lambda: priority_by_order(["a"], levels=2), "from 1 to the number of values"),
    ],
)
def test_what_cannot_be_built_is_refused_with_the_rule(build, message):
    with pytest.raises(HierarchyError, match=message):
        build()
