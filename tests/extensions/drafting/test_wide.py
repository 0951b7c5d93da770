"""Drafts of wide tables: combinations are bounded, from small ones up, and so are cells."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from dbt_anonymize.extensions.drafting import efforts
from dbt_anonymize.extensions.drafting.facts import ColumnFacts, read_facts
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.drafting.proposal import Proposal
from dbt_anonymize.extensions.drafting.table import Draft, _combinations
from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.project.driver_errors import as_warehouse_error
from dbt_anonymize.project.warehouse import Warehouse


class Asked:
    """A warehouse that answers every query alike, and keeps what it was asked."""

    def __init__(self, *row: Any, columns: int = 0) -> None:
        self.row, self.width = row, columns
        self.asked: list[str] = []

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return one row."""
        self.asked.append(sql)
        return [self.row or (7,) * (1 + sql.partition(" from ")[0].count(", "))]

    def numbers(self, sql: str) -> dict[str, np.ndarray]:
        """Return the row as columns of numbers."""
        self.asked.append(sql)
        names = [f"c{place}" for place in range(len(self.row) - 1)]
        return {n: np.array([v]) for n, v in zip([*names, "records"], self.row, strict=True)}

    def columns(self, _: object) -> list[tuple[str, str]]:
        """Return names and types."""
        return [(f"m{i}", "DOUBLE") for i in range(self.width)]


def facts(number: int, records: int = 100) -> list[ColumnFacts]:
    one = ColumnFacts("m", "DOUBLE", "number", records, records, records)
    return [replace(one, name=f"m{i}") for i in range(number)]


@pytest.mark.parametrize(
    ("columns", "records", "sizes", "uncounted"),
    [
        (0, 100, [], None),
        (1, 100, [1], None),
        (2, 100, [1, 2], None),
        (5, 100, [1, 2, 3, 4, 5], None),
        (7, 100, [1, 2, 7], (3, 6)),
        (9, 100, [1, 2, 9], (3, 8)),
        (24, 100, [1, 24], (2, 23)),
        (162, 100, [1, 162], (2, 161)),
        (3, 6_000_000, [1, 3], (2, 2)),
    ],
)
def test_combinations_are_counted_from_small_ones_up_and_the_rest_is_said(
    columns: int, records: int, sizes: list[int], uncounted: tuple[int, int] | None
) -> None:
    warehouse = Asked(3)
    quasi = [Proposal(one, "quasi_identifier", "") for one in facts(columns, records)]
    found = _combinations(cast("Warehouse", warehouse), "t", quasi)
    assert len(warehouse.asked) <= 41
    assert list(dict.fromkeys(len(names) for names, _ in found)) == sizes
    assert Draft([], {}, {}, found, [], None).uncounted == uncounted


def test_a_wide_table_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    # What is looked for among the rows is not asked here: a search of 160 columns takes 20 s.
    monkeypatch.setattr(efforts, "_WORK", 1)
    warehouse = Asked(columns=162)
    found = read_facts(cast("Warehouse", warehouse), SimpleNamespace(identifier="t"))
    assert len(found) == 162
    assert max(sql.count("count(distinct") for sql in warehouse.asked) == 8
    hierarchy = equal_width_intervals(0, 100, [10, 50])
    plans = [Plan(f"m{i}", f"m{i}", hierarchy, "") for i in range(160)]
    rows = Asked(*[7] * 160, 9)
    efforts.first_efforts(cast("Warehouse", rows), "t", plans, k=5, suppression_limit=0.0, length=1)
    assert rows.asked[0].endswith("limit 12500")


def test_memory_that_runs_out_is_not_a_warehouse_that_cannot_be_read() -> None:
    assert "must have more memory" in str(as_warehouse_error(MemoryError()))
