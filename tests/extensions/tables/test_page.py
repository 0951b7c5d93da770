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
from tests.projects import REPOSITORY, copy_demo

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
def test_the_declared_table_is_built_and_chosen_as_the_page_says(tmp_path: Path) -> None:
    """Of hidden cells all figures are those of the page; noise and rounding are drawn."""
    (text,) = re.findall(r"```yaml\n# anonymizations/clinic_counts.yml\n(.*?)```", PAGE.text, re.S)
    declared = yaml.safe_load(text)
    source = REPOSITORY / "anonymizations" / "fertility_clinic.yml"
    columns = yaml.safe_load(source.read_text(encoding="utf-8"))["columns"]
    dropped = {name: {"role": "dropped"} for name in columns}
    declared["columns"] = {**dropped, **declared["columns"]}
    project = copy_demo(tmp_path / "demo")
    spec = project.folder / "anonymizations" / f"{NAME}.yml"
    spec.write_text(yaml.safe_dump(declared, sort_keys=False), encoding="utf-8")
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
    # In one of twelve draws the noise is too little.
    assert (noise[3], rounding[3]) == ((True, False) if noise[2] >= 0.5 else (False, True))
    assert noise[1] == pytest.approx(0.915, abs=0.03)
    assert rounding[1] == pytest.approx(0.87, abs=0.03)
    assert "effort 3, noise (variance 6.0, largest 10, age 1), is" in " ".join(shown)
