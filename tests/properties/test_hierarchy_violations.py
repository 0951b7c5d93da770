"""Rules of hierarchies: silent for well-formed ones, and each kind of damage is named."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.generalization import Hierarchy
from tests.properties.statements import HIERARCHY_LEVELS
from tests.properties.warehouse import Row, Warehouse
from tests.worlds.hierarchies import (
    COSTLY,
    DAMAGE,
    EACH_SHAPE,
    categorical_hierarchies,
    interval_hierarchies,
)

Rows = list[list[Any]]

INTERVALS = interval_hierarchies(levels=HIERARCHY_LEVELS, min_leaves=3)
CATEGORIES = categorical_hierarchies(levels=HIERARCHY_LEVELS, min_leaves=3)


def violations(warehouse: Warehouse, kind: str, rows: Rows, *, nested: bool = True) -> list[Row]:
    leaf = (
        {"lower_bound": "double", "upper_bound": "double"}
        if kind == "interval"
        else {"value": "varchar"}
    )
    columns = leaf | {f"level_{level}": "varchar" for level in range(1, HIERARCHY_LEVELS + 1)}
    warehouse.load(f"{kind}_hierarchy", columns, rows)
    return warehouse.rows(f"{kind}_violations_{'nested' if nested else 'loose'}")


def rules(found: list[Row]) -> set[tuple[str, int | None]]:
    assert all(row["violations"] > 0 for row in found)
    return {(row["rule"], row["level"]) for row in found}


@pytest.mark.parametrize("nested", [True, False])
@EACH_SHAPE
@given(
    hierarchy=interval_hierarchies(levels=HIERARCHY_LEVELS), order=st.randoms(use_true_random=False)
)
def test_well_formed_intervals_break_no_rule(
    warehouse: Warehouse, *, nested: bool, hierarchy: Hierarchy, order: Any
) -> None:
    rows = [list(row) for row in hierarchy.rows]
    order.shuffle(rows)
    assert violations(warehouse, "interval", rows, nested=nested) == []


@pytest.mark.parametrize("nested", [True, False])
@EACH_SHAPE
@given(hierarchy=categorical_hierarchies(levels=HIERARCHY_LEVELS))
def test_well_formed_categories_break_no_rule(
    warehouse: Warehouse, *, nested: bool, hierarchy: Hierarchy
) -> None:
    rows = [list(row) for row in hierarchy.rows]
    assert violations(warehouse, "categorical", rows, nested=nested) == []


# Columns of an interval hierarchy: lower, upper, level_1 .. level_4. There are three rows or more.
def gap(rows: Rows) -> None:
    del rows[1]


def overlap(rows: Rows) -> None:
    rows[0][1] = (rows[1][0] + rows[1][1]) / 2


def nested_overlap(rows: Rows) -> None:
    rows[0][1] = rows[2][1] + 1


def duplicate_interval(rows: Rows) -> None:
    rows.append([*rows[1][:2], "another label", *rows[1][3:]])


def duplicate_leaf_label(rows: Rows) -> None:
    rows[1][2] = rows[0][2]


def two_parents(rows: Rows) -> None:
    for row, parent in zip(rows, ("one", "other", "other"), strict=False):
        row[-4:-1] = [f"leaf {row[0]}", "child", parent]


def scattered_label(rows: Rows) -> None:
    for row, label in zip(rows, ("outside", "inside", "outside"), strict=False):
        row[-2] = label


def root_too_low(rows: Rows) -> None:
    rows[0][-2] = "*"


def root_that_is_left_again(rows: Rows) -> None:
    """One class with NULL at level 1, and parted from it at level 2, so that k may fall."""
    for row in rows:
        row[-4] = row[0]
    rows[0][-4:] = ["*", "somebody", "somebody", "*"]


def missing_root(rows: Rows) -> None:
    rows[1][-1] = "everybody"


def no_root(rows: Rows) -> None:
    rows[1][-1] = None


def empty_label(rows: Rows) -> None:
    rows[2][-3] = ""


def null_label(rows: Rows) -> None:
    rows[2][-3] = None


def bound(position: int, value: float | None) -> Callable[[Rows], None]:
    def change(rows: Rows) -> None:
        rows[0 if position == 0 else -1][position] = value

    change.__name__ = f"{('lower', 'upper')[position]}_bound_{value}"
    return change


def reversed_bounds(rows: Rows) -> None:
    rows[1][:2] = rows[1][1::-1]


def no_width(rows: Rows) -> None:
    rows[0][0] = rows[0][1]


def no_rows(rows: Rows) -> None:
    rows.clear()


PARENT = "a label has one parent (declare nested: false to relax it)"
BOUNDS = "bounds are finite and lower_bound < upper_bound"
TOP = ("the top level is the root *", 4)
EMPTY = ("labels are not empty", 2)
ROOT_ONLY_AT_THE_TOP = ("the root label * stands at the top level only", 3)

INTERVAL_DAMAGE: list[tuple[Callable[[Rows], None], tuple[str, int | None]]] = [
    (gap, ("intervals have no gap between them", None)),
    (overlap, ("intervals do not overlap", None)),
    (nested_overlap, ("intervals do not overlap", None)),
    (duplicate_interval, ("intervals do not overlap", None)),
    (duplicate_leaf_label, ("labels of level 1 are unique", 1)),
    (two_parents, (PARENT, 2)),
    (scattered_label, ("labels cover neighbouring intervals", 3)),
    (root_too_low, ROOT_ONLY_AT_THE_TOP),
    (missing_root, TOP),
    (no_root, TOP),
    (empty_label, EMPTY),
    (null_label, EMPTY),
    *((bound(0, value), (BOUNDS, None)) for value in (math.nan, -math.inf, None)),
    *((bound(1, value), (BOUNDS, None)) for value in (math.nan, math.inf, None)),
    (reversed_bounds, (BOUNDS, None)),
    (no_width, (BOUNDS, None)),
    (no_rows, ("it has at least one interval", None)),
]


@pytest.mark.parametrize(
    ("damage", "rule"), INTERVAL_DAMAGE, ids=lambda value: getattr(value, "__name__", "")
)
@DAMAGE
@given(hierarchy=INTERVALS)
def test_damaged_intervals_break_the_rule(
    warehouse: Warehouse,
    damage: Callable[[Rows], None],
    rule: tuple[str, int | None],
    hierarchy: Hierarchy,
) -> None:
    rows = [list(row) for row in hierarchy.rows]
    damage(rows)
    assert rule in rules(violations(warehouse, "interval", rows))


def duplicate_value(rows: Rows) -> None:
    rows.append(list(rows[0]))


def null_value(rows: Rows) -> None:
    rows[0][0] = None


def root_as_value(rows: Rows) -> None:
    rows[0][0] = "*"


CATEGORICAL_DAMAGE: list[tuple[Callable[[Rows], None], tuple[str, int | None]]] = [
    (duplicate_value, ("values are unique", None)),
    (null_value, ("values are not NULL (NULL generalizes to * by itself)", None)),
    (root_as_value, ("the root label * is not a value", None)),
    (two_parents, (PARENT, 2)),
    (root_that_is_left_again, ("the label * stays * at every higher level", 1)),
    (missing_root, TOP),
    (no_root, TOP),
    (empty_label, EMPTY),
    (null_label, EMPTY),
    (no_rows, ("it has at least one value", None)),
]


@pytest.mark.parametrize(
    ("damage", "rule"), CATEGORICAL_DAMAGE, ids=lambda value: getattr(value, "__name__", "")
)
@DAMAGE
@given(hierarchy=CATEGORIES)
def test_damaged_categories_break_the_rule(
    warehouse: Warehouse,
    damage: Callable[[Rows], None],
    rule: tuple[str, int | None],
    hierarchy: Hierarchy,
) -> None:
    rows = [list(row) for row in hierarchy.rows]
    damage(rows)
    assert rule in rules(violations(warehouse, "categorical", rows))


@pytest.mark.parametrize("kind", ["interval", "categorical"])
@COSTLY
@given(data=st.data())
def test_two_parents_are_allowed_where_levels_are_not_nested(
    warehouse: Warehouse, kind: str, data: st.DataObject
) -> None:
    hierarchy: Hierarchy = data.draw(INTERVALS if kind == "interval" else CATEGORIES)
    rows = [list(row) for row in hierarchy.rows][:3]
    two_parents(rows)
    assert rules(violations(warehouse, kind, rows)) == {(PARENT, 2)}
    assert violations(warehouse, kind, rows, nested=False) == []
