"""Privacy rolled up from the frequencies against a recount and against the records."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, fields
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import generalization as recount
from tests.oracle.generalization import CategoricalHierarchy, IntervalHierarchy, Record, World
from tests.properties.batch import Batch, assert_same_rows
from tests.properties.compilation import Policy, Shape
from tests.properties.warehouse import Row, Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import AGREEING, PLAIN, PROPERTY, SHAPES, in_batches, worlds

each_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)


COUNTS = tuple(field.name for field in fields(recount.Privacy))


def privacy_rows(warehouse: Warehouse, shape: Shape, policy: Policy) -> list[Row]:
    warehouse.build(shape.classes_model(policy), shape.classes)
    return warehouse.rows(f"{shape.name}_{policy.name}_privacy")


def privacy_of(warehouse: Warehouse, shape: Shape, policy: Policy, levels: tuple[int, ...]) -> Row:
    rows = privacy_rows(warehouse, shape, policy)
    (found,) = [row for row in rows if row["effort"] == shape.efforts.index(levels)]
    return found


def load_each(warehouse: Warehouse, shape: Shape, tables: list[World]) -> Batch:
    batch = Batch(warehouse)
    for world in tables:
        batch.begin()
        batch.load_source(shape, world)
    batch.build_frequencies(shape)
    return batch


def privacy_of_each(batch: Batch, shape: Shape, policy: Policy) -> list[list[Row]]:
    batch.build(shape.classes_model(policy), shape.classes)
    found = batch.rows_of_each(f"{shape.name}_{policy.name}_privacy")
    return [sorted(rows, key=lambda row: int(row["effort"])) for rows in found]


@each_shape
@examples(PROPERTY, 14)
@given(data=st.data())
def test_privacy_of_every_effort_equals_a_recount(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    tables = data.draw(in_batches(worlds(shape), 20))
    policy = data.draw(st.sampled_from(shape.policies))
    every = privacy_of_each(load_each(warehouse, shape, tables), shape, policy)
    for found, world in zip(every, tables, strict=True):
        assert [{name: row[name] for name in ("effort", *COUNTS)} for row in found] == [
            {"effort": number}
            | asdict(recount.privacy(world, levels, policy.k, policy.limit, is_baseline=not number))
            for number, levels in enumerate(shape.efforts)
        ]


@each_shape
@examples(PROPERTY, 4)
@given(data=st.data())
def test_privacy_rolled_up_from_frequencies_equals_a_count_of_the_records(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    tables, policy = data.draw(in_batches(worlds(shape, min_size=1), 20)), shape.policies[-1]
    number = data.draw(st.sampled_from(range(len(shape.efforts))))
    batch = load_each(warehouse, shape, tables)
    every = privacy_of_each(batch, shape, policy)
    records = batch.rows_of_each(shape.effort_model(shape.efforts[number]))
    for found, rows in zip(every, records, strict=True):
        check_privacy(found[number], rows, policy, is_baseline=number == 0)


def check_privacy(found: Row, rows: list[Row], policy: Policy, *, is_baseline: bool) -> None:
    released = Counter(row["equivalence_class"] for row in rows if not row["is_suppressed"])
    violating = sum(row["class_size"] < policy.k for row in rows)
    allowed = math.floor(Fraction(policy.limit) * len(rows))
    assert {name: found[name] for name in COUNTS} == {
        "k": min(released.values()),
        "equivalence_classes": len(released),
        "records": len(rows),
        "released_records": released.total(),
        "suppressed_records": len(rows) - released.total(),
        "violating_records": violating,
        "meets_guarantees": not is_baseline and violating <= allowed,
        "highest_risk": 1 / min(released.values()),
        "average_risk": len(released) / released.total(),
        "sample_uniqueness": sum(size == 1 for size in released.values()) / released.total(),
    }


@each_shape
@AGREEING
@given(data=st.data())
def test_an_anonymization_in_a_batch_is_as_by_itself(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    tables, policy = data.draw(in_batches(worlds(shape), 2)), shape.policies[0]
    every = privacy_of_each(load_each(warehouse, shape, tables), shape, policy)
    for world, found in zip(tables, every, strict=True):
        warehouse.load_world(shape, world)
        assert_same_rows(found, privacy_rows(warehouse, shape, policy))


@pytest.mark.parametrize(("singles", "is_within_limit"), [(29, True), (30, False)])
def test_the_suppression_limit_is_the_decimal_number_that_was_declared(
    warehouse: Warehouse, *, singles: int, is_within_limit: bool
) -> None:
    """As binary fractions, 0.29 * 100 is less than 29; the 29th record may be suppressed."""
    breaks = tuple(float(n) for n in range(singles + 2))
    leaves = tuple(f"leaf {n}" for n in range(singles + 1))
    hierarchies = (
        IntervalHierarchy(breaks, (leaves, leaves, ("*",) * (singles + 1))),
        CategoricalHierarchy(("Ulm",), (("city",), ("country",), ("*",))),
    )
    ages = [float(n) for n in range(singles)] + [float(singles)] * (100 - singles)
    world = World(hierarchies, tuple(Record((age, "Ulm"), None, "no") for age in ages))
    warehouse.load_world(PLAIN, world)
    found = privacy_of(warehouse, PLAIN, PLAIN.policies[1], (1, 0))
    assert found["suppressed_records"] == (singles if is_within_limit else 0)
    assert found["k"] == (100 - singles if is_within_limit else 1)


def test_an_empty_table_has_privacy_of_nobody_for_every_effort(warehouse: Warehouse) -> None:
    hierarchies = (
        IntervalHierarchy((0.0, 1.0), (("leaf",), ("group",), ("*",))),
        CategoricalHierarchy(("Ulm",), (("city",), ("country",), ("*",))),
    )
    warehouse.load_world(PLAIN, World(hierarchies, ()))
    found = privacy_rows(warehouse, PLAIN, PLAIN.policies[0])
    assert [row["effort"] for row in found] == list(range(len(PLAIN.efforts)))
    assert {
        (row["k"], row["records"], row["highest_risk"], row["average_risk"]) for row in found
    } == {(None, 0, None, None)}
