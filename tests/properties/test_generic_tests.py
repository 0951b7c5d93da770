"""Tests that users put on a relation: a row per violating class, and one per column with NULL."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import privacy as definitions
from tests.oracle.privacy import decimal
from tests.oracle.uniqueness import population_uniques
from tests.properties.batch import Batch, assert_same_rows
from tests.properties.generic import (
    AVERAGE,
    CASES,
    ESTIMATED,
    POPULATION_SIZE,
    SAMPLE,
    WHOLE,
    Case,
)
from tests.properties.guarded import TREES
from tests.properties.test_guarantees import (
    PEOPLE,
    TABLES,
    Class,
    Person,
    Table,
    breaks,
    judged,
    with_population,
)
from tests.properties.test_sample_guarantees import arrays
from tests.properties.warehouse import Row, Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import AGREEING, FIVE_HUNDRED, PROPERTY, in_batches

# What the labels of every record lose: three of nine combinations.
LOSS = 0.5
People = tuple[Person, ...]


def load(warehouse: Warehouse, people: People, others: Counter[Any]) -> None:
    columns = {"city": "varchar", "age": "varchar", "disease": "varchar", "visits": "int"}
    warehouse.load(
        "generic_rows",
        columns | {"person": "int", "loss": "double"},
        [(p.city, p.age, p.disease, p.visits, p.subject, LOSS) for p in people],
    )
    warehouse.load(
        "generic_population", {"city": "varchar", "age": "varchar"}, list(others.elements())
    )


def load_tree(warehouse: Warehouse) -> None:
    tree = {"value": "varchar", "level_1": "varchar", "level_2": "varchar"}
    warehouse.load("generic_tree", tree, list(TREES["disease"].values()))


def classes_of(people: People, others: Counter[Any], *, by_subject: bool) -> list[Class]:
    """Group by raw values: NULL is a value of its own."""
    members: dict[Any, list[Person]] = {}
    for person in people:
        members.setdefault((person.city, person.age), []).append(person)
    return [
        Class(seen, tuple(found), people, by_subject, others[seen], covered=(3, 1))
        for seen, found in members.items()
    ]


def measure(case: Case, one: Class) -> float | Fraction | None:
    attribute = case.parameters.get("attribute", "disease")
    of_class, of_table = one.counts(attribute)
    parameters = case.parameters
    values = parameters.get("values")
    measures: dict[tuple[str, str | None], Any] = {
        ("k_map", "population_size"): lambda: one.population,
        ("no_attack", "population_size"): lambda: one.population,
        ("profitable", "publisher_payout"): lambda: Fraction(
            definitions.payout(parameters, judged(one, None))
        ),
        ("k_map", "demanded_size"): lambda: definitions.estimated_k(
            4, one.people, POPULATION_SIZE, Fraction(1, 10), is_truncated=False
        ),
        ("alpha_k_anonymity", "highest_share"): lambda: definitions.highest_share(
            of_class, one.size, values
        ),
        ("l_diversity", "distinct_l"): lambda: definitions.distinct_l(of_class),
        ("l_diversity", "entropy_l"): lambda: definitions.entropy_l(of_class),
        ("l_diversity", "grassberger_l"): lambda: definitions.grassberger_l(of_class),
        ("l_diversity", "recursive_c"): lambda: definitions.recursive_c(of_class, 2),
        ("t_closeness", "t"): lambda: definitions.distance(
            parameters, judged(one, attribute), of_table
        ),
        ("n_t_closeness", "n_t"): lambda: definitions.nearest_superset(
            parameters, judged(one, attribute)
        ),
        ("beta_likeness", "beta"): lambda: definitions.basic_beta(of_class, of_table),
        ("beta_likeness", "enhanced_beta"): lambda: definitions.enhanced_beta(
            of_class, of_table, decimal(parameters["beta"])
        ),
        ("delta_disclosure", "delta"): lambda: definitions.delta(of_class, of_table),
        ("delta_presence", "presence"): lambda: Fraction(one.size, one.population),
        ("reidentification_risk", "risk"): lambda: Fraction(1, one.size),
    }
    found = measures[case.model, case.measure]()
    return None if found is None else float(found)


def key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((value is None, value) for value in row)


def split(rows: list[Row]) -> tuple[list[Row], dict[str, int]]:
    """Separate the rows of classes from those that count NULLs."""
    missing = {row["missing_in"]: row["missing"] for row in rows if row["missing_in"] is not None}
    return [row for row in rows if row["missing_in"] is None], missing


def load_each(warehouse: Warehouse, tables: list[Table]) -> Batch:
    load_tree(warehouse)
    batch = Batch(warehouse)
    for people, others in tables:
        batch.begin()
        load(batch, people, others)
    return batch


BATCHES = in_batches(with_population(), 20)


@FIVE_HUNDRED
@given(tables=BATCHES, by_subject=st.booleans())
def test_a_test_reports_exactly_the_classes_that_break_the_guarantee(
    warehouse: Warehouse, tables: list[Table], *, by_subject: bool
) -> None:
    batch = load_each(warehouse, tables)
    every = [classes_of(*table, by_subject=by_subject) for table in tables]
    for case in CASES:
        if case.by_subject == by_subject:
            found = batch.rows_of_each(case.name)
            for rows, table, classes in zip(found, tables, every, strict=True):
                check(case, rows, table, classes)


def check(case: Case, rows: list[Row], table: Table, classes: list[Class]) -> None:
    people, others = table
    reported, missing = split(rows)
    shown = ["class_size", "records", *([case.measure] if case.measure else [])]
    expected = [
        (one.size, len(one.members), *([measure(case, one)] if case.measure else []))
        for one in classes
        if breaks(case.guarantee, one)
    ]
    if case.model == "delta_presence" and case.parameters["minimum"] > 0:
        seen = {(p.city, p.age) for p in people}
        expected += [(0, 0, 0.0) for other in others if other not in seen]
    listed = sorted((tuple(row[name] for name in shown) for row in reported), key=key)
    assert len(listed) == len(expected), case.name
    for row, wanted in zip(listed, sorted(expected, key=key), strict=True):
        # None is infinite.
        numbers = tuple(math.inf if value is None else float(value) for value in wanted)
        shown_numbers = tuple(math.inf if value is None else float(value) for value in row)
        assert shown_numbers == pytest.approx(numbers, rel=1e-12, abs=1e-12), case.name
    attribute = case.parameters.get("attribute")
    nulls = sum(getattr(p, attribute) is None for p in people) if attribute else 0
    assert missing == ({attribute: nulls} if nulls else {}), case.name


@FIVE_HUNDRED
@given(tables=in_batches(TABLES, 20))
def test_a_test_of_all_classes_together_reports_one_row_with_its_measure(
    warehouse: Warehouse, tables: list[People]
) -> None:
    batch = load_each(warehouse, [(people, Counter()) for people in tables])
    every = [batch.rows_of_each(case.name) for case in (AVERAGE, SAMPLE, ESTIMATED)]
    for people, *found in zip(tables, *every, strict=True):
        check_whole(people, *found)


def check_whole(
    people: People, by_average: list[Row], by_sample: list[Row], by_estimate: list[Row]
) -> None:
    sizes = Counter((p.city, p.age) for p in people).values()
    alone = sum(size == 1 for size in sizes)
    average = Fraction(len(sizes), len(people)) if people else None
    expected = [float(average)] if average is not None and average > decimal(0.35) else []
    assert [row["risk"] for row in by_average] == pytest.approx(expected)
    share = Fraction(alone, len(people)) if people else None
    expected = [float(share)] if share is not None and share > decimal(0.2) else []
    assert [row["uniqueness"] for row in by_sample] == pytest.approx(expected)
    uniques = (
        population_uniques(*arrays(dict(Counter(sizes))), POPULATION_SIZE, estimator="zayatz")
        if people
        else 0
    )
    expected = [uniques / POPULATION_SIZE] if uniques > 0.1 * POPULATION_SIZE * (1 + 1e-9) else []
    assert [row["uniqueness"] for row in by_estimate] == pytest.approx(expected)
    assert [row["unique_subjects"] for row in by_estimate] == [alone] * len(expected)


@AGREEING
@given(table=with_population())
def test_a_table_is_tested_in_a_batch_as_by_itself(warehouse: Warehouse, table: Table) -> None:
    load(warehouse, *table)
    batch = load_each(warehouse, [((), Counter()), table])
    for case in (*CASES, *WHOLE):
        assert_same_rows(batch.rows_of_each(case.name)[1], warehouse.rows(case.name))


@given(people=st.lists(PEOPLE, min_size=1, max_size=5), nobody=st.integers(1, 4))
@examples(PROPERTY, 6)
def test_records_without_a_subject_fail_a_test_that_counts_people(
    warehouse: Warehouse, people: list[Person], nobody: int
) -> None:
    load_tree(warehouse)
    load(warehouse, tuple(people), Counter())
    warehouse.connection.execute(
        f"insert into generic_rows select city, age, 'flu', 1, null, {LOSS} from range({nobody}), "
        "(select city, age from generic_rows limit 1)"
    )
    for case in CASES:
        if case.by_subject:
            _, missing = split(warehouse.rows(case.name))
            assert missing["person"] == nobody


def test_no_test_shows_a_value(warehouse: Warehouse) -> None:
    load_tree(warehouse)
    load(warehouse, (Person("Ulm", "30", "flu", 7, "a", 1),), Counter({("Ulm", "30"): 9}))
    for case in CASES:
        for row in warehouse.rows(case.name):
            assert set(row) & {"city", "age", "disease", "visits", "person", "attribute"} == set()
            assert not any(isinstance(value, str) for value in row.values())
