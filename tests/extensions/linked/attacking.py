"""The attack of `verify` by its definition: each assignment of known records is tried."""

from __future__ import annotations

import csv
import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import duckdb

from tests.extensions.linked.hospital import TESTS, WARDS, K, spec
from tests.projects import Project

KNOWN = 2
_SEED = spec()["quality"]["random_state"]


@dataclass
class Person:
    """A person: her age as it is or as a label with bounds, and her records with their stays."""

    age: Any
    records: list[tuple[Any, ...]] = field(default_factory=list)


def outcome(project: Project) -> str:
    """Return what the attack on released people finds, as its message says it."""
    released = _released(project)
    numbers = [
        sum(
            _covers_interval(one.age, person.age) and _fits(one.records, known)
            for one in released.values()
        )
        for person, known in _targets(project)
    ]
    few, alone, nobody = (
        f"{sum(condition(n) for n in numbers) / len(numbers):.1%}"
        for condition in (lambda n: 0 < n < K, lambda n: n == 1, lambda n: n == 0)
    )
    return (
        f"of {len(numbers):,} people {few} have fewer than k = {K} candidates, {alone} are found "
        f"alone, and what is known of {nobody} fits nobody."
    )


def _rows(project: Project, name: str) -> list[dict[str, str]]:
    with (project.folder / "seeds" / f"clinic_{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _targets(project: Project) -> Iterator[tuple[Person, list[tuple[Any, ...]]]]:
    """Yield those of known age, who are all released, and their known records."""
    people = {
        row["patient_id"]: Person(int(row["age"]))
        for row in _rows(project, "patients")
        if row["age"]
    }
    stays = {}
    for row in _rows(project, "stays"):
        month = int(row["month"]) if row["month"] else None
        stays[row["stay_id"]] = (row["patient_id"], (row["ward"], month))
    keys: dict[str, list[tuple[str, int, str, tuple[Any, ...]]]] = {name: [] for name in people}
    for stay, (patient, value) in stays.items():
        if patient in people:
            keys[patient].append((_drawn(0, stay), 0, stay, value))
    for row in _rows(project, "results"):
        patient, value = stays[row["stay_id"]]
        if patient in people:
            result = row["result_id"]
            keys[patient].append((_drawn(1, result), 1, result, (row["test"], *value)))
    for patient, person in people.items():
        yield person, [value for *_, value in sorted(keys[patient])[:KNOWN]]


def _drawn(place: int, record: str) -> str:
    text = f"{_SEED} known {place} {record}"
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _released(project: Project) -> dict[str, Person]:
    with duckdb.connect(str(project.release_file("hospital")), read_only=True) as file:
        people = {
            token: Person(age)
            for token, *age in file.execute(
                "select token, age, age_lower, age_upper from hospital_anonymized"
            ).fetchall()
        }
        stays = {}
        for stay, token, ward, *month in file.execute(
            "select stays_key, token, ward, month, month_lower, month_upper "
            "from hospital_released_stays"
        ).fetchall():
            stays[stay] = (people[token], (ward, month))
            people[token].records.append((ward, month))
        for stay, test in file.execute(
            "select stays_key, test from hospital_released_results"
        ).fetchall():
            person, value = stays[stay]
            person.records.append((test, *value))
    return people


def _fits(records: list[tuple[Any, ...]], known: list[tuple[Any, ...]]) -> bool:
    return any(
        all(map(_covers, chosen, known)) for chosen in itertools.permutations(records, len(known))
    )


def _covers(record: tuple[Any, ...], known: tuple[Any, ...]) -> bool:
    if len(record) != len(known):
        return False
    *labels, month = record
    *values, true_month = known
    groups = TESTS | WARDS
    return _covers_interval(month, true_month) and all(
        label in {"*", value, groups[value]} for label, value in zip(labels, values, strict=True)
    )


def _covers_interval(label: Any, value: Any) -> bool:
    text, lower, upper = label
    return text == "*" or (value is not None and lower <= value < upper)


def found_by_cost(project: Project, effort: int, k: int) -> tuple[int, int, int, int]:
    """Return whom the cost of a stay finds of how many, and the hidden stays of which it tells.

    It tells a label that all shown stays of the same cost have.
    """
    with duckdb.connect(str(project.release_file("hospital")), read_only=True) as file:
        age = dict(file.execute("select token, age from hospital_anonymized").fetchall())
        stays = file.execute("select token, cost from hospital_released_stays").fetchall()
    sharing: dict[tuple[str, int], set[str]] = {}
    for token, cost in stays:
        sharing.setdefault((age[token], cost), set()).add(token)
    found = {one for tokens in sharing.values() if len(tokens) < k for one in tokens}
    decided = project.query(
        "select status, cost, string_split(value, '|') "
        f"from hospital_linked_decisions_{effort} as decided "
        f"join hospital_linked_values_{effort} using (linked_table, record) "
        "join hospital_linked_table_stays as stays on record = stays.stay_id::varchar "
        "where linked_table = 'stays' and status <> 'left out'"
    )
    shown: dict[tuple[int, int], set[str]] = {}
    for status, cost, labels in decided:
        for place, label in enumerate(labels if status == "released" else []):
            shown.setdefault((cost, place), set()).add(label)
    hidden = [
        any(shown.get((cost, place)) == {label} for place, label in enumerate(labels))
        for status, cost, labels in decided
        if status == "hidden"
    ]
    return len(found), len(age), sum(hidden), len(hidden)
