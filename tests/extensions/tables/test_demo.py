"""The demonstration that is released as a table of counts, as `make demo` leaves it."""

from __future__ import annotations

import itertools
from collections import defaultdict

import duckdb
import pytest

from dbt_anonymize.spec.loading import load_spec
from tests.cli.conftest import run
from tests.conftest import Demonstration
from tests.extensions.tables.untested import untested
from tests.projects import Project

NAME = "clinic_visits"
LEAST = 5
Cell = tuple[str | None, ...]

pytestmark = pytest.mark.skipif(untested() is not None, reason=str(untested()))


def visits_of_cells(demo: Project) -> dict[Cell, list[str]]:
    """Return the patient of each visit, by month, ten years of age and result, and by totals."""
    rows = demo.query(f"select visited_on, age, result, patient_number from vault.{NAME}_source")
    cells = defaultdict[Cell, list[str]](list)
    for day, age, result, patient in rows:
        decade = age // 10 * 10
        labels = (f"{day:%Y-%m}", f"[{decade}, {decade + 10})", result)
        for cell in itertools.product(*((label, None) for label in labels)):
            cells[cell].append(patient)
    return cells


def test_no_cell_of_few_patients_is_shown(demo: Project) -> None:
    with duckdb.connect(str(demo.release_file(NAME)), read_only=True) as release:
        columns = "visited_on, age, result, records, status"
        shown = {
            r[:3]: r[3:] for r in release.execute(f"select {columns} from {NAME}_table").fetchall()
        }
    truth = visits_of_cells(demo)
    assert shown.keys() == truth.keys()
    small = {cell for cell, patients in truth.items() if len({*patients}) < LEAST}
    hidden = {cell for cell, (_, status) in shown.items() if status == "hidden"}
    assert small
    # Others are hidden, so that totals do not give them back; most of the table is shown.
    assert small < hidden
    assert len(hidden) < len(shown) / 3
    for cell, (records, _) in shown.items():
        assert records == (None if cell in hidden else len(truth[cell]))
    assert any(len({*patients}) < len(patients) for patients in truth.values())


def test_the_finest_table_answers_nothing_and_the_best_of_the_others_is_chosen(
    shipped: Demonstration,
) -> None:
    columns = "effort, qualifies, is_chosen"
    demo = shipped.project
    results = demo.query(f"select {columns} from {NAME}_table_results order by effort")
    assert results == [(1, False, False), (2, True, True), (3, True, False)]
    printed = " ".join(shipped.printed.split())
    spec = load_spec(demo.folder / "anonymizations" / f"{NAME}.yml")
    assert f"{NAME}: {spec.description}" in printed
    assert "effort 2, hide (age 2, visited_on 1), is chosen: the best Q" in printed
    assert f"released: release/demo/{NAME}.duckdb" in printed


def test_what_is_promised_holds_and_nothing_else_tells_of_its_patients(demo: Project) -> None:
    verified = run("verify", NAME, "--project-dir", demo.folder)
    assert verified.exit_code == 0, verified.output
    assert f"{NAME}: 2 promises hold" in verified.output
    assert "warning" not in verified.output.casefold()
