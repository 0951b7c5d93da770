"""Cell suppression, against a plain recount and against what it promises."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.extensions.recoding.compilation import CELL_CASES, LEVELS, Case
from tests.extensions.recoding.oracle import World, keeps, suppressed_cells
from tests.extensions.recoding.world import PROPERTY, Warehouse, worlds
from tests.oracle.generalization import IntervalHierarchy, bounds, generalize
from tests.sampling import examples

pytestmark = pytest.mark.sampled_tests(1)

each_case = pytest.mark.parametrize("case", CELL_CASES, ids=lambda case: str(case.name))


def labels(world: World, case: Case) -> list[list[str]]:
    """Return the labels of every record at the base levels."""
    return [
        [
            str(generalize(hierarchy, level, value))
            for hierarchy, level, value in zip(
                world.hierarchies, case.levels, record.quasi_identifiers, strict=True
            )
        ]
        for record in world.records
    ]


@each_case
@given(data=st.data())
@examples(PROPERTY, 30, 6)
def test_it_equals_a_plain_recount(data: st.DataObject, case: Case, warehouse: Warehouse) -> None:
    world = data.draw(worlds(case))
    warehouse.load(case, world)
    found = warehouse.recode(case)
    base = labels(world, case)
    expected = suppressed_cells(world, case, base)
    assert {key: tuple(c.label for c in cells) for key, cells in found.items()} == dict(
        enumerate(expected)
    )
    for key, cells in found.items():
        for place, (cell, hierarchy) in enumerate(zip(cells, world.hierarchies, strict=True)):
            level = LEVELS if cell.label == "*" else case.levels[place]
            assert cell.level == level
            assert cell.share == 1 if cell.label == "*" else cell.share < 1 or level > 0
            if isinstance(hierarchy, IntervalHierarchy):
                value = world.records[key].quasi_identifiers[place]
                assert (cell.lower, cell.upper) == bounds(hierarchy, level, value)


@each_case
@given(data=st.data())
@PROPERTY
def test_every_class_but_that_of_stars_keeps_the_guarantees_and_order_does_not_count(
    data: st.DataObject, case: Case, warehouse: Warehouse
) -> None:
    world = data.draw(worlds(case))
    warehouse.load(case, world, order=1)
    shown = warehouse.recode(case)
    classes = defaultdict(list)
    for key, cells in shown.items():
        classes[tuple(c.label for c in cells)].append(key)
        base = labels(world, case)[key]
        assert all(c.label in {b, "*"} for c, b in zip(cells, base, strict=True))
    for cells_of_class, members in classes.items():
        assert set(cells_of_class) == {"*"} or keeps(world, case, members)
    warehouse.load(case, world, order=2)
    assert warehouse.recode(case) == shown
