"""Released values of given groups, against plain Python."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.extensions.recoding.grouping import groups_of
from dbt_anonymize.extensions.recoding.records import Records
from tests.extensions.recoding.compilation import GROUPED_CASES, Case
from tests.extensions.recoding.oracle import Cell, World
from tests.extensions.recoding.world import PROPERTY, Warehouse, values_of_rows, worlds
from tests.oracle.generalization import CategoricalHierarchy, IntervalHierarchy
from tests.oracle.grouping import Members, reachable

pytestmark = pytest.mark.sampled_tests(1)


@st.composite
def scattered(draw: st.DrawFn, case: Case) -> World:
    """Draw a world whose numbers lie anywhere in their leaves."""
    world, chance = draw(worlds(case)), random.Random(draw(st.integers(0, 2**32)))

    def moved(value: Any, place: int) -> Any:
        hierarchy = world.hierarchies[place]
        if value is None or not isinstance(hierarchy, IntervalHierarchy):
            return value
        after = hierarchy.breaks[hierarchy.breaks.index(value) + 1]
        return value + (after - value) * chance.choice([0, 0.25, 0.5])

    records = tuple(
        replace(r, quasi_identifiers=tuple(moved(v, i) for i, v in enumerate(r.quasi_identifiers)))
        for r in world.records
    )
    return replace(world, records=records)


def groups_in(warehouse: Warehouse, case: Case, world: World, k: int) -> dict[int, list[int]]:
    """Return the records of each group."""
    source = warehouse.source(case)
    records = Records.read(source, by_value=source.names)
    group_of_row = groups_of(records, "mdav", k)
    groups = dict(zip(values_of_rows(records), group_of_row.tolist(), strict=True))
    members = defaultdict(list)
    for key, record in enumerate(world.records):
        members[groups[record.quasi_identifiers]].append(key)
    return members


def checked_number(world: World, case: Case, keys: list[int], place: int, cell: Cell) -> bool:
    """Check what is released of a number of one group; tell whether it is a mean."""
    hierarchy = world.hierarchies[place]
    assert isinstance(hierarchy, IntervalHierarchy)
    values: list[Any] = [world.records[key].quasi_identifiers[place] for key in keys]
    if None in values:
        assert cell.label == "*"
        return False
    breaks = hierarchy.breaks
    lower = max(b for b in breaks if b <= min(values))
    upper = min(b for b in breaks if b > max(values))
    holders = [world.records[k].subject if case.has_subject else k for k in keys]
    if case.numbers == "interval":
        return False
    ends = reachable(values, lower, upper)
    told = Members(values, holders, lower, upper, ends).may_tell_the_mean(10)
    if not told and case.numbers == "mean":
        assert cell.label == "*" or cell.label.startswith("[") or cell.level is not None
        return False
    center = sum(values) / len(values)
    if case.numbers == "median":
        center = sorted(values)[(len(values) - 1) // 2]
    unit = 10.0 ** -max(0, 3 - math.floor(math.log10(breaks[-1] - breaks[0])))
    assert abs(float(cell.label) - center) <= unit / 2 + 1e-6
    assert cell.level is None
    assert cell.lower <= lower
    assert cell.upper >= upper
    return True


def checked_mode(world: World, case: Case, keys: list[int], place: int, cell: Cell) -> None:
    """Check what is released of a category of one group, where it may be the mode."""
    hierarchy = world.hierarchies[place]
    assert isinstance(hierarchy, CategoricalHierarchy)
    values: list[Any] = [world.records[key].quasi_identifiers[place] for key in keys]
    if None in values:
        assert cell.label == "*"
        return
    holders = [world.records[k].subject if case.has_subject else k for k in keys]
    rest = [
        {v for v, h in zip(values, holders, strict=True) if h != holder} for holder in set(holders)
    ]
    above = (hierarchy.values, *hierarchy.labels)
    labels = [{level[hierarchy.leaf(value)] for value in values} for level in above]
    ancestor = next(level for level, shown in enumerate(labels) if len(shown) == 1)
    # The class may have a group of the same label that a higher label covers.
    assert cell.level is not None
    assert cell.level >= ancestor
    if len(set(values)) > 1 and all(len(others) > 1 for others in rest):
        most = max(map(values.count, values))
        assert cell.label in {value for value in values if values.count(value) == most}
    else:
        assert {cell.label} == labels[ancestor]


@pytest.mark.parametrize("case", GROUPED_CASES, ids=lambda case: str(case.name))
@given(data=st.data())
@PROPERTY
def test_a_group_is_released_with_its_mean_or_its_interval(
    data: st.DataObject, case: Case, warehouse: Warehouse
) -> None:
    world = data.draw(scattered(case))
    warehouse.load(case, world)
    k = data.draw(st.sampled_from([2, 4]))
    groups = groups_in(warehouse, case, world, k)
    shown = warehouse.recode(case, k=k)
    assert shown.keys() == set(range(len(world.records)))
    bounds = defaultdict(set)
    for keys in groups.values():
        (cells,) = {shown[key] for key in keys}
        # A label of a category may be that of another level, too.
        ends = tuple((cell.lower, cell.upper) for cell in cells)
        bounds[tuple(cell.label for cell in cells)].add(ends)
        for place, (quasi, cell) in enumerate(zip(case.quasi_identifiers, cells, strict=True)):
            values = [world.records[key].quasi_identifiers[place] for key in keys]
            if quasi.kind == "interval":
                checked_number(world, case, keys, place, cell)
                breaks = world.hierarchies[place].breaks  # type: ignore[union-attr]
                width = (cell.upper - cell.lower) / (breaks[-1] - breaks[0])  # type: ignore[operator]
                assert cell.share == pytest.approx(1 if cell.label == "*" else width)
            elif case.categories == "mode":
                checked_mode(world, case, keys, place, cell)
            elif len(set(values)) == 1 and values[0] is not None:
                assert (cell.label, cell.level) == (values[0], 0)
    assert [of_class for of_class in bounds.values() if len(of_class) > 1] == []
