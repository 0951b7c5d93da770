"""Words and ranges whose order people know, and the others by frequency."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.ordered import has_known_order, order_values
from dbt_anonymize.extensions.hierarchy_builders.others import rare_together
from dbt_anonymize.extensions.hierarchy_builders.rules import violations

KNOWN = [
    "none, primary, high school, some college, bachelor, master, doctorate",
    "1. < HS Grad, 2. HS Grad, 3. Some College, 4. College Grad, 5. Advanced Degree",
    "Less Than High School, High School, Junior College, Bachelor, Graduate",
    "Grundschule, Hauptschule, Abitur, Bachelor, Master, Promotion",
    "primaria, secundaria, licenciatura, maestría, doctorado",
    "Preschool, 1st-4th, 5th-6th, 7th-8th, 9th, 10th, HS-grad, Some-college, Bachelors",
    "less than 8th grade, 8th -12th grade - did not graduate, HS graduate, College graduate",
    "LT HIGH SCHOOL, HIGH SCHOOL, JUNIOR COLLEGE, BACHELOR, GRADUATE",
    "Less than high school, High School diploma / GED, Associate's Degree, Bachelor's Degree",
    "Below_College, College, Master, Doctor",
    "hs or lower, college, grad",
    "low, medium, high",
    "Very Low, Low, Moderate, High, Very High",
    "niedrig, mittel, hoch",
    "bajo, medio, alto",
    "never, rarely, sometimes, often, always",
    "nie, selten, manchmal, oft, immer",
    "nunca, a veces, siempre",
    "poor, fair, good, very good, excellent",
    "small, medium, large",
    "S, M, L, XL",
    "Strongly disagree, Disagree, Neutral, Agree, Strongly agree",
    "January, February, March, April, May, June, July, August, September, October, November",
    "Mon, Tue, Wed, Thu, Fri, Sat, Sun",
    "Montag, Dienstag, Mittwoch, Donnerstag, Freitag",
    "none, mild, moderate, severe",
    "Stage I, Stage II, Stage III",
    "<20, 20-29, 30-39, 40-49, 50+",
    "under 18, 18-25, 26-35, 36-64, 65+",
    "4 or less hours, 5 hours, 6 hours, 7 or more hours",
    "lt $1000, $1000 to 2999, $3000 or more",
    "18 to 25, 26 to 35, over 35",
    "unter 18, 18 bis 25, 26 bis 65, über 65",
    "menos de 18, 18 a 25, más de 25",
    "under $5,000, $5,000 - $9,999, $10,000 - $19,999, $20,000 or more",
    "1-9 employees, 10-49 employees, 50-249 employees, 250+ employees",
    "<12 yrs, 12 yrs, 13-15 yrs, 16 yrs, >16 yrs",
    "9-11years, 12years, 13-15years, 16years",
    "0-10k, 10k-20k, 20k-50k",
    "[0, 5), [5, 10), [10, 20)",
    "Grade 1, Grade 2, Grade 3, Grade 10",
    "1, 2, 3, 4, 5",
]


@pytest.mark.parametrize("text", KNOWN)
def test_neighbours_of_a_known_order_merge_first(text: str) -> None:
    values = text.split(", ") if "[" not in text else ["[0, 5)", "[5, 10)", "[10, 20)"]
    if "$" in text:
        values = text.replace(", $", "; $").split("; ")
    built = order_values(dict.fromkeys(sorted(values), 10))
    assert list(built.values) == values
    assert violations(built) == ()
    for level in built.labels:
        assert list(level) == sorted(level)
    assert len(set(built.labels[-2])) == 2


@pytest.mark.parametrize(
    "text",
    [
        "red, green, blue",
        "Married, Never Married, Divorced, Widowed, Separated",
        "1. White, 2. Black, 3. Asian, 4. Other",
        "Professional, Service, Sales, Production, Transportation",
        "north, south, east, west",
        "11-1011, 11-1021, 12-9000",
        "A01, B02, C03",
        "01234, 02345, 03456",
        "Store 1, Store 2, Store 3",
        "2024-01-05, 2024-02-05, 2024-03-07",
        "yes, no",
        "low, high, purple, green, medium",
        "unknown, low, high",
    ],
)
def test_what_has_no_order_is_left_to_others(text: str) -> None:
    values = text.split(", ")
    assert not has_known_order(values)
    with pytest.raises(HierarchyError, match="order that is known"):
        order_values(dict.fromkeys(values, 10))


def test_groups_are_named_as_people_would_and_hold_about_equally_many() -> None:
    ages = {"under 18": 5, "18-25": 30, "26-35": 32, "36-64": 30, "65+": 4}
    assert order_values(ages).labels[:2] == (
        ("1-2: under 26", "1-2: under 26", "3: 26-35", "4-5: 36+", "4-5: 36+"),
        ("1-2: under 26", "1-2: under 26", "3-5: 26+", "3-5: 26+", "3-5: 26+"),
    )
    schools = {"none": 5, "primary": 20, "high school": 60, "bachelor": 30, "master": 9}
    built = order_values(schools)
    assert built.labels[0] == (
        "1-2: none | primary", "1-2: none | primary", "3: high school", "4-5: bachelor | master",
        "4-5: bachelor | master",
    )  # fmt: skip
    assert order_values({"<6": 9, "6-8": 9, ">8": 20}).labels[0][0] == "1-2: ≤8"
    hours = {"4 or less hours": 5, "5 hours": 4, "8 or more hours": 20}
    assert order_values(hours).labels[0][0] == "5 or less hours"
    incomes = {"$5,000 - $9,999": 9, "$10,000 - $19,999": 8, "$20,000 or more": 20}
    assert order_values(incomes).labels[0][0].endswith("$5,000 - $19,999")


def test_words_for_unknown_are_a_group_of_their_own_up_to_the_root() -> None:
    built = order_values({"low": 5, "medium": 5, "high": 9, "refused": 2, "unknown": 1})
    assert built.values == ("low", "medium", "high", "refused", "unknown")
    for level in built.labels[:-1]:
        assert set(level[3:]) == {"4: refused | unknown"}
    assert set(built.labels[-1]) == {"*"}


def test_rare_values_merge_and_the_label_tells_it() -> None:
    counts = {"Other": 90, "a": 80, "b": 70, "c": 9, "d": 2}
    built = rare_together(counts)
    assert built.values == ("a", "b", "c", "d", "Other")
    assert built.labels == (
        ("a", "b", "c", "d | Other", "d | Other"),
        ("a", "b", "c | d | Other", "c | d | Other", "c | d | Other"),
        ("a", *["other (4 values)"] * 4),
        ("*",) * 5,
    )
    assert rare_together({"yes": 3, "no": 4}).labels == (("*", "*"),)
    assert rare_together({"x": 3, "y": 4, "z": 1}).labels[0] == ("y", "x | z", "x | z")
    with pytest.raises(HierarchyError, match="all are NULL"):
        rare_together({})


@given(
    st.dictionaries(
        st.text("abcxyz ", min_size=1).filter(str.strip),
        st.integers(1, 99),
        min_size=4,
        max_size=90,
    )
)
def test_more_than_three_categories_are_never_all_or_nothing(counts: dict[str, int]) -> None:
    built = rare_together(counts)
    assert violations(built) == ()
    sizes = [len(set(level)) for level in built.labels]
    assert 2 < built.levels <= 6
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-2:] == [2, 1]
