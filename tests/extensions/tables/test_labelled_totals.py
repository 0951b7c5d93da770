"""Totals under a label that nobody named would be one more category, and give hidden cells back."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dbt_anonymize.extensions.tables.errors import TableError
from dbt_anonymize.extensions.tables.reading import Row, read_table
from tests.properties.warehouse import Warehouse

UNNAMED = "a label has the sum of the others: name it by total"


def table(values: np.ndarray, *totals: str | None) -> list[Row]:
    """Return rows of counts, with totals over the first dimensions that have a label or None."""
    for axis in range(len(totals)):
        values = np.concatenate([values, values.sum(axis=axis, keepdims=True)], axis=axis)
    sizes = [size - (axis < len(totals)) for axis, size in enumerate(values.shape)]
    labels = [
        [*(f"{axis}{n}" for n in range(size)), *totals[axis : axis + 1]]
        for axis, size in enumerate(sizes)
    ]
    return [
        (*cell, people if people < 0 else int(people))
        for cell, people in zip(itertools.product(*labels), values.flatten(), strict=True)
    ]


def hide(rows: list[Row], *cells: tuple[str | None, ...]) -> list[Row]:
    return [(*row[:-1], None if row[:-1] in cells else row[-1]) for row in rows]


COUNTS = np.random.default_rng(2).integers(5, 40, (3, 4))


@pytest.mark.parametrize("label", ["all", "Total", "both together"])
@pytest.mark.parametrize("hidden", [(), (("00", "10"), ("01", "10"))])
def test_a_label_with_the_sums_of_the_others_is_said(
    label: str, hidden: tuple[tuple[str, str], ...]
) -> None:
    rows = hide(table(COUNTS, label, label), *hidden)
    with pytest.raises(TableError, match=rf"total must name.*label '{label}' of d0"):
        read_table(rows, ["d0", "d1"], None)
    read_table(rows, ["d0", "d1"], label)


def test_the_other_dimension_may_have_another_label() -> None:
    for first, second in (("all", "sum of ages"), ("all", None)):
        with pytest.raises(TableError, match=rf"label '{second or 'NULL'}' of d1"):
            read_table(table(COUNTS, first, second), ["d0", "d1"], "all")


def test_a_label_named_like_a_total_is_one_even_where_lines_are_hidden() -> None:
    rows = [("north", 7), ("south", None), ("west", None), ("all", 20)]
    with pytest.raises(TableError, match="label 'all' of ward"):
        read_table(rows, ["ward"], None)
    doubled = [*rows, (None, 20)]
    with pytest.raises(TableError, match="label 'all' of ward"):
        read_table(doubled, ["ward"], None)


def test_totals_of_which_it_is_a_part_show_a_category() -> None:
    rows = [("a", 10), ("b", 20), ("all", 30), (None, 60)]
    assert read_table(rows, ["ward"], None).cube.size == 4
    many = table(np.array([[9, 30, 41, 12], [8, 7, 30, 11], [17, 37, 71, 23]]), None)
    assert read_table(many, ["d0", "d1"], None).cube.size == 20


def test_a_small_table_is_no_total_by_chance() -> None:
    assert read_table([("a", 3), ("b", 1), ("c", 2)], ["ward"], None).cube.size == 4
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(1_000):
        rows = table(rng.integers(0, 5, (3, int(rng.integers(1, 4)))))
        try:
            read_table(rows, ["d0", "d1"], None)
        except TableError:
            refused += 1
    assert refused < 5


def test_one_line_in_ten_may_differ() -> None:
    counts = np.random.default_rng(4).integers(5, 40, (3, 20))
    rows = [list(row) for row in table(counts, "together")]
    rows[-1][-1] += 1
    with pytest.raises(TableError, match="label 'together' of d0"):
        read_table(rows, ["d0", "d1"], None)
    for row in rows[-5:]:
        row[-1] += 1
    assert read_table(rows, ["d0", "d1"], None).cube.size == 5 * 21


def test_the_dbt_test_sees_the_same(warehouse: Warehouse) -> None:
    """Random tables whose last label is the sum of the others, nearly so, or not."""
    rng = np.random.default_rng(5)
    seen = set()
    for turn in range(60):
        label = ("all", "both", None)[turn % 3]
        rows = [list(row) for row in table(rng.integers(0, 30, (2, turn % 4 + 1)), label)]
        for row in rows:
            if label is None and row[0] == "00":  # a category of this name
                row[0] = "Total"
            if rng.random() < 0.15:
                row[-1] = None
            elif rng.random() < 0.05:
                row[-1] += 1
        try:
            read_table(rows, ["ward", "age"], None)
            is_refused = False
        except TableError:
            is_refused = True
        types = {"ward": "varchar", "age": "varchar", "people": "bigint"}
        warehouse.load("shown_table", types, [tuple(row) for row in rows])
        broken = [r["dimension"] for r in warehouse.rows("table_of_two") if r["rule"] == UNNAMED]
        assert (broken == ["ward"]) == is_refused, rows
        seen.add((label, is_refused))
    assert len(seen) == 5, seen
