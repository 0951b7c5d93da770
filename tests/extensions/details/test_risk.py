"""Risk of subsets and profiles of risk against a plain recount."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.batch import Batch
from tests.properties.measured import RISK_COLUMNS
from tests.properties.test_risk import BATCHES, COLUMNS, SIZES, Person, measures_of, profile
from tests.properties.warehouse import Row, Warehouse
from tests.worlds.hierarchies import AGREEING, FIVE_HUNDRED, in_batches


def load_counts(warehouse: Warehouse, people: list[Person]) -> None:
    """Load frequencies whose rows differ by further columns too, so that keys repeat."""
    counts = Counter((person % 3, key) for person, key in people)
    columns = {name: COLUMNS[name] for name in RISK_COLUMNS}
    rows = [(*key, outcome, records) for (outcome, key), records in counts.items()]
    warehouse.load(
        "people_frequencies", {**columns, "outcome": "integer", "records": "bigint"}, rows
    )


SUBSETS = [s for size in (1, 2, 3) for s in itertools.combinations(range(3), size)]


@FIVE_HUNDRED
@given(tables=BATCHES)
def test_every_subset_of_the_quasi_identifiers_is_measured(
    warehouse: Warehouse, tables: list[list[Person]]
) -> None:
    batch = Batch(warehouse)
    for people in tables:
        batch.begin()
        load_counts(batch, people)
    names = {", ".join(RISK_COLUMNS[p] for p in subset): subset for subset in SUBSETS}
    for rows, people in zip(batch.rows_of_each("quasi_identifier_risk"), tables, strict=True):
        found = {row["quasi_identifiers"]: row for row in rows}
        assert len(rows) == len(found)
        assert found == {
            name: {
                "quasi_identifiers": name,
                "size": len(subset),
                **measures_of(Counter(tuple(key[p] for p in subset) for _, key in people)),
                "one_in": 1,
            }
            for name, subset in names.items()
        }


def test_subsets_come_from_the_smallest_to_the_largest(warehouse: Warehouse) -> None:
    load_counts(warehouse, [(1, (30, "Ulm", "f"))])
    found = [row["quasi_identifiers"] for row in warehouse.rows("quasi_identifier_risk")]
    assert found == [", ".join(RISK_COLUMNS[p] for p in subset) for subset in SUBSETS]


def test_of_many_quasi_identifiers_small_subsets_and_all_together_are_measured(
    warehouse: Warehouse,
) -> None:
    columns = {f"attribute_{i}": "integer" for i in range(31)}
    rows = [(*((n >> i) & 1 for i in range(31)), 2) for n in range(16)]
    warehouse.load("wide_frequencies", {**columns, "records": "bigint"}, rows)
    found = warehouse.rows("many_quasi_identifiers_risk")
    sizes = Counter(row["size"] for row in found)
    assert sizes == {1: 31, 2: 465, 31: 1}
    by_names = {row["quasi_identifiers"]: row for row in found}
    assert by_names["attribute_0, attribute_3"]["distinction"] == 4 / 32
    assert by_names["attribute_8, attribute_30"]["separation"] == 0
    assert found[-1]["quasi_identifiers"] == ", ".join(f"attribute_{i}" for i in range(31))
    assert found[-1]["distinction"] == 16 / 32


def test_of_many_combinations_one_in_some_stands_for_all(warehouse: Warehouse) -> None:
    # 40 values, 2 values, and nearly as many as there are records.
    rows = [(n % 40, n * 7 % 2, n * n % 7919, 1 + n % 3 // 2) for n in range(20_000)]
    codes = {f"code_{i}": "integer" for i in range(1, 4)}
    warehouse.load("large_tuples", {**codes, "records": "bigint"}, rows)
    rows_found = warehouse.rows("large_quasi_identifier_risk")
    found = {row["quasi_identifiers"]: row for row in rows_found}
    for subset in SUBSETS:
        sizes: Counter[Any] = Counter()
        for row in rows:
            sizes[tuple(row[p] for p in subset)] += row[-1]
        one = found[", ".join(f"attribute_{p}" for p in subset)]
        records = sum(sizes.values())
        distinction = len(sizes) / records
        uniqueness = sum(size == 1 for size in sizes.values()) / records
        pairs = sum(size * (size - 1) for size in sizes.values()) / (records * (records - 1))
        # 80 classes at most are counted whole.
        is_whole = 2 not in subset
        assert (one["one_in"] == 1) == is_whole
        expected = (distinction, uniqueness, 1 - pairs)
        measured = (one["distinction"], one["uniqueness"], one["separation"])
        within = {"rel": 1e-12} if is_whole else {"rel": 0.15, "abs": 0.02}
        assert measured == pytest.approx(expected, **within)


# Class sizes on both sides of each bound.
BOUNDARY = sorted({size + step for size in SIZES for step in (-1, 0, 1) if size + step})
CLASSES = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(BOUNDARY), st.integers(1, 5), st.sampled_from([0, 0, 1])
    ),
    max_size=12,
)


Classes = list[tuple[int, int, int, int]]


def load_classes(warehouse: Warehouse, classes: Classes) -> None:
    columns = {"effort": "integer", "class_size": "bigint", "records": "bigint"}
    warehouse.load(
        "classes",
        columns | {"is_suppressed": "boolean"},
        [(effort, size, size * times, bool(gone)) for effort, size, times, gone in classes],
    )


def profiles(classes: Classes) -> list[Row]:
    return [
        {"effort": effort, **interval}
        for effort in range(3)
        for interval in profile(
            [(n, n * times) for e, n, times, gone in classes if e == effort and not gone]
        )
    ]


@FIVE_HUNDRED
@given(tables=in_batches(CLASSES, 20))
def test_the_risk_profile_shares_the_released_records_among_intervals(
    warehouse: Warehouse, tables: list[Classes]
) -> None:
    batch = Batch(warehouse)
    for classes in tables:
        batch.begin()
        load_classes(batch, classes)
    for rows, classes in zip(batch.rows_of_each("risk_profile"), tables, strict=True):
        found = sorted(rows, key=lambda row: (row["effort"], row["risk_from"]))
        assert found == profiles(classes)


@AGREEING
@given(classes=CLASSES)
def test_the_risk_profile_is_in_order(warehouse: Warehouse, classes: Classes) -> None:
    load_classes(warehouse, classes)
    assert warehouse.rows("risk_profile") == profiles(classes)
