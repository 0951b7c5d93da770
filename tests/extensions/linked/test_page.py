"""The example of docs/extensions/linked.md, computed by the query and by its definition."""

from __future__ import annotations

from tests.docs.pages import DOCS, Page
from tests.extensions.linked.test_joined_risk import load
from tests.oracle.linked import Subject, found_by
from tests.properties.warehouse import Warehouse

PAGE = Page(DOCS / "extensions" / "linked.md")
PEOPLE = [
    (row["person"], row["age"], row["stays in wards"].split(", "))
    for row in PAGE.table("person", "age", "stays in wards").records
]
EXPECTED = [
    (int(row["known_records"]), int(row["subjects_at_risk"]))
    for row in PAGE.table("known_records", "subjects_at_risk").records
]


def counted(warehouse: Warehouse, model: str) -> list[tuple[int | None, int]]:
    people = [(number, age, "flu") for number, (_, age, _) in enumerate(PEOPLE)]
    stays = [(number, ward) for number, (*_, wards) in enumerate(PEOPLE) for ward in wards]
    load(
        warehouse,
        people,
        [(100 + n, person, ward, 1, "p") for n, (person, ward) in enumerate(stays)],
        [(100, "x")],
    )
    return [(row["known_records"], row["subjects_at_risk"]) for row in warehouse.rows(model)]


def test_the_query_counts_what_the_page_says(warehouse: Warehouse) -> None:
    assert sorted(counted(warehouse, "risk_of_page"), key=str) == EXPECTED
    assert counted(warehouse, "risk_of_page_with_all") == [(None, 2)]
    assert (2, 2) in counted(warehouse, "risk_of_page_with_numbers")


def test_the_definition_finds_whom_the_page_names() -> None:
    subjects = [Subject(age, [*wards]) for _, age, wards in PEOPLE]
    names = [name for name, *_ in PEOPLE]
    assert {names[n] for n in found_by(subjects, 2, 2)[0]} == {"Dora"}
    assert found_by(subjects, 1, 2) == (set(), set())
    assert {names[n] for n in found_by(subjects, None, 2)[0]} == {"Cem", "Dora"}
