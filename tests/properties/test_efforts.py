"""Microdata and efforts against a recount, for random tables and random hierarchies."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from datetime import date

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import generalization as recount
from tests.oracle.generalization import IntervalHierarchy, World
from tests.properties.batch import Batch
from tests.properties.compilation import Policy, Shape
from tests.properties.warehouse import Row, Warehouse
from tests.sampling import examples
from tests.worlds.hierarchies import (
    EACH_SHAPE,
    PLAIN,
    PROPERTY,
    SHAPES,
    in_batches,
    levels_of,
    worlds,
)

each_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)


def effort_rows(
    warehouse: Warehouse, shape: Shape, levels: tuple[int, ...], policy: Policy | None = None
) -> list[Row]:
    policy = policy or shape.policies[0]
    warehouse.build(shape.classes_model(policy, levels), shape.classes)
    return warehouse.records(shape, shape.effort_model(levels))


def load_each(warehouse: Warehouse, shape: Shape, tables: list[World]) -> Batch:
    batch = Batch(warehouse)
    for world in tables:
        batch.begin()
        batch.load_source(shape, world)
    batch.build_frequencies(shape)
    return batch


def rows_of_each(
    batch: Batch, shape: Shape, levels: tuple[int, ...], policy: Policy | None = None
) -> list[list[Row]]:
    """Return the rows of an effort for each table, in the order of the record key."""
    batch.build(shape.classes_model(policy or shape.policies[0], levels), shape.classes)
    every = batch.rows_of_each(shape.effort_model(levels))
    return [sorted(rows, key=lambda row: int(row[shape.record_key])) for rows in every]


# Properties that compare several tables or efforts: ten times, with this many tables.
COMPARED = examples(PROPERTY, 10)
TOGETHER = 5


def label_columns(shape: Shape) -> list[str]:
    return [
        name
        for q in shape.quasi_identifiers
        for name in (
            [q.name, f"{q.name}_lower", f"{q.name}_upper"] if q.kind == "interval" else [q.name]
        )
    ]


def labels(shape: Shape, rows: list[Row]) -> list[tuple[str, ...]]:
    return [tuple(row[q.name] for q in shape.quasi_identifiers) for row in rows]


@each_shape
@EACH_SHAPE
@given(data=st.data())
def test_microdata_keep_every_record_once_with_the_leaf_of_its_values(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    world = data.draw(worlds(shape))
    warehouse.load_world(shape, world)
    expected = []
    for key, record in enumerate(world.records):
        row: Row = {shape.record_key: key}
        for q, hierarchy, value in zip(
            shape.quasi_identifiers, world.hierarchies, record.quasi_identifiers, strict=True
        ):
            row[q.name] = value
            row[f"{q.name}_leaf"] = None if value is None else hierarchy.leaf_name(value)
        expected.append({**row, shape.sensitive: record.sensitive, shape.target: record.target})
    found = warehouse.records(shape, f"{shape.name}_microdata")
    assert found == expected
    assert not found or list(found[0]) == list(expected[0])


@each_shape
@EACH_SHAPE
@given(data=st.data())
def test_frequencies_count_every_record_once_and_null_as_a_value(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    world = data.draw(worlds(shape))
    warehouse.load_world(shape, world)
    columns = [*(q.name for q in shape.quasi_identifiers), shape.sensitive, shape.target]
    found = warehouse.rows(f"{shape.name}_frequencies")
    counted = [(tuple(row[c] for c in columns), row["records"]) for row in found]
    expected = Counter((*r.quasi_identifiers, r.sensitive, r.target) for r in world.records)
    assert len(counted) == len(expected)
    assert dict(counted) == dict(expected)


@each_shape
@EACH_SHAPE
@given(data=st.data())
def test_an_effort_shows_every_record_once_and_keeps_its_other_columns(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    world, levels = data.draw(worlds(shape, min_size=1)), data.draw(levels_of(shape))
    warehouse.load_world(shape, world)
    rows = effort_rows(warehouse, shape, levels)
    assert list(rows[0]) == [
        shape.record_key,
        *label_columns(shape),
        *shape.kept,
        "equivalence_class",
        "class_size",
        "is_suppressed",
    ]
    assert [(r[shape.record_key], r[shape.sensitive], r[shape.target]) for r in rows] == [
        (key, record.sensitive, record.target) for key, record in enumerate(world.records)
    ]


@each_shape
@EACH_SHAPE
@given(data=st.data())
def test_every_generalized_value_is_the_image_of_its_source_value(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    world, levels = data.draw(worlds(shape)), data.draw(levels_of(shape))
    warehouse.load_world(shape, world)
    for row, record in zip(effort_rows(warehouse, shape, levels), world.records, strict=True):
        for q, hierarchy, level, value in zip(
            shape.quasi_identifiers,
            world.hierarchies,
            levels,
            record.quasi_identifiers,
            strict=True,
        ):
            label = row[q.name]
            if level == 0 and value is not None:
                # A raw value is shown as a text that reads back as the value.
                if q.sql_type == "double":
                    label = float(label)
                elif q.sql_type == "date":
                    label = date.fromisoformat(label)
            assert label == recount.generalize(hierarchy, level, value)
            if isinstance(hierarchy, IntervalHierarchy):
                lower, upper = row[f"{q.name}_lower"], row[f"{q.name}_upper"]
                assert (lower, upper) == recount.bounds(hierarchy, level, value)
                assert value is None or lower <= value
                assert value is None or (value < upper or level == 0)


@each_shape
@examples(PROPERTY, 14)
@given(data=st.data())
def test_class_sizes_and_suppression_equal_a_recount(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    tables, levels = data.draw(in_batches(worlds(shape), 20)), data.draw(levels_of(shape))
    policy = data.draw(st.sampled_from(shape.policies))
    every = rows_of_each(load_each(warehouse, shape, tables), shape, levels, policy)
    for rows, world in zip(every, tables, strict=True):
        sizes = recount.class_sizes(world, levels)
        k = policy.k if any(levels) else None
        assert [row["class_size"] for row in rows] == sizes
        assert [row["is_suppressed"] for row in rows] == recount.suppressed(sizes, k, policy.limit)


@each_shape
@EACH_SHAPE
@given(data=st.data())
def test_two_records_share_an_equivalence_class_exactly_if_they_look_alike(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    world, levels = data.draw(worlds(shape)), data.draw(levels_of(shape))
    warehouse.load_world(shape, world)
    rows = effort_rows(warehouse, shape, levels)
    pairs = {
        (row["equivalence_class"], seen)
        for row, seen in zip(rows, recount.generalized(world, levels), strict=True)
    }
    assert len(pairs) == len({text for text, _ in pairs}) == len({seen for _, seen in pairs})


@COMPARED
@given(tables=in_batches(worlds(PLAIN), TOGETHER))
def test_equivalence_classes_of_different_labels_never_share_a_text(
    warehouse: Warehouse, tables: list[World]
) -> None:
    """Labels of several efforts and tables at once: the join itself is injective."""
    texts: dict[str, tuple[str, ...]] = {}
    batch = load_each(warehouse, PLAIN, tables)
    for levels in ((1, 1), (2, 1), (1, 0)):
        for rows in rows_of_each(batch, PLAIN, levels):
            for row, shown in zip(rows, labels(PLAIN, rows), strict=True):
                assert texts.setdefault(row["equivalence_class"], shown) == shown


@each_shape
@COMPARED
@given(data=st.data())
def test_a_coarser_effort_merges_whole_classes_so_that_k_is_not_smaller(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    tables = data.draw(in_batches(worlds(shape, min_size=1), TOGETHER))
    one, other = data.draw(levels_of(shape)), data.draw(levels_of(shape))
    finer = tuple(map(min, one, other))
    batch = load_each(warehouse, shape, tables)
    every = zip(rows_of_each(batch, shape, finer), rows_of_each(batch, shape, one), strict=True)
    for fine, coarse in every:
        assert min(r["class_size"] for r in coarse) >= min(r["class_size"] for r in fine)
        parents = {
            (f["equivalence_class"], c["equivalence_class"])
            for f, c in zip(fine, coarse, strict=True)
        }
        assert len(parents) == len({child for child, _ in parents})


@each_shape
@COMPARED
@given(data=st.data(), order=st.randoms(use_true_random=False))
def test_permuting_the_records_changes_nothing(
    warehouse: Warehouse, shape: Shape, data: st.DataObject, order: random.Random
) -> None:
    tables, levels = data.draw(in_batches(worlds(shape), TOGETHER)), data.draw(levels_of(shape))
    orders = [order.sample(range(len(w.records)), len(w.records)) for w in tables]
    permuted = [
        replace(world, records=tuple(world.records[p] for p in positions))
        for world, positions in zip(tables, orders, strict=True)
    ]
    batch = load_each(warehouse, shape, [*tables, *permuted])
    every = rows_of_each(batch, shape, levels, shape.policies[-1])
    for before, after, positions in zip(every[:TOGETHER], every[TOGETHER:], orders, strict=True):
        assert [{**row, shape.record_key: positions[row[shape.record_key]]} for row in after] == [
            before[p] for p in positions
        ]


@each_shape
@COMPARED
@given(data=st.data())
def test_duplicating_the_table_doubles_every_class_size(
    warehouse: Warehouse, shape: Shape, data: st.DataObject
) -> None:
    tables, levels = data.draw(in_batches(worlds(shape), TOGETHER)), data.draw(levels_of(shape))
    doubled = [replace(world, records=world.records * 2) for world in tables]
    every = rows_of_each(load_each(warehouse, shape, [*tables, *doubled]), shape, levels)
    for single, double in zip(every[:TOGETHER], every[TOGETHER:], strict=True):
        twice = single * 2
        assert [row["class_size"] for row in double] == [2 * row["class_size"] for row in twice]
        assert labels(shape, double) == labels(shape, twice)


ONE_LEAF = World(
    (
        recount.IntervalHierarchy((0.0, 1.0), (("leaf",), ("group",), ("*",))),
        recount.CategoricalHierarchy(("Ulm",), (("city",), ("country",), ("*",))),
    ),
    (),
)


@pytest.mark.parametrize(("nulls", "people"), [(1, 3), (3, 1), (2, 2)])
def test_null_is_a_value_of_its_own_below_the_root_and_one_of_all_at_the_root(
    warehouse: Warehouse, nulls: int, people: int
) -> None:
    missing = recount.Record((None, None), None, "no")
    known = recount.Record((0.5, "Ulm"), "a", "yes")
    warehouse.load_world(PLAIN, replace(ONE_LEAF, records=(missing,) * nulls + (known,) * people))
    for levels in PLAIN.efforts:
        rows = effort_rows(warehouse, PLAIN, levels)
        for row in rows[:nulls]:
            assert (row["age"], row["age_lower"], row["age_upper"], row["city"]) == (
                "*",
                0.0,
                1.0,
                "*",
            )
        expected = [nulls + people] if levels == (3, 3) else [nulls, people]
        assert sorted({row["class_size"] for row in rows}) == sorted(set(expected))


def test_a_value_that_the_hierarchy_lost_stops_the_effort(warehouse: Warehouse) -> None:
    warehouse.load_world(
        PLAIN, replace(ONE_LEAF, records=(recount.Record((0.5, "Ulm"), "a", "no"),))
    )
    warehouse.build(PLAIN.classes_model(PLAIN.policies[0], (0, 1)), PLAIN.classes)
    lost = recount.CategoricalHierarchy(("Bonn",), (("city",), ("country",), ("*",)))
    warehouse.load_hierarchy(PLAIN.hierarchy(1), lost)
    with pytest.raises(duckdb.Error, match="a value of city is not in the hierarchy"):
        warehouse.rows(PLAIN.effort_model((0, 1)))
