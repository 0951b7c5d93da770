"""Information loss where tables are empty, have one value, or reach the ends of the scale."""

from __future__ import annotations

import pytest

from tests.oracle.generalization import CategoricalHierarchy, IntervalHierarchy
from tests.oracle.information_loss import Effort, People, Shown
from tests.properties.efforts_measured import (
    MIXED,
    SINGLE,
    load,
    load_each,
    measured,
)
from tests.properties.measured import EFFORTS
from tests.properties.warehouse import Warehouse


def test_squared_errors_of_numbers_far_smaller_than_the_hierarchy(warehouse: Warehouse) -> None:
    """1 + 1e-179 is 1: distances must not be counted from the lowest bound."""
    ages = IntervalHierarchy(
        breaks=(-1.0, -0.25, 0.0, 1.2e-179),
        labels=(("1", "2", "3"), ("1", "1", "3"), ("*", "*", "*")),
    )
    cities = CategoricalHierarchy(values=("1",), labels=(("1",), ("1",), ("*",)))
    found = People((ages, cities), tuple(((age, "1"), "yes") for age in (0.0, 4e-180, 6e-180)))
    shown = [tuple(found.shown(p, v, 3) for p, v in enumerate(raw)) for raw, _ in found.records]
    drawn = [Effort(found, tuple(shown), frozenset())] * len(EFFORTS)
    (rows,) = measured(load_each(warehouse, MIXED, [drawn]), "mixed_loss_0.0_sum")
    assert [row["sse_sst"] for row in rows] == [1.0] * len(EFFORTS)


def test_an_empty_table_has_one_row_of_nulls_per_effort(warehouse: Warehouse) -> None:
    hierarchies = (
        IntervalHierarchy((0.0, 1.0), (("leaf",), ("group",), ("*",))),
        CategoricalHierarchy(("Ulm",), (("city",), ("country",), ("*",))),
    )
    load(warehouse, MIXED, [Effort(People(hierarchies, ()), (), frozenset())])
    rows = warehouse.rows("mixed_loss_0.5_sum")
    assert [row["effort"] for row in rows] == list(EFFORTS)
    assert {v for row in rows for name, v in row.items() if name != "effort"} == {None}


def test_a_table_of_one_value_has_nothing_to_lose(warehouse: Warehouse) -> None:
    hierarchy = CategoricalHierarchy(("Ulm",), (("city",), ("country",), ("*",)))
    found = People((hierarchy,), ((("Ulm",), "yes"), (("Ulm",), "no")))
    shown = [(found.shown(0, "Ulm", level),) * 2 for level in (0, 1, 2, 3, 3)]
    hidden = [frozenset[tuple[str, ...]]()] * 4 + [frozenset({("*",)})]
    drawn = [
        Effort(found, tuple((s,) for s in each), gone)
        for each, gone in zip(shown, hidden, strict=True)
    ]
    load(warehouse, SINGLE, drawn)
    rows = warehouse.rows(f"single_loss_0.5_{dict(SINGLE.settings)[0.5]}")
    assert [row["loss"] for row in rows] == [0.0] * 5
    assert [row["granularity"] for row in rows] == [1.0] * 5
    assert [row["entropy_based_loss"] for row in rows] == [0.0] * 4 + [2.0]


@pytest.mark.parametrize("suppressed", [True, False])
def test_the_ends_of_the_scale_are_reached_whatever_the_weights(
    warehouse: Warehouse, suppressed: bool
) -> None:
    """The weights of the table are 1 and 0.3."""
    hierarchies = (
        IntervalHierarchy((0.0, 1.0, 2.0), (("a", "b"), ("c", "c"), ("*", "*"))),
        CategoricalHierarchy(("Ulm", "Bonn"), (("u", "b"), ("d", "d"), ("*", "*"))),
    )
    records = (((0.0, "Ulm"), "yes"), ((1.0, "Bonn"), "no"))
    found = People(hierarchies, records)

    def shown(level: int) -> tuple[tuple[Shown, ...], ...]:
        return tuple(tuple(found.shown(p, raw[p], level) for p in (0, 1)) for raw, _ in records)

    raw, root = Effort(found, shown(0), frozenset()), Effort(found, shown(3), frozenset())
    gone = Effort(found, shown(1), frozenset({("a", "u"), ("b", "b")}))
    load(warehouse, MIXED, [raw, gone if suppressed else root])
    for aggregate in ("arithmetic_mean", "geometric_mean", "maximum", "sum"):
        first, last, *_ = warehouse.rows(f"mixed_loss_0.5_{aggregate}")
        assert (first["loss"], first["granularity"], first["precision"]) == (0.0, 1.0, 1.0)
        assert last["loss"] == pytest.approx(2.0 if aggregate == "sum" else 1.0)
        assert (last["granularity"], last["precision"]) == (0.0, 0.0)
