"""Measures of risk against a plain recount of the records."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.batch import Batch, assert_same_rows
from tests.properties.measured import RISK_COLUMNS, THRESHOLDS
from tests.properties.warehouse import Row, Warehouse
from tests.worlds.hierarchies import AGREEING, FIVE_HUNDRED, in_batches

COLUMNS = {"person": "integer", "age": "integer", "city": "varchar", "gender": "varchar"}
SIZES = (1, 2, 3, 4, 5, 10, 11, 20, 50, 100, 1000)

Key = tuple[int | None, str | None, str | None]
Person = tuple[int, Key]
KEYS = st.tuples(
    st.sampled_from([None, 0, 30, 40]),
    st.sampled_from([None, "", "Ulm", "it's"]),
    st.sampled_from([None, "f", "m"]),
)
# Records as (person, quasi-identifiers): a person may have several, in one class or in many.
PEOPLE = st.lists(st.tuples(st.integers(0, 9), KEYS), max_size=25)


def load_people(
    warehouse: Warehouse, people: list[Person], population: list[Key] | None = None
) -> None:
    warehouse.load("people", COLUMNS, [(person, *key) for person, key in people])
    columns = {name: COLUMNS[name] for name in RISK_COLUMNS}
    if population is not None:
        warehouse.load("population", columns, population)


def load_each(warehouse: Warehouse, tables: list[list[Person]]) -> Batch:
    batch = Batch(warehouse)
    for people in tables:
        batch.begin()
        load_people(batch, people)
    return batch


BATCHES = in_batches(PEOPLE, 20)


def class_sizes(people: list[Person], who: str) -> Counter[Key]:
    """Return the size of each class in records or in people."""
    counted = people if who == "records" else list(dict.fromkeys(people))
    return Counter(key for _, key in counted)


def same(value: float | Fraction | None) -> Any:
    return None if value is None else pytest.approx(float(value), rel=1e-12, abs=1e-12)


def one(rows: list[Row]) -> Row:
    (row,) = rows
    return row


both = pytest.mark.parametrize("who", ["records", "subjects"])


@both
@FIVE_HUNDRED
@given(tables=BATCHES)
def test_prosecutor_risk_is_one_over_the_class_size(
    warehouse: Warehouse, who: str, tables: list[list[Person]]
) -> None:
    batch = load_each(warehouse, tables)
    for threshold in THRESHOLDS:
        every = batch.rows_of_each(f"{who}_prosecutor_risk_{threshold}")
        for found, people in zip(every, tables, strict=True):
            sizes = class_sizes(people, who)
            risks = [Fraction(1, sizes[key]) for key in sizes.elements()]
            at_risk = sum(risk > Fraction(str(threshold)) for risk in risks)
            assert one(found) == {
                "highest_risk": same(max(risks, default=None)),
                "average_risk": same(sum(risks) / len(risks) if risks else None),
                "lowest_risk": same(min(risks, default=None)),
                "share_at_risk": same(Fraction(at_risk, len(risks)) if risks else None),
            }


WITH_OTHERS = st.tuples(PEOPLE, st.lists(KEYS, max_size=20))


@both
@FIVE_HUNDRED
@given(tables=in_batches(WITH_OTHERS, 20))
def test_journalist_and_marketer_look_among_the_population(
    warehouse: Warehouse, who: str, tables: list[tuple[list[Person], list[Key]]]
) -> None:
    batch = Batch(warehouse)
    for people, others in tables:
        batch.begin()
        load_people(batch, people, [key for _, key in people] + others)
    models = [f"{who}_journalist_risk_{threshold}" for threshold in THRESHOLDS]
    models += [f"{who}_marketer_risk", f"{who}_uniqueness_in_population"]
    every = zip(*(batch.rows_of_each(model) for model in models), strict=True)
    for found, (people, others) in zip(every, tables, strict=True):
        sizes = class_sizes(people, who)
        sought = Counter([key for _, key in people] + others)
        assert [one(rows) for rows in found] == among_population(sizes, sought)


def among_population(sizes: Counter[Key], sought: Counter[Key]) -> list[Row]:
    """Return the journalist's risks for each threshold, the marketer's, and uniqueness."""
    risks = [Fraction(1, sought[key]) for key in sizes.elements()]
    marketer = sum(risks) / len(risks) if risks else None
    by_person = Fraction(len(sizes), sum(sought[key] for key in sizes)) if sizes else None
    expected: list[Row] = []
    for threshold in THRESHOLDS:
        at_risk = sum(risk > Fraction(str(threshold)) for risk in risks)
        expected.append(
            {
                "highest_risk": same(max(risks, default=None)),
                "average_risk": same(max(by_person, marketer) if by_person and marketer else None),
                "lowest_risk": same(min(risks, default=None)),
                "share_at_risk": same(Fraction(at_risk, len(risks)) if risks else None),
            }
        )
    alone = sum(sizes[key] == 1 for key in sizes)
    unique = sum(sought[key] == 1 for key in sizes)
    expected.append({"marketer_risk": same(marketer)})
    expected.append(
        {
            "unique_in_population": same(Fraction(unique, len(risks)) if risks else None),
            "sample_uniqueness": same(Fraction(alone, len(risks)) if risks else None),
        }
    )
    return expected


def test_a_population_that_lacks_people_of_the_relation_is_an_error(warehouse: Warehouse) -> None:
    key: Key = (30, None, "f")
    load_people(warehouse, [(1, key), (2, key)], [key])
    with pytest.raises(duckdb.Error, match="must contain everybody"):
        warehouse.rows("records_journalist_risk_0.2")
    load_people(warehouse, [(1, key), (2, key)], [(30, "Ulm", "f")])
    with pytest.raises(duckdb.Error, match="must contain everybody"):
        warehouse.rows("records_marketer_risk")


@both
@FIVE_HUNDRED
@given(tables=BATCHES)
def test_uniqueness_is_the_share_that_is_alone(
    warehouse: Warehouse, who: str, tables: list[list[Person]]
) -> None:
    batch = load_each(warehouse, tables)
    uniqueness = batch.rows_of_each(f"{who}_uniqueness")
    distinction = batch.rows_of_each(f"{who}_distinction")
    for found, further, people in zip(uniqueness, distinction, tables, strict=True):
        sizes = class_sizes(people, who)
        alone = sum(size == 1 for size in sizes.values())
        expected = Fraction(alone, sizes.total()) if sizes else None
        assert one(found) == {"sample_uniqueness": same(expected)}
        assert one(further) == measures_of(sizes)


def measures_of(sizes: Counter[Any]) -> dict[str, Any]:
    """Return distinction, separation and uniqueness, from all pairs."""
    members = [key for key, size in sizes.items() for _ in range(size)]
    pairs = list(itertools.combinations(members, 2))
    differing = sum(first != second for first, second in pairs)
    alone = sum(size == 1 for size in sizes.values())
    return {
        "distinction": same(Fraction(len(sizes), len(members)) if members else None),
        "separation": same(Fraction(differing, len(pairs)) if pairs else None),
        "uniqueness": same(Fraction(alone, len(members)) if members else None),
    }


@AGREEING
@given(people=PEOPLE, others=st.lists(KEYS, max_size=20))
def test_a_table_is_measured_in_a_batch_as_by_itself(
    warehouse: Warehouse, people: list[Person], others: list[Key]
) -> None:
    population = [key for _, key in people] + others
    batch = Batch(warehouse)
    for one_of in ([], people):
        batch.begin()
        load_people(batch, one_of, population)
    load_people(warehouse, people, population)
    of_people = [
        name for name in warehouse.statements if name.startswith(("records_", "subjects_"))
    ]
    assert len(of_people) == 18
    for model in of_people:
        assert_same_rows(batch.rows_of_each(model)[1], warehouse.rows(model))


@both
@FIVE_HUNDRED
@given(tables=BATCHES)
def test_the_intervals_of_a_relation_are_those_of_its_classes(
    warehouse: Warehouse, who: str, tables: list[list[Person]]
) -> None:
    every = load_each(warehouse, tables).rows_of_each(f"{who}_risk_intervals")
    for rows, people in zip(every, tables, strict=True):
        sizes, records = class_sizes(people, who), class_sizes(people, "records")
        found = sorted(rows, key=lambda row: float(row["risk_from"]))
        assert found == profile([(size, records[key]) for key, size in sizes.items()])


def profile(classes: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """Return the share of the records in each interval of 1/size, from the lowest risk."""
    total = sum(records for _, records in classes)
    bounds = [Fraction(0), *(Fraction(1, size) for size in reversed(SIZES))]
    found = []
    for low, high in itertools.pairwise(bounds):
        inside = sum(records for size, records in classes if low < Fraction(1, size) <= high)
        below = sum(records for size, records in classes if Fraction(1, size) <= high)
        found.append(
            {
                "risk_from": float(low),
                "risk_to": float(high),
                "records_share": same(Fraction(inside, total) if total else None),
                "cumulative_share": same(Fraction(below, total) if total else None),
            }
        )
    return found
