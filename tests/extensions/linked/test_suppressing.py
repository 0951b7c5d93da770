"""Linked records that are hidden or left out, judged by the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dbt_anonymize import suppress_linked
from dbt_anonymize.extensions.linked.records import LinkError
from tests import sampling
from tests.extensions.linked.test_joined_risk import Rows, random_graph
from tests.oracle.linked import Subject, found_by

GRAPHS = sampling.number_of("random graphs of which records are hidden", 300, 16)
KNOWN: list[tuple[int | str, bool]] = [(1, False), (2, False), (3, False), ("all", False)]
KNOWN += [(2, True), ("all", True)]


def given(people: Rows, stays: Rows, results: Rows) -> dict[str, Any]:
    """Return tables as arguments; results have keys, 1000 and on."""
    results = [(1000 + n, *row) for n, row in enumerate(results)]

    def rows(found: Rows, *columns: str) -> pd.DataFrame:
        return pd.DataFrame(found, columns=list(columns))

    return {
        "subjects": {
            "rows": rows(people, "person", "age", "illness"),
            "key": "person",
            "quasi_identifiers": ["age"],
        },
        "tables": {
            "results": {
                "rows": rows(results, "result", "stay", "test"),
                "key": "result",
                "to_subject": {"stays": "stay"},
                "quasi_identifiers": ["test"],
            },
            "stays": {
                "rows": rows(stays, "stay", "person", "ward", "month", "diagnosis"),
                "key": "stay",
                "to_subject": "person",
                "quasi_identifiers": ["ward", "month"],
            },
        },
    }


def released(
    decisions: pd.DataFrame, graph: tuple[Rows, Rows, Rows], *, with_numbers: bool
) -> list[Subject]:
    """Return the subjects as who reads the release sees them."""
    status = {
        (row.linked_table, int(row.record)): row.status for row in decisions.itertuples(index=False)
    }
    people, stays, results = graph
    found = {
        person: Subject(age, [])
        for person, age, _ in people
        if status["subjects", person] == "released"
    }
    kinds: dict[Any, list[str]] = {person: [] for person in found}
    shown: dict[Any, tuple[Any, Any]] = {}
    for stay, person, ward, month, _ in stays:
        if (kept := status["stays", stay]) != "left out":
            assert person in found
            shown[stay] = (person, (ward, month) if kept == "released" else "*")
            found[person].records.append(("stays", shown[stay][1]))
            kinds[person].append("stays")
    for number, (stay, test) in enumerate(results):
        if (kept := status["results", 1000 + number]) != "left out":
            person, of_stay = shown[stay]  # no orphan
            value = test if kept == "released" else "*"
            found[person].records.append(("results", value, of_stay))
            kinds[person].append("results")
    if with_numbers:
        for person, one in found.items():
            one.own = (one.own, *(kinds[person].count(kind) for kind in ("stays", "results")))
    return list(found.values())


@pytest.mark.parametrize(("known", "with_numbers"), KNOWN)
@pytest.mark.parametrize("k", [2, 3])
def test_nobody_is_found_in_what_remains(known: int | str, *, with_numbers: bool, k: int) -> None:
    limit = None if known == "all" else int(known)
    untouched = 0
    for number in range(GRAPHS):
        graph = random_graph(np.random.default_rng([sampling.SEED, number]))
        decisions = suppress_linked(
            **given(*graph), k=k, known_records=known, known_count=with_numbers, most_lost=1
        )
        remaining = released(decisions, graph, with_numbers=with_numbers)
        assert found_by(remaining, limit, k) == (set(), set()), (number, graph)
        whole = decisions.assign(status="released")
        before = released(whole, graph, with_numbers=with_numbers)
        is_safe = not found_by(before, limit, k)[0]
        assert is_safe == (decisions["status"] == "released").all()
        untouched += is_safe
        if with_numbers:
            lost = decisions[decisions["status"] == "left out"]
            out = {*lost.loc[lost["linked_table"] == "subjects", "record"]}
            of = {str(stay): str(person) for stay, person, *_ in graph[1]}
            assert {of[r] for r in lost.loc[lost["linked_table"] == "stays", "record"]} <= out
    assert untouched


def test_keys_are_new_unique_and_without_order() -> None:
    people = [(n, "old", "flu") for n in range(200)]
    decisions = suppress_linked(**given(people, [], []), k=2)
    again = suppress_linked(**given(people, [], []), k=2)
    keys = decisions["released_key"].tolist()
    assert sorted(keys) == list(range(1, 201))
    assert keys != again["released_key"].tolist()
    assert abs(np.corrcoef(np.array(keys, dtype=float), np.arange(200))[0, 1]) < 0.3


def test_a_left_out_record_has_no_key() -> None:
    people = [(1, "old", "flu"), (2, "old", "flu"), (3, "young", "flu")]
    decisions = suppress_linked(**given(people, [], []), k=2, most_lost=0.5)
    assert decisions["status"].tolist() == ["released", "released", "left out"]
    assert decisions["released_key"].isna().tolist() == [False, False, True]


def test_too_much_is_not_lost() -> None:
    people = [(1, "old", "flu"), (2, "old", "flu"), (3, "young", "flu")]
    with pytest.raises(LinkError, match="of 3, 0 would be hidden and 1 left out"):
        suppress_linked(**given(people, [], []), k=2, most_lost=0.3)


PEOPLE = [(1, "old", "flu"), (2, "old", "flu")]
STAYS = [(10, 1, "a", 1, "p"), (11, 2, "a", 1, "p")]


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (([*PEOPLE, PEOPLE[0]], STAYS, []), "subjects must have person in each row, once; 1 rows"),
        (([*PEOPLE, (None, "old", "flu")], STAYS, []), "subjects must have person in each row"),
        ((PEOPLE, [*STAYS, (12, 7, "a", 1, "p")], []), "1 records lead nowhere"),
        ((PEOPLE, [*STAYS, (12, None, "a", 1, "p")], []), "1 records lead nowhere"),
        ((PEOPLE, [*STAYS, STAYS[0]], []), "stays must have stay in each row, once"),
        ((PEOPLE, STAYS, [(12, "x")]), "results must lead to subjects by stay; 1 records"),
    ],
)
def test_keys_that_cannot_be_followed_stop(graph: tuple[Rows, Rows, Rows], message: str) -> None:
    with pytest.raises(LinkError, match=message):
        suppress_linked(**given(*graph), k=2)


@pytest.mark.parametrize("keys", [[1.0, 2.0], [1.5, 2.5], [True, False]])
def test_keys_that_sql_may_write_otherwise_stop(keys: list[Any]) -> None:
    arguments = given(PEOPLE, [], [])
    arguments["subjects"]["rows"]["person"] = keys
    with pytest.raises(LinkError, match="keys must be whole numbers or text; person has"):
        suppress_linked(**arguments, k=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 1}, "k must be a whole number >= 2; got 1"),
        ({"known_records": 0}, "known_records must be all or a whole number >= 1; got 0"),
        ({"most_lost": 2}, "most_lost must be from 0 to 1; got 2"),
        ({"tables": {}}, "each linked table must lead to the subjects; got there is no table"),
        ({"subjects": {"rows": []}}, "subjects must have key, quasi_identifiers, rows; got rows"),
    ],
)
def test_wrong_arguments_are_told(change: dict[str, Any], message: str) -> None:
    with pytest.raises(LinkError, match=message):
        suppress_linked(**{**given(PEOPLE, STAYS, []), "k": 2, **change})


def test_a_circle_leads_nowhere() -> None:
    arguments = given(PEOPLE, STAYS, [])
    arguments["tables"]["stays"]["to_subject"] = {"results": "person"}
    with pytest.raises(LinkError, match="must lead to the subjects; got results, stays"):
        suppress_linked(**arguments, k=2)


def test_no_linked_table_is_called_subjects() -> None:
    arguments = given(PEOPLE, STAYS, [])
    arguments["tables"]["subjects"] = arguments["tables"].pop("stays")
    with pytest.raises(LinkError, match="no linked table may be called subjects"):
        suppress_linked(**arguments, k=2)
