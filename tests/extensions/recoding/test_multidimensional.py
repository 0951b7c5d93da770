"""Mondrian, against a plain recount and against what it promises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.extensions.recoding.mondrian import mondrian
from dbt_anonymize.extensions.recoding.records import Records
from tests.extensions.recoding.compilation import CASES, LEVELS, Case
from tests.extensions.recoding.oracle import Cell, Mondrian, Record, World, keeps
from tests.extensions.recoding.world import PROPERTY, Warehouse, plain, worlds
from tests.oracle.generalization import CategoricalHierarchy, IntervalHierarchy

pytestmark = pytest.mark.sampled_tests(2)

BY_NAME = {case.name: case for case in CASES}
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))
Shown = Mapping[int, tuple[Cell, ...]]


def without_text(cell: Cell) -> Cell:
    """Leave out the label of an interval between two levels, which has no one right form."""
    return cell if cell.level is not None else replace(cell, label="")


def classes(shown: Shown) -> list[list[int]]:
    """Return the records that look the same."""
    found = defaultdict(list)
    for key, cells in shown.items():
        found[tuple(cell.label for cell in cells)].append(key)
    return list(found.values())


@each_case
@given(data=st.data())
@PROPERTY
def test_it_equals_a_plain_recount(data: st.DataObject, case: Case, warehouse: Warehouse) -> None:
    world = data.draw(worlds(case))
    warehouse.load(case, world)
    found = warehouse.recode(case)
    expected = Mondrian(world, case).cells()
    for key, cells in expected.items():
        assert tuple(map(without_text, found[key])) == tuple(
            replace(cell, share=pytest.approx(cell.share)) for cell in cells
        )
    assert found.keys() == expected.keys()
    check_promises(world, case, found)


def check_promises(world: World, case: Case, shown: Shown) -> None:
    """Check what holds for every recoding, however it is cut."""
    everybody = list(range(len(world.records)))
    if everybody and keeps(world, case, everybody):
        assert all(keeps(world, case, members) for members in classes(shown))
    for key, cells in shown.items():
        for value, hierarchy, cell in zip(
            world.records[key].quasi_identifiers, world.hierarchies, cells, strict=True
        ):
            assert cell.label != "*" or (cell.share, cell.level) == (1, LEVELS)
            if value is None:
                assert (cell.label, cell.level) == ("*", LEVELS)
            elif isinstance(hierarchy, IntervalHierarchy):
                assert cell.lower in hierarchy.breaks
                assert cell.upper in hierarchy.breaks
                assert plain(cell.lower) <= plain(value) < plain(cell.upper)
            elif isinstance(hierarchy, CategoricalHierarchy):
                column = hierarchy.values if cell.level == 0 else hierarchy.labels[cell.level - 1]
                assert column[hierarchy.leaf(value)] == cell.label
    for position in range(len(case.quasi_identifiers)):
        texts = {(c[position].label, c[position].lower, c[position].upper) for c in shown.values()}
        if case.quasi_identifiers[position].kind == "interval" and case.name != "hostile":
            by_bounds = {(lower, upper) for label, lower, upper in texts}
            assert len(by_bounds) == len(texts), "one interval has two labels"


@given(data=st.data())
@PROPERTY
def test_strict_intervals_are_disjoint_boxes(data: st.DataObject, warehouse: Warehouse) -> None:
    case = BY_NAME["plane"]
    warehouse.load(case, data.draw(worlds(case, has_nulls=False)))
    boxes = {tuple((c.lower, c.upper) for c in cells) for cells in warehouse.recode(case).values()}
    for one in boxes:
        for other in boxes - {one}:
            assert any(
                a_upper <= b_lower or b_upper <= a_lower
                for (a_lower, a_upper), (b_lower, b_upper) in zip(one, other, strict=True)
            )


@pytest.mark.parametrize("case", [c for c in CASES if c.strict], ids=lambda case: str(case.name))
@given(data=st.data())
@PROPERTY
def test_strict_cuts_never_part_equal_values(
    data: st.DataObject, case: Case, warehouse: Warehouse
) -> None:
    world = data.draw(worlds(case))
    warehouse.load(case, world)
    shown = warehouse.recode(case)
    labels = defaultdict(set)
    for key, cells in shown.items():
        labels[world.records[key].quasi_identifiers].add(cells)
    assert all(len(found) == 1 for found in labels.values())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["stronger", "relaxed", "measured", "hostile"])
@given(data=st.data())
@PROPERTY
def test_neither_the_order_of_rows_nor_threads_count(
    data: st.DataObject, name: str, warehouse: Warehouse
) -> None:
    case = BY_NAME[name]
    world = data.draw(worlds(case))
    found = []
    for order, threads in ((1, 1), (2, 4)):
        warehouse.connection.execute(f"set threads = {threads}")
        warehouse.load(case, world, order=order)
        found.append(warehouse.recode(case))
    warehouse.connection.execute("set threads = 1")
    assert found[0] == found[1]


def people(*values: tuple[object, ...], times: int = 1) -> tuple[Record, ...]:
    """Return records with these quasi-identifiers."""
    return tuple(
        Record(value, "ab"[number % 2], number)  # type: ignore[arg-type]
        for number, value in enumerate(value for value in values for _ in range(times))
    )


TENS = IntervalHierarchy(
    (0.0, 10.0, 20.0, 30.0, 40.0),
    (
        ("[0, 10)", "[10, 20)", "[20, 30)", "[30, 40)"),
        ("young", "young", "old", "old"),
        ("*", "*", "*", "*"),
    ),
)
PLACES = CategoricalHierarchy(
    ("Köln", "Bonn", "Rome", "Pisa"),
    (("Köln", "Bonn", "Rome", "Pisa"), ("DE", "DE", "IT", "IT"), ("*", "*", "*", "*")),
)


def recoded(
    warehouse: Warehouse,
    case: Case,
    records: tuple[Record, ...],
    numbers: IntervalHierarchy = TENS,
) -> list[tuple[Cell, ...]]:
    """Return what is shown of records, in their order."""
    warehouse.load(case, World((numbers, PLACES), records))
    shown = warehouse.recode(case)
    return [shown[key] for key in range(len(records))]


def test_one_rare_place_does_not_stop_a_cut(warehouse: Warehouse) -> None:
    records = people(*[(5.0, "Köln")] * 4, *[(5.0, "Bonn")] * 3, (5.0, "Rome"), (5.0, "Pisa"))
    shown = recoded(warehouse, BY_NAME["counted"], records)
    assert [(c[1].label, c[1].level, c[1].share) for c in shown] == [
        *[("Köln", 0, 0.25)] * 4,
        *[("Bonn", 0, 0.25)] * 3,
        *[("IT", 2, 0.5)] * 2,
    ]
    # A single Pisan stays with all Germans, since nobody else is left.
    shown = recoded(warehouse, BY_NAME["counted"], (*records[:7], records[8]))
    assert [c[1].label for c in shown] == ["*"] * 8


def test_intervals_between_levels_are_written_like_their_leaves(warehouse: Warehouse) -> None:
    case = BY_NAME["counted"]
    records = people((5.0, "Köln"), (15.0, "Köln"), (25.0, "Köln"), (35.0, "Köln"), (39.0, "Köln"))
    shown = recoded(warehouse, replace(case, k=None), records)
    assert [(c[0].label, c[0].level, c[0].share) for c in shown] == [
        *[("young", 2, 0.5)] * 2,
        *[("old", 2, 0.5)] * 3,
    ]
    shown = recoded(warehouse, case, people((15.0, "Köln"), (15.0, "Köln"), (25.0, "Köln")))
    assert {(c[0].label, c[0].lower, c[0].upper, c[0].level) for c in shown} == {
        ("[10, 30)", 10.0, 30.0, None)
    }
    assert {c[1] for c in shown} == {Cell("Köln", None, None, 0, 0.25)}


# Leaves, what lies above them, and how the first three and the middle two are written together.
NOTATIONS = [
    ("0|[01, 10)|[10, 20)|[20, 30)", "[00, 10)|[10, 30)", "[0, 20)", "[01, 20)"),
    ("[05, 10)|[10, 20)|[20, 90)|[90, 100)", "[05, 20)|[20, 100)", "[05, 90)", "[10, 90)"),
    ("00-04|05-09|10|11-29", "00-09|10-29", "00-10", "05-10"),
    ("0|01-04|05-09|10-19", "00-04|05-19", "0-09", "01-09"),
    ("4|5|6|7+", "4-5|6+", "4-6", "5-6"),
    (
        "1: [-20, -10)|2: [-10, 0)|3: 0|4: [01, 20)",
        "1-2: [-20, 0)|3-4: [00, 20)",
        "1: [-20, -10) - 3: 0",
        "2: [-10, 0) - 3: 0",
    ),
    (
        "2024-Q1|2024-Q2|2024-Q4|2025-Q1",
        "2024-Q1+|2024-Q4+",
        "2024-Q1 - 2024-Q4",
        "2024-Q2 - 2024-Q4",
    ),
    # These do not sort, whatever is between them.
    ("young|adult|middle|old", "below|above", "[0.0, 30.0)", "[10.0, 30.0)"),
    ("-5|0|5|10", "below|above", "[0.0, 30.0)", "[10.0, 30.0)"),
]


@pytest.mark.parametrize(("leaves", "above", "first", "middle"), NOTATIONS)
def test_labels_between_levels_are_written_and_sort_like_the_leaves(
    warehouse: Warehouse, leaves: str, above: str, first: str, middle: str
) -> None:
    low, high = above.split("|")
    levels = (tuple(leaves.split("|")), (low, low, high, high), ("*",) * 4)
    numbers = IntervalHierarchy((0.0, 10.0, 20.0, 30.0, 40.0), levels)
    labels = {}
    for start, end in ((0, 2), (1, 2), (0, 0), (1, 1), (2, 2), (2, 3), (3, 3), (0, 1)):
        ends = people(*((10.0 * leaf + 5, "Köln") for leaf in (start, end)))
        (cell, _), (other, _) = recoded(warehouse, BY_NAME["counted"], ends, numbers)
        assert cell == other
        labels[cell.lower, cell.upper] = cell.label
    assert (labels[0.0, 30.0], labels[10.0, 30.0]) == (first, middle)
    if list(levels[0]) == sorted(levels[0]):
        ordered = [lower for lower, _ in sorted(labels, key=lambda one: labels[one])]
        assert ordered == sorted(ordered)


def test_nulls_are_cut_off_first_and_their_own(warehouse: Warehouse) -> None:
    records = people((None, "Köln"), (None, "Köln"), (5.0, "Köln"), (5.0, "Köln"))
    shown = recoded(warehouse, BY_NAME["counted"], records)
    assert [(c[0].label, c[0].lower, c[0].upper) for c in shown] == [
        *[("*", 0.0, 40.0)] * 2,
        *[("[0, 10)", 0.0, 10.0)] * 2,
    ]
    # A single NULL cannot be: everybody is `*` with it.
    shown = recoded(warehouse, BY_NAME["counted"], records[1:])
    assert {c[0].label for c in shown} == {"*"}


def test_relaxed_cuts_share_out_the_records_in_the_middle(warehouse: Warehouse) -> None:
    records = people(*[(5.0, "Köln")] * 1, *[(15.0, "Köln")] * 6, *[(25.0, "Köln")] * 1)
    strict = recoded(warehouse, BY_NAME["counted"], records)
    assert {c[0].label for c in strict} == {"[0, 30)"}
    relaxed = recoded(warehouse, BY_NAME["relaxed"], records)
    labels = ["young"] * 2 + ["[10, 20)"] * 4 + ["[10, 30)"] * 2
    assert [c[0].label for c in relaxed] == labels


def test_sides_of_billions_of_records_are_cut(warehouse: Warehouse) -> None:
    case = BY_NAME["counted"]
    warehouse.load(case, World((TENS, PLACES), people((5.0, "Köln"), (15.0, "Köln"))))
    records = Records.read(warehouse.source(case))
    counts = records.table.records * 2**33
    assert mondrian(records.leaves, records.codes, counts, 2).tolist() == [0, 1]


def test_an_empty_or_too_small_table_is_one_part(warehouse: Warehouse) -> None:
    assert recoded(warehouse, BY_NAME["counted"], ()) == []
    (shown,) = recoded(warehouse, BY_NAME["counted"], people((5.0, "Köln")))
    assert [c.label for c in shown] == ["[0, 10)", "Köln"]
