"""The page about Python is executed, and what a notebook shows is what commands show."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dbt_anonymize as da
from dbt_anonymize.errors import AnonymizeError, ProjectError
from dbt_anonymize.extensions.notebook.project import _table
from tests.docs.pages import DOCS
from tests.extensions.diff.test_diff import changed, run
from tests.projects import Project
from tests.recipes.pages import code_of_page

__all__ = ["changed"]

PAGE = DOCS / "extensions" / "notebook.md"


def test_the_page_runs_and_notebooks_draw_what_it_names(
    built_consumer: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(built_consumer.folder))
    code = code_of_page(r"\n", PAGE) + code_of_page(r"\n")
    code = code.replace("path/to/the/dbt/project", str(built_consumer.folder))
    known: dict[str, Any] = {}
    exec(code, known)  # noqa: S102 (the page itself)
    said = capsys.readouterr().out.splitlines()
    ((effort, k),) = built_consumer.query("select effort, k from customers_results where is_chosen")
    assert said[-3].startswith(f"{effort} {k} ")
    assert said[-2] == f"1 {k}"
    assert 0.4 < float(said[-1]) <= 1
    predicted_alike(built_consumer, known, effort, monkeypatch)
    rows = built_consumer.release("customers")
    assert [tuple(row) for row in known["release"][["zip", "churned"]].itertuples(index=False)] == [
        (row[3], row[8]) for row in rows
    ]
    efforts, results = known["efforts"], known["results"]
    assert len(efforts) == len(results) == len(known["table"]) == 4
    assert [effort.levels["zip"] for effort in efforts] == [0, 1, 2, 2]
    assert "<th>qf_mean</th>" in results._repr_html_()
    assert "<td>full_domain</td>" in efforts._repr_html_()
    assert "customers" in known["text"]
    project = known["project"]
    assert project.names == ["customers"]
    assert "<td>customers</td>" in project._repr_html_()
    assert "<table" in project.release("customers")._repr_html_()
    assert f"<td>{effort}</td>" in known["register"]._repr_html_()
    with pytest.raises(AnonymizeError, match="an earlier release must be in the register"):
        project.diff("customers")


def predicted_alike(
    project: Project, known: dict[str, Any], effort: int, patch: pytest.MonkeyPatch
) -> None:
    """Check that the page gives original rows the features that their released rows have."""
    patch.chdir(project.folder)
    customers = pd.read_csv("seeds/customers.csv", dtype={"zip": str, "birth_date": str})
    known |= {"customers": customers, "level": known["efforts"][effort].levels}
    exec(code_of_page(" original rows\n"), known)  # noqa: S102
    assert len(known["predicted"]) == len(customers)
    released, original = (
        Counter(known[name].fillna(-1).astype(float).itertuples(index=False, name=None))
        for name in ("features", "original")
    )
    assert released <= original


def test_register_and_differences_are_those_of_the_commands(
    changed: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(changed.folder))
    project = da.open(changed.folder)
    exec(code_of_page(" second release\n", PAGE), known := {"project": project})  # noqa: S102
    ((before,), (after,)) = changed.query("select k from customers_register order by release")
    assert capsys.readouterr().out.splitlines()[-1] == f"{(before, after)} 0"
    for command, found in {
        ("results", "--history"): project.register("customers"),
        ("diff", "--against", "1"): project.diff("customers", 1),
    }.items():
        printed = run(changed, command[0], "customers", *command[1:], "--format", "csv").stdout
        rows = list(csv.reader(io.StringIO(printed)))
        assert rows[0][-len(found.columns) :] == list(found.columns)
        texts = [["" if cell is None else str(cell) for cell in row] for row in found.cells]
        assert [row[-len(found.columns) :] for row in rows[1:]] == texts
        assert list(found.df().columns) == list(found.columns)
    assert {one.source for one in project.register("customers")} == {None}
    shown = known["difference"]._repr_html_()
    assert f"<td>k</td><td>{before}</td><td>{after}</td>" in shown
    assert "<p>the data changed</p>" in shown


def test_what_is_shown_is_escaped() -> None:
    assert "<script>" not in "".join(_table(["<script>"], [["<script>", None]]))


def test_what_is_missing_is_said(tmp_path: Path, built_consumer: Project) -> None:
    with pytest.raises(ProjectError, match="must be in a dbt project"):
        da.open(tmp_path)
    with pytest.raises(AnonymizeError, match="customers"):
        da.open(built_consumer.folder).results("customer")


def test_importing_the_package_loads_nothing_that_takes_long() -> None:
    code = (
        "import sys, dbt_anonymize as da; da.open; "
        "print([m for m in ('pandas', 'duckdb', 'dbt', 'sklearn', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
