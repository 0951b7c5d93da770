"""Loss of each class: its terms by hand, and their sum."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from dbt_anonymize.project.generate import render
from dbt_anonymize.spec import Spec
from tests.docs.pages import DOCS, Page
from tests.properties.test_information_loss import AGES, CITIES
from tests.properties.warehouse import Warehouse
from tests.spec.declarations import spec

PAGE = Page(DOCS / "extensions" / "recoding.md")
RAW = ("5", 0.0, 0)


def load(warehouse: Warehouse, rows: list[tuple[Any, ...]]) -> None:
    """Load classes: effort and name, then label, share and level of age and city."""
    for position, (hierarchy, kind) in enumerate(((AGES, "double"), (CITIES, "varchar"))):
        warehouse.load_hierarchy(f"mixed_hierarchy_{position}", hierarchy, kind)
    shown = {"varchar": "", "double": "_share", "integer": "_level"}
    columns = {f"{name}{end}": kind for name in ("age", "city") for kind, end in shown.items()}
    columns = {"effort": "integer", "equivalence_class": "varchar", **columns}
    columns |= {"records": "bigint", "is_suppressed": "boolean"}
    warehouse.load("mixed_classes", columns, rows)


@pytest.mark.parametrize("factor", [0.5, 0.75])
def test_classes_add_up_to_the_loss_of_their_effort(warehouse: Warehouse, factor: float) -> None:
    load(
        warehouse,
        [
            (0, "o", *RAW, "a", 0.25, 0, 3, False),
            (1, "p", "0", 0.5, 2, "a", 0.5, None, 2, False),  # a mode of a and b: level 1 of 3
            (1, "q", *RAW, "c", 0.25, 0, 5, False),
            (1, "r", "*", 1.0, 3, "d", 0.25, 1, 3, True),
            (2, "s", *RAW, "c", 0.25, 0, 4, False),
        ],
    )
    rows = warehouse.rows(f"class_losses_{factor}")
    kept = min(1.0, 2 - 2 * factor)
    # Weights are relative to their mean.
    age, city = 2 / 1.3, 0.6 / 1.3
    found = {row["equivalence_class"]: row for row in rows}
    expected = {
        "p": 2 * kept * (age / 2 + city / 3),
        "q": 0,
        "r": 3 * (age + city),
        "s": 0,
    }
    assert {name: row["total_information_loss"] for name, row in found.items()} == pytest.approx(
        expected
    )
    assert found["p"]["loss_per_record"] == pytest.approx(expected["p"] / 2)
    assert found["p"]["loss_share"] == pytest.approx(expected["p"] / sum(expected.values()))
    assert found["s"]["loss_share"] is None
    sums: dict[int, float] = defaultdict(float)
    for row in rows:
        sums[row["effort"]] += row["total_information_loss"]
    if factor == 0.5:
        whole = {r["effort"]: r["total_information_loss"] for r in warehouse.rows("mixed_modes")}
        assert sums == pytest.approx({effort: whole[effort] for effort in (1, 2)})


def test_the_example_of_the_page_is_computed(warehouse: Warehouse) -> None:
    load(
        warehouse,
        [
            (1, "A", "[20, 40)", 0.25, 1, "01***", 0.5, 1, 4, False),
            (1, "B", "[40, 60)", 0.25, 1, "02***", 0.5, 1, 3, False),
            (1, "C", "[60, 80)", 0.25, 1, "02***", 0.5, 1, 1, True),
        ],
    )
    rows = {row["equivalence_class"]: row for row in warehouse.rows("documented_class_losses")}
    for printed in PAGE.table("class", "loss_share").records:
        row = rows.pop(printed["class"])
        assert printed["records"] == str(row["records"])
        assert printed["is_suppressed"] == ("yes" if row["is_suppressed"] else "no")
        for column in ("total_information_loss", "loss_per_record", "loss_share"):
            assert printed[column] == f"{row[column]:.4f}"
    assert not rows


def test_it_is_there_where_labels_differ_by_record() -> None:
    name = "visits_class_losses.sql"
    clusters = [{"recoding": "clustering"}]
    assert name not in render(Spec.model_validate(spec(details="all")))
    assert name not in render(Spec.model_validate(spec(efforts=clusters, details=[])))
    assert name in render(Spec.model_validate(spec(efforts=clusters, details="all")))


def test_it_is_refused_by_name_where_they_do_not() -> None:
    with pytest.raises(ValueError, match=r"details.0: must be about an effort whose labels differ"):
        Spec.model_validate(spec(details=["class_losses"]))
