"""Our measures against pycanon's, on the tables that pycanon was asked about."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.properties.guarded import GUARDS
from tests.properties.pycanon_tables import NAMES, TABLES, records
from tests.properties.test_guarantees import Person, load_each, population_of
from tests.properties.warehouse import Row, Warehouse

COLUMNS, *ROWS = json.loads(
    Path(__file__).with_name("pycanon_measures.json").read_text(encoding="utf-8")
)
ASKED: list[dict[str, Any]] = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
BY_RECORD, _ = GUARDS


def people(table: dict[str, Any]) -> tuple[Person, ...]:
    return tuple(
        Person(*record, target="a", subject=number)
        for number, record in enumerate(records(table["records"]))
    )


@pytest.fixture(scope="module")
def classes(warehouse: Warehouse) -> list[list[Row]]:
    """Give the measured classes of each table."""
    found: list[list[Row]] = []
    for tables in (ASKED[:250], ASKED[250:]):
        each = [(people(table), population_of(people(table), [])) for table in tables]
        found += load_each(warehouse, each).rows_of_each(BY_RECORD.measured)
    return found


def worst(rows: list[Row], column: str) -> float:
    """Return the largest measure of the classes; NULL is infinite."""
    return max(math.inf if row[column] is None else float(row[column]) for row in rows)


def test_k_alpha_and_distinct_l_equal_pycanons(classes: list[list[Row]]) -> None:
    for rows, asked in zip(classes, ASKED, strict=True):
        assert min(row["class_size"] for row in rows) == asked["k"]
        for attribute in ("disease", "visits"):
            assert min(row[f"{attribute}_distinct_l"] for row in rows) == asked[f"{attribute}_l"]
            found = worst(rows, f"{attribute}_highest_share")
            assert found == pytest.approx(asked[f"{attribute}_alpha"], rel=1e-12)


def test_t_equals_pycanons_by_rank_for_numbers_and_without_an_order_for_text(
    classes: list[list[Row]],
) -> None:
    for rows, asked in zip(classes, ASKED, strict=True):
        assert worst(rows, "disease_t") == pytest.approx(asked["disease_t"], abs=1e-12)
        assert worst(rows, "visits_ordered_t") == pytest.approx(asked["visits_t"], abs=1e-12)


@pytest.mark.parametrize("attribute", ["disease", "visits"])
def test_beta_equals_pycanons(classes: list[list[Row]], attribute: str) -> None:
    for rows, asked in zip(classes, ASKED, strict=True):
        expected = asked[f"{attribute}_beta"]
        assert worst(rows, f"{attribute}_beta") == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("attribute", ["disease", "visits"])
def test_delta_equals_pycanons_in_bits_where_no_class_lacks_a_value(
    classes: list[list[Row]], attribute: str
) -> None:
    compared = 0
    for rows, asked in zip(classes, ASKED, strict=True):
        values = {record[NAMES.index(attribute)] for record in records(asked["records"])}
        if any(row[f"{attribute}_distinct_l"] < len(values) for row in rows):
            assert worst(rows, f"{attribute}_delta") == math.inf
            continue
        compared += 1
        in_bits = asked[f"{attribute}_delta"] / math.log(2)
        assert worst(rows, f"{attribute}_delta") == pytest.approx(in_bits, rel=1e-12, abs=1e-12)
    assert compared > 50


def test_pycanon_was_asked_about_all_kinds_of_tables() -> None:
    assert len(ASKED) == TABLES
    sizes = [Counter(person[:2] for person in records(t["records"])) for t in ASKED]
    assert sum(len(of_table) == 1 for of_table in sizes) > 50
    assert sum(1 in of_table.values() for of_table in sizes) > 100
    assert sum(table["k"] > 1 for table in ASKED) > 100
    assert len({table["disease_t"] for table in ASKED}) > 50
