"""Local recoding, against a plain recount."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extensions.recoding.compilation import LOCAL_CASES, Case
from tests.extensions.recoding.oracle import Cell, Leaves, World, keeps
from tests.extensions.recoding.world import PROPERTY, Warehouse, worlds
from tests.oracle.generalization import IntervalHierarchy, bounds, generalize

pytestmark = pytest.mark.sampled_tests(1)

BY_NAME = {case.name: case for case in LOCAL_CASES}
each_case = pytest.mark.parametrize("case", LOCAL_CASES, ids=lambda case: str(case.name))


def recount(world: World, case: Case) -> dict[int, tuple[tuple[str, int], ...]]:
    """Return label and level of every cell by record."""
    shown = {}
    left = list(range(len(world.records)))
    for number, levels in enumerate(case.rounds, start=1):
        classes = defaultdict(list)
        for key in left:
            values = world.records[key].quasi_identifiers
            labels = (
                # DuckDB and Python write dates and numbers alike.
                str(generalize(hierarchy, level, value))
                for hierarchy, level, value in zip(world.hierarchies, levels, values, strict=True)
            )
            classes[tuple(labels)].append(key)
        for labels, members in classes.items():
            if number == len(case.rounds) or keeps(world, case, members):
                cells = tuple(zip(labels, levels, strict=True))
                shown.update(dict.fromkeys(members, cells))
        left = [key for key in left if key not in shown]
    return shown


@each_case
@given(data=st.data())
@PROPERTY
def test_it_equals_a_plain_recount(data: st.DataObject, case: Case, warehouse: Warehouse) -> None:
    world = data.draw(worlds(case))
    warehouse.load(case, world)
    found = warehouse.recode(case)
    expected = recount(world, case)
    assert found.keys() == expected.keys()
    for key, cells in expected.items():
        assert [c.level for c in found[key]] == [level for _, level in cells]
        assert [c.label for c in found[key]] == [label for label, _ in cells]
        for position, (label, level) in enumerate(cells):
            check_cell(world, (key, position), found[key][position], label, level)


def check_cell(world: World, place: tuple[int, int], cell: Cell, label: str, level: int) -> None:
    """Check bounds and share against the hierarchy."""
    key, position = place
    hierarchy = world.hierarchies[position]
    value = world.records[key].quasi_identifiers[position]
    if isinstance(hierarchy, IntervalHierarchy):
        assert (cell.lower, cell.upper) == bounds(hierarchy, level, value)
    if value is None or label == "*":
        assert cell.share == 1
    elif isinstance(hierarchy, IntervalHierarchy) and level == 0:
        assert cell.share == 0
    else:
        leaves = Leaves(hierarchy)
        covered = leaves.covered(level, leaves.number(value) or 0)
        if isinstance(hierarchy, IntervalHierarchy):
            assert cell.share == pytest.approx(leaves.width(covered), abs=1e-12)
        else:
            assert cell.share == pytest.approx(len(covered) / leaves.size)


@each_case
@given(data=st.data())
@PROPERTY
def test_all_classes_but_those_of_the_last_round_keep_the_guarantees(
    data: st.DataObject, case: Case, warehouse: Warehouse
) -> None:
    world = data.draw(worlds(case))
    warehouse.load(case, world, order=1)
    shown = warehouse.recode(case)
    classes = defaultdict(list)
    for key, cells in shown.items():
        classes[tuple(c.label for c in cells)].append(key)
    for members in classes.values():
        levels = {tuple(c.level for c in shown[key]) for key in members}
        assert keeps(world, case, members) or case.rounds[-1] in levels
    warehouse.load(case, world, order=2)
    assert warehouse.recode(case) == shown
