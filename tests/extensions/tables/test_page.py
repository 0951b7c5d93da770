"""The examples of docs/extensions/tables.md, computed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from dbt_anonymize.extensions.tables.hidden import Interval, hidden_intervals
from dbt_anonymize.extensions.tables.picture import MOST_COLUMNS, MOST_ROWS, MOST_TABLES
from dbt_anonymize.extensions.tables.reading import read_table
from dbt_anonymize.project.generate import generate
from tests.cli.conftest import run
from tests.docs.pages import DOCS, Page
from tests.projects import Project, copy_demo

PAGE = Page(DOCS / "extensions" / "tables.md")
NAME = "clinic_counts"


def test_the_hidden_cell_is_told_as_the_page_says() -> None:
    rows = []
    for record in PAGE.table("patients", "young", "old", "all").records:
        for age in ("young", "old", "all"):
            shown = record[age]
            rows.append((record["patients"], age, None if "hidden" in shown else int(shown)))
    found = hidden_intervals(read_table(rows, ["ward", "age"], "all"))
    assert found == [Interval(("north", "old"), 2, 2, 1)]
    assert "The hidden cell is 9 - 7 = 2." in PAGE.text


def test_a_picture_is_as_large_as_the_page_says() -> None:
    sizes = (MOST_TABLES, MOST_ROWS, MOST_COLUMNS)
    said = "It has at most {} crosstabs of {} rows and {} columns".format(*sizes)
    assert said in " ".join(PAGE.text.split())


@pytest.mark.dbt
@pytest.mark.needs("drafting")
def test_the_table_is_drafted_built_and_chosen_as_the_page_says(tmp_path: Path) -> None:
    """Of hidden cells all figures are those of the page; noise and rounding are drawn."""
    (text,) = re.findall(r"```yaml\n# anonymizations/clinic_counts.yml\n(.*?)```", PAGE.text, re.S)
    (command,) = re.findall(r"^dbt-anonymize (init .*)$", PAGE.text, re.M)
    project = copy_demo(tmp_path / "demo")
    project.dbt("seed")
    drafted = run(*command.split(), "--project-dir", project.folder)
    assert drafted.exit_code == 0, drafted.output
    spec = (project.folder / "anonymizations" / f"{NAME}.yml").read_text(encoding="utf-8")
    told, made = yaml.safe_load(text), yaml.safe_load(spec)
    assert told["columns"].items() <= made["columns"].items()
    roles = {one["role"] for name, one in made["columns"].items() if name not in told["columns"]}
    assert roles == {"identifier", "dropped"}
    others = {*told} - {"columns"}
    assert {key: made[key] for key in others} == {key: told[key] for key in others}
    commented = [line for line in text.splitlines() if line.startswith("  #   - {")]
    assert commented
    assert {*commented} <= {*spec.splitlines()}
    _check_results(project)


def _check_results(project: Project) -> None:
    generate(project.folder, [NAME])
    project.build("--select", f"+path:models/{NAME}")
    shown = [
        line.strip()
        for line in run("results", NAME, "--project-dir", project.folder).output.splitlines()
    ]
    told = [line.strip() for line in PAGE.text.splitlines()]
    for start in ("1", "2"):
        rows = [line for line in shown if line.startswith(f"{start} ") and line.endswith("yes")]
        assert len(rows) == 1
        assert rows[0] in told
    sql = f"select effort, qf, qnf, is_chosen from {NAME}_table_results order by effort"
    *_, noise, rounding = project.query(sql)
    # A draw may be too little.
    assert (noise[3], rounding[3]) == ((True, False) if noise[2] >= 0.5 else (False, True))
    assert noise[1] == pytest.approx(0.992, abs=0.005)
    assert rounding[1] == pytest.approx(0.987, abs=0.01)
    assert "effort 3, noise (variance 6.0, largest 10, age 2), is" in " ".join(shown)
