"""The ingredients of a record key that a model makes, and what may be released of them."""

from __future__ import annotations

import pytest

from dbt_anonymize.extensions.provenance.compiled import Relation
from tests.extensions.provenance.test_provenance import problems

KEYS = {
    "an order": "row_number() over (order by age, ssn)",
    "an order in a named window": "row_number() over w",
    "a number of two columns": "ssn * 100 + age",
    "a hash of two columns": "md5(ssn || '-' || age)",
    "a number within a group": "ssn || '-' || row_number() over (partition by ssn order by age)",
}


def keyed(key: str, smoker: str) -> str:
    """Return SQL of a source that makes its key in a common table and a kept column after it."""
    return (
        f"with n as (select * replace ({KEYS[key]} as visit_id) from {{r}}"
        f" window w as (order by age)) select * replace ({smoker} as smoker) from n"
    )


@pytest.mark.parametrize("key", KEYS)
def test_a_quasi_identifier_may_be_one_of_several_ingredients_of_the_key(key: str) -> None:
    """It is generalized in every effort, and counted; the key is never released."""
    assert problems(keyed(key, "smoker")) == {}


@pytest.mark.parametrize("key", KEYS)
def test_a_kept_column_may_be_no_ingredient_of_the_key(key: str) -> None:
    sql = keyed(key, "diagnosis").replace("age", "smoker").replace("diagnosis", "upper(n.smoker)")
    found = problems(sql)
    assert set(found) == {"people.smoker"}
    assert "what tells the record key visit_id: smoker of registry" in found["people.smoker"]
    assert "make the key of columns that are not released" in found["people.smoker"]
    assert problems(sql, smoker={"derived_from": "visit_id"}) == {}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("column", ["smoker", "zip"])
def test_what_is_made_of_a_made_key_is_refused(key: str, column: str) -> None:
    declared = {column: {"derived_from": ["ssn", "age"]}} if column == "smoker" else {}
    sql = keyed(key, "smoker").replace("(smoker as smoker)", f"(visit_id % 7 as {column})")
    found = problems(sql, **declared)
    assert set(found) == {f"people.{column}"}


@pytest.mark.parametrize(
    "kept",
    [
        "rank() over (order by k.segment, k.id)",
        "count(*) over (order by k.segment, k.id)",
        "row_number() over (order by k.segment asc, k.id asc nulls last)",
        "row_number() over (order by k.segment desc, k.id desc)",
        "k.id",
        "k.ssn",
        "k.name",
    ],
)
def test_a_place_in_the_order_of_the_key_is_as_the_key(kept: str) -> None:
    """Under another window, too; and a relation that orders the key holds people."""
    sql = (
        "select r.* replace (row_number() over (order by k.segment, k.id) as visit_id, "
        f"{kept} as smoker) from {{r}} as r join {{k}} as k on r.age = k.age"
    )
    assert set(problems(sql)) == {"people.smoker"}


def test_a_row_number_is_a_key_without_any_column() -> None:
    """It is made of no column, and still what is made of it tells it."""
    sql = "with n as (select * replace ({n} as visit_id) from {r}) select * replace ({s} as {c})"
    sql = sql.replace("{n}", "row_number() over ()") + " from n"
    for column in ("smoker", "zip"):
        found = problems(sql.replace("{s}", "visit_id % 7").replace("{c}", column))
        assert set(found) == {f"people.{column}"}
        assert "row_number() of people" in found[f"people.{column}"]
    other = sql.replace("{s}", "row_number() over (partition by smoker)").replace("{c}", "smoker")
    assert problems(other) == {}


def test_the_only_ingredient_of_a_key_is_refused() -> None:
    whole = "select * replace (md5(zip) as visit_id) from {r}"
    assert set(problems(whole)) == {"people.zip"}
    both = "select * replace (md5(zip || age) as visit_id, zip || age as zip) from {r}"
    assert set(problems(both)) == {"people.zip"}
    equal = (
        "select r.* replace (md5(k.zip || k.age) as visit_id) from {r} as r join {k} as k"
        " on r.zip = k.zip and r.age = k.age"
    )
    assert problems(equal) == {}
    assert set(problems(equal.replace("k.age)", "r.zip)"))) == {"people.zip"}


def test_labels_of_an_ingredient_of_the_key_are_as_it_is() -> None:
    columns = ("value", "level_1", "level_2")
    labels = "select zip as value, left(zip, 1) as level_1, '*' as level_2 from {r}"
    labels = labels.replace("{r}", "clinic.main.registry")
    zips = Relation("zips", "model", ("clinic", "main", "zips"), labels, columns)
    assert problems("select * replace (md5(zip || ssn) as visit_id) from {r}", zips) == {}
    found = problems("select * replace (md5(zip) as visit_id) from {r}", zips)
    assert set(found) == {"people.zip", "zips.value", "zips.level_1"}
