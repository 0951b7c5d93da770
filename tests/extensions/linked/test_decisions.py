"""Decisions on linked records, by the definition: all subjects are kept, and nobody is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests import sampling
from tests.extensions.linked.test_deciding import KNOWN, OLD, TABLES, A, decide
from tests.extensions.linked.test_joined_risk import Rows, random_graph
from tests.oracle.linked import Subject, found_by

GRAPHS = sampling.number_of("random graphs whose subjects are kept", 200, 8)


def effort_of(people: Rows, k: int, rng: np.random.Generator) -> Rows:
    """Suppress some people, and all those whose classes have fewer than k others."""
    is_suppressed = rng.random(len(people)) < 0.1
    left = [age for (_, age, _), out in zip(people, is_suppressed, strict=True) if not out]
    return [
        (person, age, bool(out) or left.count(age) < k)
        for (person, age, _), out in zip(people, is_suppressed, strict=True)
    ]


# Label of each value one level up, by the number of its column.
Up = dict[tuple[int, Any], str]
ROOT = "*"


def random_levels(rng: np.random.Generator) -> Up:
    """Draw the labels one level up: of a value itself, of several, or of everything."""
    labels = {0: ("a", "b"), 1: (1, 2), 2: ("x", "y")}
    return {
        (column, value): (str(value), "several", ROOT)[rng.integers(3)]
        for column, values in labels.items()
        for value in values
    }


def labels_of(up: Up, *values: tuple[int, Any]) -> tuple[str, ...]:
    """Return the labels of values, given with their columns, one level up."""
    return tuple(up.get(one, str(one[1])) if one[1] is not None else ROOT for one in values)


def _text(labels: tuple[str, ...]) -> str | None:
    return None if {*labels} == {ROOT} else repr(labels)


def values_of(stays: Rows, results: Rows, up: Up) -> Rows:
    """Return the records of a graph; results have keys, 1000 and on."""
    listed = [("stays", s, p, ((0, ward), (1, month))) for s, p, ward, month, _ in stays]
    listed += [("results", 1000 + n, s, ((2, test),)) for n, (s, test) in enumerate(results)]
    return [
        (table, str(key), str(over), _text(labels_of({}, *row)), _text(labels_of(up, *row)))
        for table, key, over, row in listed
    ]


def with_subjects(decisions: pd.DataFrame, effort: Rows, values: Rows) -> pd.DataFrame:
    """Add subjects, and the records of the suppressed ones, of which there must be no decision."""
    suppressed = {("subjects", str(person)) for person, _, is_suppressed in effort if is_suppressed}
    for table, record, parent, *_ in values:
        if (TABLES[table], parent) in suppressed:
            suppressed.add((table, record))
    decided = {*zip(decisions["linked_table"], decisions["record"], strict=True)}
    assert decided == {(table, record) for table, record, *_ in values} - suppressed
    assert len(decided) == len(decisions)
    rows = [(*one, "left out") for one in suppressed]
    rows += [("subjects", str(person), "released") for person, _, out in effort if not out]
    columns = ["linked_table", "record", "status"]
    return pd.concat([decisions[columns], pd.DataFrame(rows, columns=columns)])


def released(
    decisions: pd.DataFrame, graph: tuple[Rows, Rows, Rows], up: Up, *, with_numbers: bool
) -> list[Subject]:
    """Return the subjects as who reads the release sees them."""

    def shown_as(status: str, *values: tuple[int, Any]) -> tuple[str, ...]:
        if status == "hidden":
            return (ROOT,) * len(values)
        return labels_of(up if status == "raised" else {}, *values)

    status = {
        (row.linked_table, int(row.record)): row.status for row in decisions.itertuples(index=False)
    }
    people, stays, results = graph
    found = {
        person: Subject(age, [], [("illness", illness)])
        for person, age, illness in people
        if status["subjects", person] == "released"
    }
    kinds: dict[Any, list[str]] = {person: [] for person in found}
    shown: dict[Any, tuple[Any, Any]] = {}
    for stay, person, ward, month, diagnosis in stays:
        if (kept := status["stays", stay]) != "left out":
            assert person in found
            shown[stay] = (person, shown_as(kept, (0, ward), (1, month)))
            found[person].records.append(("stays", shown[stay][1]))
            found[person].sensitive.append(("diagnosis", diagnosis))
            kinds[person].append("stays")
    for number, (stay, test) in enumerate(results):
        if (kept := status["results", 1000 + number]) != "left out":
            person, of_stay = shown[stay]  # no orphan
            found[person].records.append(("results", shown_as(kept, (2, test)), of_stay))
            kinds[person].append("results")
    if with_numbers:
        for person, one in found.items():
            one.own = (one.own, *(kinds[person].count(kind) for kind in ("stays", "results")))
    return list(found.values())


@pytest.mark.parametrize(("known", "with_numbers"), KNOWN)
@pytest.mark.parametrize("k", [2, 3])
def test_nobody_is_found_though_all_are_kept(
    known: int | str, *, with_numbers: bool, k: int
) -> None:
    limit = None if known == "all" else int(known)
    for number in range(GRAPHS):
        rng = np.random.default_rng([sampling.SEED, number, 3])
        graph, up = random_graph(rng), random_levels(rng)
        effort, values = effort_of(graph[0], k, rng), values_of(*graph[1:], up)
        rule = {"k": k, "known_records": known, "known_count": with_numbers}
        decisions = decide(effort, values, **rule)
        whole = with_subjects(decisions, effort, values)
        remaining = released(whole, graph, up, with_numbers=with_numbers)
        assert len(remaining) == sum(not out for *_, out in effort)
        assert found_by(remaining, limit, k) == (set(), set()), (number, graph, up)
        if len(decisions):
            before = with_subjects(decisions.assign(status="released"), effort, values)
            unhidden = released(before, graph, up, with_numbers=with_numbers)
            is_safe = not found_by(unhidden, limit, k)[0]
            assert is_safe == (decisions["status"] == "released").all()
            without = decide(effort, [row[:4] for row in values], **rule)
            assert "raised" not in {*without["status"]}
            assert cost(decisions) <= cost(without)


def cost(decisions: pd.DataFrame) -> float:
    """Return the number of records that are lost; of raised ones every second."""
    costs = {"released": 0.0, "raised": 0.5, "hidden": 1.0, "left out": 1.0}
    return sum(costs[status] for status in decisions["status"])


def random_crowd(rng: np.random.Generator) -> tuple[Rows, Rows, Rows]:
    """Draw 30 people with up to three stays, whose values are so many that some may stay."""
    people: Rows = [(n, str(rng.choice(["old", "young"])), f"ill {n % 9}") for n in range(30)]
    owners = np.repeat(np.arange(30), rng.choice(4, 30, p=[0.2, 0.4, 0.2, 0.2]))
    stays: Rows = [
        (n, int(owner), str(rng.choice(["a", "b"])), int(rng.integers(1, 3)), f"d{rng.integers(9)}")
        for n, owner in enumerate(owners)
    ]
    of_stays = rng.integers(0, len(stays), 10)
    return people, stays, [(int(stay), str(rng.choice(["x", "y"]))) for stay in of_stays]


DIVERSE: list[tuple[int | str, bool]] = [(1, False), (2, False), ("all", False)]
DIVERSE += [(1, True), (2, True), ("all", True)]


@pytest.mark.parametrize(("known", "with_numbers"), DIVERSE)
@pytest.mark.parametrize("k", [2, 3])
def test_no_sensitive_value_is_told(known: int | str, *, with_numbers: bool, k: int) -> None:
    limit = None if known == "all" else int(known)
    for number in range(GRAPHS):
        rng = np.random.default_rng([sampling.SEED, number, 4])
        graph = random_graph(rng) if number % 2 else random_crowd(rng)
        up, diversity = random_levels(rng), int(rng.integers(2, 4))
        effort = diverse_effort_of(graph[0], k, diversity, rng)
        diagnoses = [diagnosis for *_, diagnosis in graph[1]]
        values = [
            (*row, f"v{diagnosis}" if diagnosis else None)
            for row, diagnosis in zip(
                values_of(*graph[1:], up), diagnoses + [None] * len(graph[2]), strict=True
            )
        ]
        rule = {"k": k, "known_records": known, "known_count": with_numbers}
        rule |= {"l": diversity, "sensitive": ["illness"]}
        decisions = decide(effort, values, **rule)
        whole = with_subjects(decisions, [row[:3] for row in effort], [row[:5] for row in values])
        remaining = released(whole, graph, up, with_numbers=with_numbers)
        assert len(remaining) == sum(not out for _, _, out, _ in effort)
        assert found_by(remaining, limit, k, diversity) == (set(), set()), (number, graph, up)


def diverse_effort_of(people: Rows, k: int, diversity: int, rng: np.random.Generator) -> Rows:
    """Suppress also the classes of own values in which an illness is too frequent."""
    illness = {person: ill for person, _, ill in people}
    effort = effort_of(people, k, rng)
    left: dict[str, list[Any]] = {}
    for person, age, out in effort:
        left.setdefault(age, []).extend([] if out else [illness[person]])
    told = {
        age
        for age, ills in left.items()
        if any(ills.count(one) * diversity > len(ills) for one in ills)
    }
    return [(person, age, out or age in told, illness[person]) for person, age, out in effort]


def test_records_of_classes_that_are_too_small_take_no_part() -> None:
    """Their effort is not released, since nobody of too many is suppressed."""
    alone = [*OLD, (4, "young", False)]

    decisions = decide(alone, [*A, ("stays", "12", "4", "a")])

    assert {*decisions["record"]} == {*decide(OLD, A)["record"]}
    assert len(decide(OLD, A, k=9)) == 0


def test_records_of_classes_that_tell_a_sensitive_value_take_no_part() -> None:
    effort = [(1, "old", False, "flu"), (2, "old", False, "gout"), (3, "old", True, "gout")]
    told = [(4, "young", False, "flu"), (5, "young", False, "flu"), (6, "young", False, None)]
    stays = [("stays", str(10 + n), str(n), "a", "a", None) for n in range(1, 7)]

    decisions = decide([*effort, *told], stays, l=2, sensitive=["illness"])

    assert [*decisions["record"]] == ["11", "12"]
