"""Equivalence classes with every measure and every guarantee, against their definitions."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import privacy as definitions
from tests.oracle.privacy import Counts, counted, decimal
from tests.properties.batch import Batch, assert_same_rows
from tests.properties.guarded import (
    GUARDS,
    LEVELS_OF_EFFORTS,
    LIMIT,
    POPULATION_SIZE,
    TREES,
    Guard,
    load_frequencies,
    load_trees,
)
from tests.properties.warehouse import Row, Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import AGREEING, FIVE_HUNDRED, PROPERTY, in_batches


@dataclass(frozen=True)
class Person:
    """One record: raw quasi-identifiers, sensitive values, target and whose record it is."""

    city: str | None
    age: str | None
    disease: str | None
    visits: int | None
    target: str
    subject: int


@dataclass(frozen=True)
class Class:
    """An equivalence class of one effort, beside the whole table."""

    labels: tuple[str, str]
    members: tuple[Person, ...]
    everybody: tuple[Person, ...]
    by_subject: bool
    population: int
    # Leaves that the label of each quasi-identifier covers.
    covered: tuple[int, ...] = (1, 1)
    _counts: dict[str, tuple[Counts, Counts]] = field(default_factory=dict, compare=False)

    @property
    def size(self) -> int:
        """Return the number of people."""
        return len({p.subject for p in self.members}) if self.by_subject else len(self.members)

    @property
    def people(self) -> int:
        """Return the number of people in the table."""
        whole = self.everybody
        return len({p.subject for p in whole}) if self.by_subject else len(whole)

    def counts(self, attribute: str) -> tuple[Counts, Counts]:
        """Return how many people have each value in the class and in the table."""
        if attribute not in self._counts:
            of_class, of_table = (
                counted(
                    ((p.subject, getattr(p, attribute)) for p in people),
                    by_subject=self.by_subject,
                )
                for people in (self.members, self.everybody)
            )
            self._counts[attribute] = of_class, of_table
        return self._counts[attribute]


CITIES = st.sampled_from([None, *TREES["city"]])
AGES = st.sampled_from([None, *TREES["age"]])
PEOPLE = st.builds(
    Person,
    city=CITIES,
    age=AGES,
    disease=st.sampled_from([None, *TREES["disease"]]),
    visits=st.sampled_from([None, 0, 1, 2, 7]),
    target=st.sampled_from("abc"),
    subject=st.integers(1, 8),
)
TABLES = st.one_of(
    st.lists(PEOPLE, max_size=30),
    # Few combinations, so that classes are large.
    st.lists(PEOPLE, min_size=1, max_size=4).flatmap(
        lambda few: st.lists(
            st.builds(
                Person,
                city=st.sampled_from([p.city for p in few]),
                age=st.just(few[0].age),
                disease=st.sampled_from([p.disease for p in few]),
                visits=st.sampled_from([p.visits for p in few]),
                target=st.sampled_from("ab"),
                subject=st.integers(1, 20),
            ),
            max_size=40,
        )
    ),
).map(tuple)


def label(attribute: str, value: str | None, level: int) -> str:
    return "*" if value is None else TREES[attribute][value][level]


def classes_of(
    people: tuple[Person, ...], others: Counter[Any], effort: int, *, by_subject: bool
) -> list[Class]:
    def seen(city: str | None, age: str | None) -> tuple[str, str]:
        levels = LEVELS_OF_EFFORTS[effort]
        return label("city", city, levels["city"]), label("age", age, levels["age"])

    members: dict[tuple[str, str], list[Person]] = {}
    for person in people:
        members.setdefault(seen(person.city, person.age), []).append(person)
    population: Counter[tuple[str, str]] = Counter()
    for (city, age), number in others.items():
        population[seen(city, age)] += number
    return [
        Class(
            labels, tuple(found), people, by_subject, population[labels], covered_by(labels, effort)
        )
        for labels, found in members.items()
    ]


def covered_by(labels: tuple[str, str], effort: int) -> tuple[int, ...]:
    levels = LEVELS_OF_EFFORTS[effort]
    return tuple(
        len(TREES[name])
        if shown == "*"
        else sum(names[levels[name]] == shown for names in TREES[name].values())
        for name, shown in zip(("city", "age"), labels, strict=True)
    )


def expected_measures(one: Class, attribute: str) -> dict[str, object]:
    of_class, of_table = one.counts(attribute)
    return {
        "distinct_l": definitions.distinct_l(of_class),
        "entropy_l": definitions.entropy_l(of_class),
        "highest_share": definitions.highest_share(of_class, one.size),
        "t": definitions.equal_t(of_class, of_table),
        "beta": definitions.basic_beta(of_class, of_table),
        "delta": definitions.delta(of_class, of_table),
    }


def breaks(guarantee: dict[str, Any], one: Class) -> bool:
    """Tell whether a class breaks a guarantee about classes."""
    return definitions.breaks(guarantee, judged(one, guarantee.get("attribute")))


def judged(one: Class, attribute: str | None) -> definitions.Class:
    of_class, of_table = one.counts(attribute) if attribute else ({}, {})
    return definitions.Class(
        size=one.size,
        of_class=of_class,
        of_table=of_table,
        population=one.population,
        table=one.people,
        population_size=POPULATION_SIZE,
        tree=TREE_OF_DISEASES,
        covered=[
            (Fraction(leaves), len(TREES[name]))
            for name, leaves in zip(("city", "age"), one.covered, strict=True)
        ],
    )


TREE_OF_DISEASES: dict[Any, tuple[str, ...]] = {**TREES["disease"], None: ("NULL", "NULL", "*")}


def hierarchical(of_class: Counts, of_table: Counts) -> Fraction:
    return definitions.hierarchical_t(of_class, of_table, TREE_OF_DISEASES)


def nearest_superset(one: Class, attribute: str, n: int, distance: str) -> Fraction | None:
    guarantee = {"n": n, "distance": distance}
    return definitions.nearest_superset(guarantee, judged(one, attribute))


def load(warehouse: Warehouse, people: tuple[Person, ...], others: Counter[Any]) -> None:
    rows = Counter((p.city, p.age, p.disease, p.visits, p.target, p.subject) for p in people)
    load_frequencies(warehouse, rows, others)


def population_of(people: tuple[Person, ...], extra: list[tuple[Any, Any]]) -> Counter[Any]:
    return Counter((p.city, p.age) for p in people) + Counter(extra)


Table = tuple[tuple[Person, ...], Counter[Any]]


@st.composite
def with_population(draw: st.DrawFn) -> Table:
    """Draw a table and the population that it is a part of."""
    people = draw(TABLES)
    return people, population_of(people, draw(st.lists(st.tuples(CITIES, AGES), max_size=20)))


each_guard = pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard.name)
BATCHES = in_batches(with_population(), 20)


def load_each(warehouse: Warehouse, tables: list[Table]) -> Batch:
    load_trees(warehouse)
    batch = Batch(warehouse)
    for people, others in tables:
        batch.begin()
        load(batch, people, others)
    return batch


@each_guard
@FIVE_HUNDRED
@given(tables=BATCHES)
def test_every_measure_and_every_guarantee_is_as_the_definitions_say(
    warehouse: Warehouse, guard: Guard, tables: list[Table]
) -> None:
    found = load_each(warehouse, tables).rows_of_each(guard.measured)
    for listed, (people, others) in zip(found, tables, strict=True):
        rows = {(row["city"], row["age"]): row for row in listed}
        classes = classes_of(people, others, 0, by_subject=guard.by_subject)
        assert set(rows) == {one.labels for one in classes}
        for one in classes:
            row = rows[one.labels]
            assert row["class_size"] == one.size
            assert row["population_size"] == one.population
            check_measures(row, one, guard)
            broken = [breaks(guarantee, one) for guarantee in guard.guarantees]
            for number, guarantee in enumerate(guard.guarantees):
                assert row[f"breaks_{number}"] == broken[number], guarantee
            assert row["is_violating"] == any(broken)


@each_guard
@examples(PROPERTY, 5)
@given(tables=BATCHES)
def test_classes_of_every_effort_are_judged_and_suppressed_as_a_recount_says(
    warehouse: Warehouse, guard: Guard, tables: list[Table]
) -> None:
    every = load_each(warehouse, tables).rows_of_each(guard.classes)
    for found, (people, others) in zip(every, tables, strict=True):
        for effort in LEVELS_OF_EFFORTS:
            rows = {(row["city"], row["age"]): row for row in found if row["effort"] == effort}
            classes = classes_of(people, others, effort, by_subject=guard.by_subject)
            assert set(rows) == {one.labels for one in classes}
            broken = {one.labels: any(breaks(g, one) for g in guard.guarantees) for one in classes}
            suppressed = sum(len(one.members) for one in classes if broken[one.labels])
            is_within = effort > 0 and suppressed <= math.floor(decimal(LIMIT) * len(people))
            for one in classes:
                row = rows[one.labels]
                check_class(row, one, effort)
                check_measures(row, one, guard)
                assert row["is_violating"] == broken[one.labels]
                assert row["is_suppressed"] == (broken[one.labels] and is_within)


@each_guard
@AGREEING
@given(table=with_population())
def test_a_table_is_measured_in_a_batch_as_by_itself(
    warehouse: Warehouse, guard: Guard, table: Table
) -> None:
    load(warehouse, *table)
    batch = load_each(warehouse, [((), Counter()), table])
    for model in (guard.measured, guard.classes):
        assert_same_rows(batch.rows_of_each(model)[1], warehouse.rows(model))


def check_class(row: Row, one: Class, effort: int) -> None:
    targets = Counter(p.target for p in one.members).most_common()
    levels = LEVELS_OF_EFFORTS[effort]
    assert row["class_size"] == one.size
    assert row["records"] == len(one.members)
    assert row["population_size"] == one.population
    assert row["majority_records"] == targets[0][1]
    assert row["has_majority"] == (len(targets) == 1 or targets[0][1] > targets[1][1])
    for attribute, shown in zip(("city", "age"), one.labels, strict=True):
        tree, level = TREES[attribute], levels[attribute]
        covered = sum(names[level] == shown for names in tree.values())
        assert row[f"{attribute}_level"] == level
        assert row[f"{attribute}_share"] == pytest.approx(
            1 if shown == "*" else covered / len(tree)
        )
    length = "|".join(f"t{len(shown)}:{shown}" for shown in one.labels)
    assert row["equivalence_class"] == length


def check_measures(row: Row, one: Class, guard: Guard) -> None:
    for attribute in ("disease", "visits"):
        expected: dict[str, Any] = expected_measures(one, attribute)
        of_class, of_table = one.counts(attribute)
        if attribute == "disease":
            expected |= {
                "grassberger_l": definitions.grassberger_l(of_class),
                "recursive_c": definitions.recursive_c(of_class, 2),
                "recursive_c_2": definitions.recursive_c(of_class, 3),
                "limited_share": definitions.highest_share(of_class, one.size, ["flu", "none"]),
                "enhanced_beta": definitions.enhanced_beta(of_class, of_table, guard.beta),
                "hierarchical_t": hierarchical(of_class, of_table),
                "n_t": nearest_superset(one, "disease", 6, "equal"),
                "n_t_2": nearest_superset(one, "disease", 4, "hierarchical"),
            }
        else:
            expected["ordered_t"] = definitions.ordered_t(of_class, of_table)
            expected["n_t"] = nearest_superset(one, "visits", 9, "ordered")
        for name, value in expected.items():
            shown = None if value is None else pytest.approx(float(value), rel=1e-12, abs=1e-12)
            assert row[f"{attribute}_{name}"] == shown, name
