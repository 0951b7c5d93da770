"""Measures of risk against a plain recount of the records."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .measured import RISK_COLUMNS, THRESHOLDS, measured_statements
from .warehouse import Row, Warehouse
from .worlds import PROPERTY

COLUMNS = {"person": "integer", "age": "integer", "city": "varchar", "gender": "varchar"}
SIZES = (1, 2, 3, 4, 5, 10, 11, 20, 50, 100, 1000)

Key = tuple[int | None, str | None, str | None]
KEYS = st.tuples(
    st.sampled_from([None, 0, 30, 40]),
    st.sampled_from([None, "", "Ulm", "it's"]),
    st.sampled_from([None, "f", "m"]),
)
# Records as (person, quasi-identifiers): a person may have several, in one class or in many.
PEOPLE = st.lists(st.tuples(st.integers(0, 9), KEYS), max_size=25)


@pytest.fixture(scope="module")
def warehouse() -> Iterator[Warehouse]:
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        yield Warehouse(connection, measured_statements())


def load_people(
    warehouse: Warehouse, people: list[tuple[int, Key]], population: list[Key] | None = None
) -> None:
    warehouse.load("people", COLUMNS, [(person, *key) for person, key in people])
    columns = {name: COLUMNS[name] for name in RISK_COLUMNS}
    if population is not None:
        warehouse.load("population", columns, population)


def class_sizes(people: list[tuple[int, Key]], who: str) -> Counter[Key]:
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
@PROPERTY
@given(people=PEOPLE)
def test_prosecutor_risk_is_one_over_the_class_size(
    warehouse: Warehouse, who: str, people: list[tuple[int, Key]]
) -> None:
    load_people(warehouse, people)
    sizes = class_sizes(people, who)
    for threshold in THRESHOLDS:
        found = one(warehouse.rows(f"{who}_prosecutor_risk_{threshold}"))
        risks = [Fraction(1, sizes[key]) for key in sizes.elements()]
        at_risk = sum(risk > Fraction(str(threshold)) for risk in risks)
        assert found == {
            "highest_risk": same(max(risks, default=None)),
            "average_risk": same(sum(risks) / len(risks) if risks else None),
            "lowest_risk": same(min(risks, default=None)),
            "share_at_risk": same(Fraction(at_risk, len(risks)) if risks else None),
        }


@both
@PROPERTY
@given(people=PEOPLE, others=st.lists(KEYS, max_size=20))
def test_journalist_and_marketer_look_among_the_population(
    warehouse: Warehouse, who: str, people: list[tuple[int, Key]], others: list[Key]
) -> None:
    population = [key for _, key in people] + others
    load_people(warehouse, people, population)
    sizes, sought = class_sizes(people, who), Counter(population)
    risks = [Fraction(1, sought[key]) for key in sizes.elements()]
    marketer = sum(risks) / len(risks) if risks else None
    assert one(warehouse.rows(f"{who}_marketer_risk")) == {"marketer_risk": same(marketer)}
    by_person = Fraction(len(sizes), sum(sought[key] for key in sizes)) if sizes else None
    for threshold in THRESHOLDS:
        at_risk = sum(risk > Fraction(str(threshold)) for risk in risks)
        assert one(warehouse.rows(f"{who}_journalist_risk_{threshold}")) == {
            "highest_risk": same(max(risks, default=None)),
            "average_risk": same(max(by_person, marketer) if by_person and marketer else None),
            "lowest_risk": same(min(risks, default=None)),
            "share_at_risk": same(Fraction(at_risk, len(risks)) if risks else None),
        }
    alone = sum(sizes[key] == 1 for key in sizes)
    unique = sum(sought[key] == 1 for key in sizes)
    assert one(warehouse.rows(f"{who}_uniqueness_in_population")) == {
        "unique_in_population": same(Fraction(unique, len(risks)) if risks else None),
        "sample_uniqueness": same(Fraction(alone, len(risks)) if risks else None),
    }


def test_a_population_that_lacks_people_of_the_relation_is_an_error(warehouse: Warehouse) -> None:
    key: Key = (30, None, "f")
    load_people(warehouse, [(1, key), (2, key)], [key])
    with pytest.raises(duckdb.Error, match="must contain everybody"):
        warehouse.rows("records_journalist_risk_0.2")
    load_people(warehouse, [(1, key), (2, key)], [(30, "Ulm", "f")])
    with pytest.raises(duckdb.Error, match="must contain everybody"):
        warehouse.rows("records_marketer_risk")


@both
@PROPERTY
@given(people=PEOPLE)
def test_uniqueness_is_the_share_that_is_alone(
    warehouse: Warehouse, who: str, people: list[tuple[int, Key]]
) -> None:
    load_people(warehouse, people)
    sizes = class_sizes(people, who)
    alone = sum(size == 1 for size in sizes.values())
    expected = Fraction(alone, sizes.total()) if sizes else None
    found = one(warehouse.rows(f"{who}_uniqueness"))
    assert found == {"sample_uniqueness": same(expected)}
    assert one(warehouse.rows(f"{who}_distinction")) == measures_of(sizes)


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


@PROPERTY
@given(people=PEOPLE)
def test_every_subset_of_the_quasi_identifiers_is_measured(
    warehouse: Warehouse, people: list[tuple[int, Key]]
) -> None:
    # Rows of the frequencies differ by further columns too, so keys repeat.
    counts = Counter((person % 3, key) for person, key in people)
    columns = {name: COLUMNS[name] for name in RISK_COLUMNS}
    rows = [(*key, outcome, records) for (outcome, key), records in counts.items()]
    warehouse.load(
        "people_frequencies", {**columns, "outcome": "integer", "records": "bigint"}, rows
    )
    subsets = [s for size in (1, 2, 3) for s in itertools.combinations(range(3), size)]
    assert warehouse.rows("quasi_identifier_risk") == [
        {
            "quasi_identifiers": ", ".join(RISK_COLUMNS[p] for p in subset),
            "size": len(subset),
            **measures_of(Counter(tuple(key[p] for p in subset) for _, key in people)),
        }
        for subset in subsets
    ]


def test_of_more_than_ten_quasi_identifiers_small_subsets_are_measured(
    warehouse: Warehouse,
) -> None:
    columns = {f"attribute_{i}": "integer" for i in range(11)}
    rows = [(*((n >> i) & 1 for i in range(11)), 2) for n in range(16)]
    warehouse.load("wide_frequencies", {**columns, "records": "bigint"}, rows)
    found = warehouse.rows("many_quasi_identifiers_risk")
    sizes = Counter(row["size"] for row in found)
    assert sizes == {1: 11, 2: 55, 3: 165}
    by_names = {row["quasi_identifiers"]: row for row in found}
    assert by_names["attribute_0, attribute_3"]["distinction"] == 4 / 32
    assert by_names["attribute_8, attribute_9, attribute_10"]["separation"] == 0


# Class sizes on both sides of each bound.
BOUNDARY = sorted({size + step for size in SIZES for step in (-1, 0, 1) if size + step})
CLASSES = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(BOUNDARY), st.integers(1, 5), st.sampled_from([0, 0, 1])
    ),
    max_size=12,
)


@PROPERTY
@given(classes=CLASSES)
def test_the_risk_profile_shares_the_released_records_among_intervals(
    warehouse: Warehouse, classes: list[tuple[int, int, int, int]]
) -> None:
    warehouse.load(
        "classes",
        {
            "effort": "integer",
            "class_size": "bigint",
            "records": "bigint",
            "is_suppressed": "boolean",
        },
        [(effort, size, size * times, bool(gone)) for effort, size, times, gone in classes],
    )
    rows = warehouse.rows("risk_profile")
    assert rows == [
        {"effort": effort, **interval}
        for effort in range(3)
        for interval in profile(
            [(n, n * times) for e, n, times, gone in classes if e == effort and not gone]
        )
    ]


@both
@PROPERTY
@given(people=PEOPLE)
def test_the_intervals_of_a_relation_are_those_of_its_classes(
    warehouse: Warehouse, who: str, people: list[tuple[int, Key]]
) -> None:
    load_people(warehouse, people)
    sizes, records = class_sizes(people, who), class_sizes(people, "records")
    found = warehouse.rows(f"{who}_risk_intervals")
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
