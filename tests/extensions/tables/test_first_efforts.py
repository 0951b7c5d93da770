"""The first efforts of a draft: few cells are small, and no dimension is given up for another."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import yaml

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.tables.declared import Table as Declared
from dbt_anonymize.extensions.tables.first_efforts import draft
from dbt_anonymize.privacy.table import Attribute, SensitiveAttribute, Table

AGE = (1, 2, 5, 10, 20)  # leaves that a label has, by level; all of them at the root


def counts(records: list[int], *, wards: int = 2, ages: int = 20) -> Table:
    """Count patients by an age of intervals and a ward that is shown as it is."""
    rows = np.array(list(product(range(ages), range(wards))))
    levels = [np.arange(ages), *(np.arange(ages) // width for width in AGE)]
    age = Attribute("age", tuple(levels), (np.ones(1),) * len(levels), ages, 0.0, lowest=1)
    own = np.resize(np.array(records), len(rows))
    ward = SensitiveAttribute("ward", wards)
    return Table((age,), rows[:, :1], own, sensitive=((ward, rows[:, 1]),))


def drafted(table: Table, *dimensions: str, **options: Any) -> dict[str, Any]:
    given = {"sums": [], "people": table.total, "repeats": False, **options}
    own: dict[str, Any] = yaml.safe_load(draft(table, dimensions, **given))["table"]
    Declared.model_validate(own)
    return own


def levels_of(own: dict[str, Any], method: str) -> list[dict[str, int]]:
    return [one.get("levels", {}) for one in own["efforts"] if one["method"] == method]


def test_many_people_are_shown_at_the_finest_level_below_raw_values() -> None:
    own = drafted(counts([100]), "age", "ward")
    assert own["dimensions"] == ["age", "ward"]
    assert own["minimum_frequency"] == 5
    assert levels_of(own, "hide") == [{"age": 1}, {"age": 2}]
    assert own["efforts"][-2:] == [
        {"method": "noise", "variance": 6, "largest": 10, "levels": {"age": 1}},
        {"method": "round", "base": 10, "levels": {"age": 1}},
    ]


def test_levels_rise_until_a_tenth_of_all_cells_is_small() -> None:
    """Of three patients per age and ward, two ages together are six."""
    assert levels_of(drafted(counts([3]), "age", "ward"), "noise") == [{"age": 2}]
    # Of 63 cells, 6 are small in one table, 7 in the other.
    for small, level in ((6, 1), (7, 2)):
        own = drafted(counts([4] * small + [9] * (40 - small)), "age", "ward")
        assert levels_of(own, "round") == [{"age": level}]


def test_the_coarser_table_is_of_at_most_250_cells() -> None:
    table = counts([50], ages=100)
    own = drafted(table, "age", "ward")
    assert levels_of(own, "hide") == [{"age": 1}, {"age": 2}]
    wide = drafted(counts([50], ages=200), "age", "ward")
    assert levels_of(wide, "hide") == [{"age": 1}, {"age": 3}]


def test_no_dimension_is_given_up_for_another() -> None:
    """Two of the same kind are coarsened alike, not one to the end."""
    rows = np.array(list(product(range(20), range(20))))
    levels = tuple(np.arange(20) // width for width in (1, *AGE))
    one, other = (
        Attribute(name, levels, (np.ones(1),) * 6, 20, 0.0, lowest=1) for name in ("age", "years")
    )
    table = Table((one, other), rows, np.full(400, 2))
    assert levels_of(drafted(table, "age", "years"), "noise") == [{"age": 2, "years": 2}]


def test_people_with_several_records_are_shown_with_noise_or_rounded() -> None:
    table = counts([12])
    own = drafted(table, "age", "ward", people=table.total // 4, repeats=True)
    assert [one["method"] for one in own["efforts"]] == ["noise", "round"]
    # Three people of twelve records are few.
    assert levels_of(own, "noise") == [{"age": 2}]


def test_sums_are_hidden_alone() -> None:
    own = drafted(counts([100]), "age", "ward", sums=["cost"])
    assert own["sums"] == ["cost"]
    assert {one["method"] for one in own["efforts"]} == {"hide"}


def test_sums_of_people_with_several_records_stand_beside_records() -> None:
    own = drafted(counts([100]), "age", "ward", sums=["cost"], people=700, repeats=True)
    assert (own["counts"], own["sums"]) == ("records", ["cost"])
    assert {one["method"] for one in own["efforts"]} == {"hide"}


def visits(*, people: int) -> Table:
    """Count visits by four columns; at the finest levels cells are too many to be hidden."""
    rows = np.array(list(product(range(5), range(4), range(2), range(2))))
    year = tuple(np.arange(5) // width for width in (1, 1, 2, 5))
    school = tuple(np.minimum(np.arange(4), most) for most in (3, 3, 1, 0))
    attributes = (
        Attribute("year", year, (np.ones(1),) * 4, 5, 0.0, lowest=1),
        Attribute("school", school, (np.ones(1),) * 4, 4, 0.0, lowest=1),
    )
    sensitive = tuple(
        (SensitiveAttribute(name, 2), rows[:, place]) for place, name in ((2, "sex"), (3, "works"))
    )
    return Table(attributes, rows[:, :2], np.full(len(rows), people), sensitive=sensitive)


@pytest.mark.parametrize(
    ("people", "levels"),
    [
        (100, [{"year": 2, "school": 1}, {"year": 1, "school": 2}]),
        (2, [{"year": 2, "school": 1}, {"year": 2, "school": 2}]),
    ],
)
def test_two_ways_to_hide_compete_where_the_finest_labels_are_too_many(
    people: int, levels: list[dict[str, int]]
) -> None:
    """A release binds the table to its way, and QF compares with the finest of all efforts."""
    table = visits(people=people)
    own = drafted(table, *("year", "school", "sex", "works"), sums=["cost"])
    assert levels_of(own, "hide") == levels
    text = draft(table, own["dimensions"], sums=["cost"], people=table.total, repeats=False)
    assert "The first effort has 180 cells, empty ones and totals included" in text


def test_finer_labels_are_hidden_as_well_where_no_coarser_ones_are_better() -> None:
    own = drafted(counts([1, 0, 0, 0, 0, 0, 0]), "age", "ward")
    finest, few_small = levels_of(own, "hide")
    assert finest == {"age": 1}
    assert levels_of(own, "noise") == [few_small]


def test_too_few_people_for_any_level_get_the_levels_with_the_fewest_small_cells() -> None:
    own = drafted(counts([1, 0, 0, 0, 0, 0, 0]), "age", "ward")
    (found,) = levels_of(own, "noise")
    assert found["age"] in range(1, 5)


HOSTILE = ["on", "a: b #c", "it's {{ x }}", 'quoted "name"', "größe", "x, y"]


def test_names_of_columns_stay_what_they_are() -> None:
    sensitive = tuple((SensitiveAttribute(name, 2), np.array([0, 1])) for name in HOSTILE)
    table = Table((), np.empty((2, 0), dtype=np.int64), np.array([50, 50]), sensitive)
    text = draft(table, HOSTILE, sums=[], people=100, repeats=False)
    assert yaml.safe_load(text)["table"]["dimensions"] == HOSTILE
    asked = "".join(line.removeprefix("  # ") + "\n" for line in text.splitlines()[-3:])
    questions = yaml.safe_load(asked)["questions"]
    assert questions == [{"share": HOSTILE[-1], "by": HOSTILE[:2]}, {"rank": HOSTILE[0]}]


def test_what_cannot_be_protected_is_refused() -> None:
    with pytest.raises(SpecError, match="at most 6 dimensions; got 7"):
        drafted(counts([9]), *"abcdefg")
    names = list("abcdef")
    rows = np.arange(11)
    sensitive = tuple((SensitiveAttribute(name, 11), rows) for name in names)
    wide = Table((), np.empty((11, 0), dtype=np.int64), rows + 50, sensitive)
    with pytest.raises(SpecError, match="at most 25,000 cells"):
        drafted(wide, *names)
    with pytest.raises(SpecError, match="Name 3 or fewer"):
        drafted(wide, *names[:4], sums=["cost"])
