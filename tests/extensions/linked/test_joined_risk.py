"""The query of joined knowledge, against its definition on random graphs, and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests import sampling
from tests.extensions.linked.compiled import CASES, PEOPLE, RESULTS, STAYS, K
from tests.oracle.linked import Subject, found_by
from tests.properties.warehouse import Warehouse

Rows = list[tuple[Any, ...]]
GRAPHS = sampling.number_of("random graphs of linked tables", 300, 10)


def load(warehouse: Warehouse, people: Rows, stays: Rows, results: Rows) -> None:
    text = "varchar"
    columns = {"person": "bigint", "age": text, "illness": text}
    warehouse.load(PEOPLE, columns, people)
    columns = {"stay": "bigint", "person": "bigint", "ward": text, "month": "integer"}
    warehouse.load(STAYS, {**columns, "diagnosis": text}, stays)
    warehouse.load(RESULTS, {"stay": "bigint", "test": text}, results)


def random_graph(rng: np.random.Generator) -> tuple[Rows, Rows, Rows]:
    """Draw people, their stays and the results of these; a few values are NULL."""

    def one_of(*values: object) -> Any:
        return values[rng.integers(len(values))]

    def some(*values: object) -> tuple[object, ...]:
        """Return the first of them, or more: with few values nobody is found."""
        return values[: rng.integers(1, len(values) + 1)]

    ages, illnesses = some("old", "young"), some("flu", "cold", None)
    wards, months, tests = some("a", "b", None), some(1, 1, 2), some("x", "y")
    most_stays, most_results = rng.integers(1, 4), rng.integers(1, 3)
    numbers = range(rng.integers(1, 20))
    people: Rows = [(n, one_of(*ages), one_of(*illnesses)) for n in numbers]
    owners = [n for n in numbers for _ in range(rng.integers(0, most_stays + 1))]
    stays: Rows = [
        (100 + n, person, one_of(*wards), one_of(*months), one_of("p", "q"))
        for n, person in enumerate(owners)
    ]
    results: Rows = [
        (stay, one_of(*tests))
        for stay, *_ in stays
        for _ in range(rng.integers(0, most_results + 1))
    ]
    return people, stays, results


def subjects_of(
    people: Rows, stays: Rows, results: Rows, *, with_numbers: bool = False
) -> list[Subject]:
    found = {person: Subject(age, [], [("illness", ill)]) for person, age, ill in people}
    owner, of_stay = {}, {}
    for stay, person, ward, month, diagnosis in stays:
        owner[stay] = found[person]
        of_stay[stay] = (ward, month)
        owner[stay].records.append(("stays", of_stay[stay]))
        owner[stay].sensitive.append(("diagnosis", diagnosis))
    for stay, test in results:
        owner[stay].records.append(("results", test, of_stay[stay]))
    if with_numbers:
        for one in found.values():
            own = [kind for kind, *_ in one.records]  # type: ignore[misc]
            one.own = (one.own, own.count("stays"), own.count("results"))
    return list(found.values())


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("part", range(5))
def test_as_many_are_found_as_by_the_definition(warehouse: Warehouse, name: str, part: int) -> None:
    case = CASES[name]
    known: Any = case["known_records"]
    for number in range(part, GRAPHS, 5):
        graph = random_graph(np.random.default_rng([sampling.SEED, number]))
        load(warehouse, *graph)
        subjects = subjects_of(*graph, with_numbers="known_count" in case)
        rows = warehouse.rows(name)
        limits = [None] if known == "all" else range(known + 1)
        expected = []
        for limit in limits:
            rare, told = found_by(subjects, limit, K, case.get("l"))  # type: ignore[arg-type]
            expected.append((limit, len(rare), len(told)))
        counted = [
            (r["known_records"], r["subjects_at_risk"], r["subjects_not_diverse"]) for r in rows
        ]
        assert sorted(counted, key=str) == sorted(expected, key=str), (number, graph)
        assert [r["problem"] for r in rows] == [None] * len(rows)
        broken = [one for one in counted if one[1] or one[2]]
        tested = [(*row.values(),)[:3] for row in warehouse.rows(f"test_{name}")]
        assert sorted(tested, key=str) == sorted(broken, key=str)


PERSON, OTHER = (1, "old", "flu"), (2, "old", "flu")
STAY = (10, 1, "a", 1, "p")


@pytest.mark.parametrize(
    ("people", "stays", "results", "problem"),
    [
        ([PERSON, (None, "old", "flu")], [STAY], [], "a key of the subjects is NULL"),
        ([PERSON, PERSON], [STAY], [], "a key of the subjects stands there more than once"),
        ([PERSON], [STAY, (11, 7, "a", 1, "p")], [], "a record of stays has no subject"),
        ([PERSON], [STAY, (11, None, "a", 1, "p")], [], "a record of stays has no subject"),
        ([PERSON], [STAY], [(11, "x")], "a record of results has no subject"),
        ([PERSON, OTHER], [STAY, (10, 2, "a", 1, "p")], [], "a key of stays is NULL or stands"),
        ([PERSON, OTHER], [STAY, (None, 2, "a", 1, "p")], [], "a key of stays is NULL or stands"),
    ],
)
def test_keys_that_cannot_be_followed_are_told(
    warehouse: Warehouse, people: Rows, stays: Rows, results: Rows, problem: str
) -> None:
    load(warehouse, people, stays, results)
    for model in ("joined_risk_of_one", "test_joined_risk_of_one"):
        found = [row["problem"] for row in warehouse.rows(model) if row["problem"]]
        assert len(found) == 1
        assert found[0].startswith(problem)


def test_own_values_may_be_unknown(warehouse: Warehouse) -> None:
    """Then subjects of all classes match each other."""
    people = [(1, "old", "flu"), (2, "young", "flu")]
    load(warehouse, people, [STAY, (11, 2, "a", 1, "p")], [])
    assert [r["subjects_at_risk"] for r in warehouse.rows("risk_of_page")] == [2, 2, 2]
    assert [r["subjects_at_risk"] for r in warehouse.rows("risk_without_own_values")] == [0, 0, 0]


def test_nobody_has_records(warehouse: Warehouse) -> None:
    load(warehouse, [(n, "old", "flu") for n in range(K)], [], [])
    for name in CASES:
        assert {r["subjects_at_risk"] for r in warehouse.rows(name)} == {0}
