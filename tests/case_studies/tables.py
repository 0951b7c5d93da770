"""Tables of incomes by age and education: protected ways, and a naive one beside them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from dbt_anonymize.extensions.tables.hidden import hidden_intervals
from dbt_anonymize.extensions.tables.reading import Published, read_table
from dbt_anonymize.extensions.tables.subtotals import key_of, tree_of
from tests.case_studies.building import Built, prepare
from tests.case_studies.pages import CasePage
from tests.case_studies.preparation import LARGE_STUDIES

NAME = "income_tables"
LEAST = 5
DIMENSIONS = ("age", "education", "income")
# Levels of education that effort 1 shows.
LEVELS = (0, 1, 2)
# Draws are secrets and differ from build to build: those of the page follow from the record key.
DRAWS = """
create table income_tables_table_draws as
select
    n::integer as person,
    (n * 2654435761 % 4294967296) / 4294967296.0 as draw,
    'record' as identified_by
from range(1, 40000) as _(n)
"""


def build(folder: Path) -> Built:
    """Build the study with draws that are always the same."""
    project = prepare(folder, [LARGE_STUDIES[NAME]()], {NAME: CasePage(NAME).spec})
    with duckdb.connect(str(folder / "vault" / "vault.duckdb")) as vault:
        vault.execute(DRAWS)
    project.build()
    return Built(project)


def reader(built: Built) -> Callable[[str], list[dict[str, Any]]]:
    """Return the rows of a relation, or of the comparison with small cells hidden alone."""

    @cache
    def rows(relation: str) -> list[dict[str, Any]]:
        return compared(built) if relation == f"{NAME}.py" else built.rows(relation)

    return rows


def compared(built: Built) -> list[dict[str, Any]]:
    """Count what the small cells of effort 1 tell, hidden alone and as the effort hides them."""
    counted = [r for r in built.rows(f"{NAME}_table_cells") if r["effort"] == 1 and r["people"]]
    shown = [
        r for r in built.rows(f"{NAME}_table_efforts") if (r["effort"], r["kind"]) == (1, "cell")
    ]
    small = {_cell(row) for row in counted if row["people"] < LEAST}
    naive = [{**row, "people": None} if row["people"] < LEAST else row for row in counted]
    found = []
    for name, rows in (("small cells alone", naive), ("effort 1", shown)):
        intervals = [one for one in hidden_intervals(_table(built, rows)) if one.labels in small]
        found.append(
            {
                "table": name,
                "small_cells": len(small),
                "hidden_cells": sum(row["people"] is None for row in rows),
                "told_exactly": sum(one.lowest == one.highest for one in intervals),
                "told_too_closely": sum(not one.hides(LEAST) for one in intervals),
            }
        )
    return found


def _table(built: Built, rows: list[dict[str, Any]]) -> Published:
    labels: dict[str, dict[int, str]] = {}
    for row in built.rows(f"{NAME}_table_labels"):
        if row["effort"] == 1 and row["dimension"] == "education":
            labels.setdefault(row["finest_label"], {})[row["level"]] = row["label"]
    chains = [[key_of(level, own[level]) for level in LEVELS] for own in labels.values()]
    cells = [(*_cell(row), row["people"]) for row in rows]
    return read_table(cells, DIMENSIONS, None, trees={"education": tree_of("education", chains)})


def _cell(row: dict[str, Any]) -> tuple[str | None, ...]:
    level = row["education_level"]
    education = None if level is None else key_of(level, row["education"])
    return row["age"], education, row["income"]
