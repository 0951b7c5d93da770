"""Our k against pycanon's, on the tables that pycanon was asked about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.generalization import (
    CategoricalHierarchy,
    Hierarchy,
    IntervalHierarchy,
    Record,
    Value,
    World,
)
from tests.properties.compilation import Shape
from tests.properties.compiled_once import ORACLE_SHAPES
from tests.properties.warehouse import Warehouse

TABLES: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("pycanon_expectations.json").read_text(encoding="utf-8")
)


def hierarchy(kind: str, rows: list[list[Any]]) -> Hierarchy:
    columns = list(zip(*rows, strict=True))
    if kind == "interval":
        return IntervalHierarchy((*columns[0], columns[1][-1]), tuple(columns[2:]))
    return CategoricalHierarchy(columns[0], tuple(columns[1:]))


def load(
    warehouse: Warehouse, table: dict[str, Any], records: Sequence[Sequence[Value | None]]
) -> Shape:
    kinds = tuple(table["kinds"])
    shape = ORACLE_SHAPES[kinds]
    hierarchies = tuple(map(hierarchy, kinds, table["hierarchies"]))
    people = tuple(Record(tuple(record), None, "no") for record in records)
    warehouse.load_world(shape, World(hierarchies, people))
    return shape


def k_by_levels(warehouse: Warehouse, shape: Shape) -> dict[tuple[int, ...], int | None]:
    warehouse.build(shape.classes_model(shape.policies[0]), shape.classes)
    rows = warehouse.rows(f"{shape.name}_none_privacy")
    return {shape.efforts[row["effort"]]: row["k"] for row in rows}


@pytest.mark.parametrize("table", TABLES, ids=range(len(TABLES)))
def test_k_equals_pycanons_k(warehouse: Warehouse, table: dict[str, Any]) -> None:
    shape = load(warehouse, table, table["records"])
    expected = {tuple(answer["levels"]): answer["k"] for answer in table["k"]}
    assert k_by_levels(warehouse, shape) == expected
    for levels, k in expected.items():
        rows = warehouse.rows(shape.effort_model(levels))
        assert min(row["class_size"] for row in rows) == k


def test_pycanon_was_asked_about_tables_of_every_shape_and_answered_more_than_one() -> None:
    assert {tuple(table["kinds"]) for table in TABLES} == set(ORACLE_SHAPES)
    assert len(TABLES) >= 40
    below_the_root = [a["k"] for t in TABLES for a in t["k"] if set(a["levels"]) != {3}]
    assert sum(k > 1 for k in below_the_root) > len(TABLES)


def test_null_is_counted_as_a_value_where_pycanon_drops_the_record(warehouse: Warehouse) -> None:
    """By hand: NULL stands alone until the root merges all four; pycanon reports k = 3."""
    table = {
        "kinds": ["interval"],
        "hierarchies": [[[0.0, 1.0, "[0, 1)", "low", "*"], [1.0, 2.0, "[1, 2)", "high", "*"]]],
    }
    shape = load(warehouse, table, [(0.5,), (None,), (0.5,), (0.5,)])
    assert k_by_levels(warehouse, shape) == {(0,): 1, (1,): 1, (2,): 1, (3,): 4}


def test_several_nulls_are_one_class(warehouse: Warehouse) -> None:
    """By hand: two have no city, two live in Ulm, three in Bonn; the root merges all seven."""
    table = {
        "kinds": ["categorical", "interval"],
        "hierarchies": [
            [["Ulm", "south", "country", "*"], ["Bonn", "west", "country", "*"]],
            [[0.0, 10.0, "[0, 10)", "[0, 20)", "*"], [10.0, 20.0, "[10, 20)", "[0, 20)", "*"]],
        ],
    }
    records = [("Ulm", 5.0)] * 2 + [("Bonn", 15.0)] * 3 + [(None, 15.0)] * 2
    shape = load(warehouse, table, records)
    assert k_by_levels(warehouse, shape) == {
        (0, 0): 2,
        (1, 1): 2,
        (2, 2): 2,
        (3, 3): 7,
        (1, 2): 2,
        (2, 0): 2,
    }
    rows = warehouse.records(shape, shape.effort_model((2, 2)))
    assert [row["class_size"] for row in rows] == [5, 5, 5, 5, 5, 2, 2]
