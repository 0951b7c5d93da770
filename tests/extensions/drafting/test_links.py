"""Tables that lead to a subject: tests of dbt, foreign keys, chains, several paths."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.linked_tables import propose_linked
from dbt_anonymize.extensions.drafting.links import Link, find_around, find_links

PATIENTS, STAYS, RESULTS, BILLS = "patients", "stays", "results", "bills"


def link(child: str, column: str, parent: str, field: str | None = None) -> Link:
    return Link(child, column, parent, field or column, "test relationships")


OF_STAYS, OF_RESULTS = link(STAYS, "patient", PATIENTS), link(RESULTS, "stay", STAYS)


def test_a_chain_is_followed_parents_first() -> None:
    found = find_around([OF_RESULTS, OF_STAYS], PATIENTS, "patient")
    assert [*found.links.values()] == [OF_STAYS, OF_RESULTS]
    assert (found.ambiguous, found.elsewhere) == ({}, [])


@pytest.mark.parametrize(
    "second",
    [link(RESULTS, "patient", PATIENTS), link(RESULTS, "earlier_stay", STAYS, "stay")],
    ids=["to the subject", "twice over one table"],
)
def test_a_table_with_two_paths_is_not_taken_nor_one_over_it(second: Link) -> None:
    over = link("notes", "result", RESULTS)
    found = find_around([OF_STAYS, OF_RESULTS, second, over], PATIENTS, "patient")
    assert [*found.links] == [STAYS]
    assert found.ambiguous == {RESULTS: [OF_RESULTS, second]}


def test_the_column_to_be_followed_may_be_chosen() -> None:
    second = link(RESULTS, "patient", PATIENTS)
    links = [OF_STAYS, OF_RESULTS, second]
    found = find_around(links, PATIENTS, "patient", {RESULTS: "PATIENT"})
    assert found.links == {STAYS: OF_STAYS, RESULTS: second}
    assert found.ambiguous == {}


def test_tables_that_look_up_or_lead_to_themselves_are_no_paths() -> None:
    others = [link(STAYS, "ward", "wards"), link(STAYS, "earlier", STAYS, "stay")]
    others += [link(PATIENTS, "mother", PATIENTS, "patient")]
    found = find_around([OF_STAYS, *others], PATIENTS, "patient")
    assert [*found.links] == [STAYS]
    assert not found.ambiguous


def test_a_circle_beside_the_subject_is_not_taken() -> None:
    back = link(STAYS, "result", RESULTS)
    found = find_around([OF_STAYS, OF_RESULTS, back], PATIENTS, "patient")
    assert not found.links
    assert [*found.ambiguous] == [STAYS]


def test_a_link_to_another_column_than_the_record_key_is_told() -> None:
    other = link(BILLS, "insured", PATIENTS, "insurance_number")
    found = find_around([OF_STAYS, other], PATIENTS, "PATIENT")
    assert ([*found.links], found.elsewhere) == ([STAYS], [other])


def manifest(*nodes: Any) -> Any:
    sources = {"source.raw.bills": SimpleNamespace(source_name="raw", name="bills")}
    return SimpleNamespace(nodes={node.unique_id: node for node in nodes}, sources=sources)


def model(name: str, constraints: Any = (), columns: Any = None) -> Any:
    return SimpleNamespace(
        unique_id=name,
        name=name,
        resource_type="model",
        constraints=constraints,
        columns=columns or {},
    )


def test_links_are_read_from_tests_and_constraints_each_once() -> None:
    def check(child: str, parent: str, name: str = "relationships", **kwargs: Any) -> Any:
        return SimpleNamespace(
            unique_id=f"{name} {child} {parent}",
            resource_type="test",
            test_metadata=SimpleNamespace(name=name, kwargs={"column_name": "patient", **kwargs}),
            attached_node=child,
            column_name=None,
            depends_on=SimpleNamespace(nodes=[parent, child]),
        )

    def key(**given: Any) -> Any:
        return SimpleNamespace(**{"type": "foreign_key", "columns": [], **given})

    column = SimpleNamespace(
        name="patient", constraints=[key(to="ref('patients')", to_columns=["patient"])]
    )
    several = key(to="ref('patients')", to_columns=["a", "b"], columns=["a", "b"])
    to_source = key(to="source('raw', 'bills')", to_columns=["bill"], columns=["bill"])
    found = find_links(
        SimpleNamespace(
            is_duckdb=False,
            manifest=manifest(
                model(PATIENTS),
                model(STAYS, columns={"patient": column}),
                model(RESULTS, [several, to_source]),
                check(STAYS, PATIENTS, field='"Patient"'),
                check(STAYS, PATIENTS, "accepted_values", values=["a"]),
            ),
        )
    )
    assert found == [
        Link(STAYS, "patient", PATIENTS, "Patient", "test relationships"),
        Link(RESULTS, "bill", "source.raw.bills", "bill", "foreign key"),
    ]


def fact(name: str, kind: Any, distinct: int, **more: Any) -> ColumnFacts:
    types = {"number": "integer"}
    return ColumnFacts(name, types.get(kind, kind), kind, 900, 900, distinct, **more)


KEY, PARENT = fact("stay", "number", 900), fact("patient", "number", 400)


@pytest.mark.parametrize(
    ("column", "role"),
    [
        (fact("patient_name", "text", 700, longest=30), "dropped"),
        (fact("ward", "text", 8), "quasi_identifier"),
        (fact("admitted", "timestamp", 800, singled=700), "quasi_identifier"),
        (fact("notes", "text", 800, phrases=800), "dropped"),
        (fact("beds", "number", 12), "quasi_identifier"),
        (fact("temperature", "number", 700), "insensitive"),
        (fact("income", "number", 700), "quasi_identifier"),
        (fact("age", "number", 101), "quasi_identifier"),
    ],
    ids=lambda given: getattr(given, "name", given),
)
def test_roles_of_linked_columns(column: ColumnFacts, role: str) -> None:
    found = propose_linked([KEY, PARENT, fact("month", "number", 12), column], PARENT, KEY)
    assert [one.name for one in found] == ["month", column.name]
    assert (found[1].role, found[1].mask) == (role, None)


def test_numbers_are_known_where_nothing_else_is() -> None:
    (found,) = propose_linked([KEY, PARENT, fact("cost", "number", 700)], PARENT, KEY)
    assert found.role == "quasi_identifier"
    assert propose_linked([KEY, PARENT], PARENT, KEY) == []
