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


def arguments_for(people: Rows, stays: Rows, results: Rows) -> dict[str, Any]:
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
            **arguments_for(*graph), k=k, known_records=known, known_count=with_numbers, most_lost=1
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
    """Of two runs none is the same, so that tables of one do not join those of the other."""
    people = [(n, "old", "flu") for n in range(200)]
    decisions = suppress_linked(**arguments_for(people, [], []), k=2)
    again = suppress_linked(**arguments_for(people, [], []), k=2)
    keys = decisions["released_key"].tolist()
    assert len({*keys, *again["released_key"]}) == 400
    assert min(keys) >= 0
    assert abs(np.corrcoef(np.array(keys, dtype=float), np.arange(200))[0, 1]) < 0.3


def test_a_left_out_record_has_no_key() -> None:
    people = [(1, "old", "flu"), (2, "old", "flu"), (3, "young", "flu")]
    decisions = suppress_linked(**arguments_for(people, [], []), k=2, most_lost=0.5)
    assert decisions["status"].tolist() == ["released", "released", "left out"]
    assert decisions["released_key"].isna().tolist() == [False, False, True]


def test_too_much_is_not_lost() -> None:
    people = [(1, "old", "flu"), (2, "old", "flu"), (3, "young", "flu")]
    with pytest.raises(LinkError, match="of 3, 0 would be hidden and 1 left out"):
        suppress_linked(**arguments_for(people, [], []), k=2, most_lost=0.3)


def decided(k: int, people: int, stays: Rows, **more: Any) -> list[str]:
    """Return the status of each stay."""
    found = [(n, "old", "flu") for n in range(people)]
    decisions = suppress_linked(**{**arguments_for(found, stays, []), "k": k, **more})
    return decisions.loc[decisions["linked_table"] == "stays", "status"].tolist()


def stays_of(*wards: str) -> Rows:
    """Return stays of people 0, 1, ..., a letter each."""
    owned = [(person, ward) for person, own in enumerate(wards) for ward in own]
    return [(10 + n, person, ward, 1, "p") for n, (person, ward) in enumerate(owned)]


def test_values_are_hidden_before_a_record_is_left_out() -> None:
    """Two rare wards are alike once they are hidden; a single one is told even so."""
    stays = stays_of("a", "a", "b", "c")
    assert decided(2, 4, stays, most_lost=0.5) == ["released"] * 2 + ["hidden"] * 2
    assert decided(2, 3, stays[:3], most_lost=0.5) == ["released"] * 2 + ["left out"]
    with pytest.raises(LinkError, match="of 4, 2 would be hidden and 0 left out"):
        decided(2, 4, stays, most_lost=0.4)


def test_equal_records_stay_as_far_as_others_have_them() -> None:
    """One of three stays in a is told with another one of them, not alone."""
    stays = stays_of("aaa", "a", "b", "b")
    kept = decided(2, 4, stays, most_lost=0.5)
    assert sorted(kept[:3]) == ["left out", "left out", "released"]
    assert kept[3:] == ["released"] * 3


def test_the_rarest_record_of_a_rare_pair_goes() -> None:
    """Nobody else has a and c; of the two, a is had by more."""
    stays = stays_of("ac", "a", "a", "c", "b", "b")
    assert decided(2, 6, stays, most_lost=0.5)[:2] == ["released", "left out"]


def test_more_known_records_than_anybody_has() -> None:
    stays = stays_of("a", "a")
    assert decided(2, 2, stays, known_records=10**9) == ["released"] * 2


@pytest.mark.parametrize("known", [1, 2, 4, "all"])
def test_several_tables_of_a_subject_and_over_each_other(known: int | str) -> None:
    """Two tables at the subject, and three over each other, with equal keys in each of them."""
    for number in range(GRAPHS):
        rng = np.random.default_rng([sampling.SEED, number, 7])
        owners = {"stays": 6, "results": 8, "notes": 9, "orders": 7}
        over = {"results": "stays", "notes": "results"}
        tables, rows = {}, {}
        for name, count in owners.items():
            parents = owners.get(over.get(name, ""), 6)
            rows[name] = pd.DataFrame(
                {
                    "id": np.arange(count),
                    "parent": rng.integers(0, parents, count),
                    "value": rng.choice(["u", "v"], count, p=[0.8, 0.2]),
                }
            )
            tables[name] = {
                "rows": rows[name],
                "key": "id",
                "to_subject": {over[name]: "parent"} if name in over else "parent",
                "quasi_identifiers": ["value"],
            }
        people = pd.DataFrame({"id": np.arange(6), "age": ["old"] * 6})
        decisions = suppress_linked(
            {"rows": people, "key": "id", "quasi_identifiers": ["age"]},
            dict(reversed(tables.items())),
            k=2,
            known_records=known,
            most_lost=1,
        )
        status = {(r.linked_table, int(r.record)): r.status for r in decisions.itertuples()}
        assert {status["subjects", n] for n in range(6)} <= {"released", "left out"}
        found = {n: Subject("old", []) for n in range(6) if status["subjects", n] == "released"}
        shown: dict[Any, tuple[int, Any]] = {}
        for name in owners:
            for record, parent, value in rows[name].itertuples(index=False):
                if status[name, record] != "left out":
                    owner, of_parent = shown[over[name], parent] if name in over else (parent, None)
                    seen = (name, value if status[name, record] == "released" else "*", of_parent)
                    shown[name, record] = (owner, seen)
                    found[owner].records.append(seen)
        limit = None if known == "all" else int(known)
        assert found_by([*found.values()], limit, 2) == (set(), set())


@pytest.mark.parametrize(
    "values",
    [[0.0, -0.0], [1.5, None], [2.0**53, 1.0], [[1], [2]], [pd.Timedelta(1), pd.Timedelta(2)]],
)
def test_values_that_sql_may_tell_apart_stop(values: list[Any]) -> None:
    arguments = arguments_for(PEOPLE, [], [])
    arguments["subjects"]["rows"]["age"] = pd.Series(values)
    with pytest.raises(LinkError, match="quasi-identifiers must be text, whole numbers, booleans"):
        suppress_linked(**arguments, k=2)


@pytest.mark.parametrize(
    "values",
    [[1, 2], [True, False], ["x", None], [None, None], [pd.Timestamp("2026-01-01"), pd.NaT]],
)
def test_values_of_plain_types_are_compared(values: list[Any]) -> None:
    arguments = arguments_for(PEOPLE, [], [])
    arguments["subjects"]["rows"]["age"] = pd.Series(values)
    if len({*map(str, values)}) == 1:
        assert {*suppress_linked(**arguments, k=2)["status"]} == {"released"}
    else:
        assert {*suppress_linked(**arguments, k=2, most_lost=1)["status"]} == {"left out"}


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
        suppress_linked(**arguments_for(*graph), k=2)


@pytest.mark.parametrize("keys", [[1.0, 2.0], [1.5, 2.5], [True, False]])
def test_keys_that_sql_may_write_otherwise_stop(keys: list[Any]) -> None:
    arguments = arguments_for(PEOPLE, [], [])
    arguments["subjects"]["rows"]["person"] = keys
    with pytest.raises(LinkError, match="keys must be whole numbers or text; person has"):
        suppress_linked(**arguments, k=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 1}, "k must be a whole number >= 2; got 1"),
        ({"known_records": 0}, "known_records must be all or a whole number >= 1; got 0"),
        ({"most_lost": 2}, "most_lost must be from 0 to 1; got 2"),
        ({"most_lost": "0.2"}, "most_lost must be from 0 to 1; got '0.2'"),
        ({"known_records": True}, "known_records must be all or a whole number >= 1; got True"),
        ({"tables": []}, "tables must be a mapping by name; got list"),
        ({"tables": {"": {}}}, "no linked table may be called ''"),
        ({"tables": {}}, "each linked table must lead to the subjects; got there is no table"),
        ({"subjects": {"rows": []}}, "subjects must have key, quasi_identifiers, rows; got rows"),
    ],
)
def test_wrong_arguments_are_told(change: dict[str, Any], message: str) -> None:
    with pytest.raises(LinkError, match=message):
        suppress_linked(**{**arguments_for(PEOPLE, STAYS, []), "k": 2, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quasi_identifiers": "ward"}, "quasi_identifiers of stays must be a list of columns"),
        ({"quasi_identifiers": ["room"]}, "stays must have the columns room; it has none of them"),
        ({"key": "number"}, "stays must have the columns number; it has none of them"),
        ({"to_subject": ["person"]}, "to_subject of stays must be a column"),
        (
            {"to_subject": {"a": "ward", "c": "stay"}},
            "stays must lead to its subject by one column",
        ),
        ({"columns": []}, "stays must have key, quasi_identifiers, rows, to_subject; got"),
    ],
)
def test_wrong_tables_are_told(change: dict[str, Any], message: str) -> None:
    arguments = arguments_for(PEOPLE, STAYS, [])
    arguments["tables"]["stays"] |= change
    with pytest.raises(LinkError, match=message):
        suppress_linked(**arguments, k=2)


def test_a_circle_leads_nowhere() -> None:
    arguments = arguments_for(PEOPLE, STAYS, [])
    arguments["tables"]["stays"]["to_subject"] = {"results": "person"}
    with pytest.raises(LinkError, match="must lead to the subjects; got results, stays"):
        suppress_linked(**arguments, k=2)


def test_no_linked_table_is_called_subjects() -> None:
    arguments = arguments_for(PEOPLE, STAYS, [])
    arguments["tables"]["subjects"] = arguments["tables"].pop("stays")
    with pytest.raises(LinkError, match="no linked table may be called 'subjects'"):
        suppress_linked(**arguments, k=2)
