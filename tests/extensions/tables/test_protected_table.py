"""The dbt test of a table of counts, against rules that are read line by line."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from tests.extensions.tables.compiled import DIMENSIONS, MINIMUM
from tests.properties.warehouse import Warehouse

Cell = tuple[str | None, ...]
Table = dict[Cell, int | None]
SMALL = "a shown cell is above 0 and below the minimum frequency"
NEGATIVE = "a count is negative"
TWICE = "a cell stands there more than once"
TOLD = "one hidden cell of a line is told by the total and the others"
LEFT_OUT = "a line does not add up, and has no cell with NULL"
FEW = "no hidden cell of a line can reach the minimum frequency"


def broken(warehouse: Warehouse, model: str, rows: list[tuple[object, ...]]) -> Counter[object]:
    names = ["ward", "age"][: len(rows[0]) - 1]
    warehouse.load("shown_table", {**dict.fromkeys(names, "varchar"), "people": "bigint"}, rows)
    return Counter({(r["rule"], r["dimension"]): r["cells"] for r in warehouse.rows(model)})


def rows_of(table: Table, total: str | None = None) -> list[tuple[object, ...]]:
    return [(*(total if x is None else x for x in cell), n) for cell, n in table.items()]


def cannot_reach(together: int, cells: int, least: int) -> bool:
    """Tell if no table of whole numbers has the minimum in the first of the cells of a line."""
    each = itertools.product(range(least, max(together, 0) + 1), repeat=cells)
    return not any(sum(one) == together and one[0] >= MINIMUM for one in each)


def expected(table: Table, size: int, least: int = 1) -> Counter[object]:
    """Read the rules off line by line; None is the total of a dimension."""
    found: Counter[object] = Counter()
    found[SMALL, None] = sum(n is not None and 0 < n < MINIMUM for n in table.values())
    for place in range(size):
        values = {cell[place] for cell in table if cell[place] is not None}
        others = {cell[:place] + cell[place + 1 :] for cell in table}
        for other in others:
            line = {v: (*other[:place], v, *other[place:]) for v in (*values, None)}
            total = table.get(line[None], 0) if line[None] in table else None
            is_hidden = line[None] in table and table[line[None]] is None
            parts = [line[v] for v in values]
            shown = [n for p in parts if (n := table.get(p)) is not None]
            hidden = [p for p in parts if p in table and table[p] is None]
            if not hidden and shown and total is not None and total != sum(shown):
                found[LEFT_OUT, DIMENSIONS[place]] += 1
            if (total is not None and len(hidden) == 1) or (is_hidden and not hidden and shown):
                found[TOLD, DIMENSIONS[place]] += 1
            if (
                total is not None
                and len(hidden) > 1
                and cannot_reach(total - sum(shown), len(hidden), least)
            ):
                found[FEW, DIMENSIONS[place]] += 1
    return +found


def random_table(rng: np.random.Generator, size: int) -> Table:
    """Count people in wards and ages, with totals, and hide or drop some cells."""
    inner = {
        cell: int(rng.integers(0, 9))
        for cell in itertools.product(*[["a", "b", "c"][: rng.integers(2, 4)]] * size)
    }
    table: Table = {}
    for cell in itertools.product(*[[*{c[i] for c in inner}, None] for i in range(size)]):
        members = [
            n for c, n in inner.items() if all(x in (None, y) for x, y in zip(cell, c, strict=True))
        ]
        table[cell] = sum(members)
    way = rng.integers(3)
    chosen = rng.random(len(table)) < 0.4
    if way == 0:
        return {
            c: None if is_hidden else n
            for (c, n), is_hidden in zip(table.items(), chosen, strict=True)
        }
    if way == 1:
        kept = {c: n for (c, n), is_out in zip(table.items(), chosen, strict=True) if not is_out}
        return kept or table
    return {c: None if 0 < (n or 0) < MINIMUM else n for c, n in table.items()}


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("least", [0, 1])
def test_the_rules_are_those_of_the_lines(warehouse: Warehouse, size: int, least: int) -> None:
    rng = np.random.default_rng(5)
    model = {1: "table_of_one", 2: "table_of_two"}[size] + ("" if least else "_with_hidden_zeros")
    seen: Counter[object] = Counter()
    for _ in range(60):
        table = random_table(rng, size)
        found = broken(warehouse, model, rows_of(table))
        assert found == expected(table, size, least)
        seen += found
    assert {rule for rule, _ in seen} == {SMALL, TOLD, FEW, LEFT_OUT}  # type: ignore[misc]


def test_totals_may_have_a_label(warehouse: Warehouse) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        table = random_table(rng, 2)
        found = broken(warehouse, "table_with_label", rows_of(table, "all"))
        assert found == expected(table, 2)


def test_six_hidden_cells_with_six_people_are_six_ones(warehouse: Warehouse) -> None:
    """None of them is empty, unless zeros are hidden as well."""
    rows = [(None, 26), ("rest", 20), *((str(n), None) for n in range(6))]
    assert broken(warehouse, "table_of_one", rows) == {(FEW, "ward"): 1}
    assert broken(warehouse, "table_of_one_with_hidden_zeros", rows) == {}


def test_a_sound_table_breaks_no_rule(warehouse: Warehouse) -> None:
    inner = {("a", "x"): None, ("a", "y"): None, ("b", "x"): None, ("b", "y"): None}
    totals = {("a", None): 7, ("b", None): 7, (None, "x"): 8, (None, "y"): 6, (None, None): 14}
    assert broken(warehouse, "table_of_two", rows_of({**inner, **totals})) == Counter()


def test_noise_tells_no_hidden_cell(warehouse: Warehouse) -> None:
    """Its table does not add up; small cells and negative counts are wrong all the same."""
    rows = [("a", "x", 5), ("a", "y", None), ("a", None, 9), ("b", "x", 2), ("b", "y", -1)]
    assert broken(warehouse, "table_with_noise", rows) == {(SMALL, None): 1, (NEGATIVE, None): 1}


def test_a_cell_stands_there_once(warehouse: Warehouse) -> None:
    assert broken(warehouse, "table_of_one", [("a", 5), ("a", 6), (None, 11)])[TWICE, None] == 1
