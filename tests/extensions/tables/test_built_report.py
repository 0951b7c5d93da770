"""Reports, history and erasing of a built table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import run
from tests.extensions.tables.projects import NAME, SEED, SHOWS, build, declare, released
from tests.projects import Project

pytestmark = pytest.mark.dbt


def report(project: Project) -> dict[str, Any]:
    """Return the report for programs."""
    made = run("report", NAME, "--format", "json", "--project-dir", project.folder)
    assert made.exit_code == 0, made.output
    told: dict[str, Any] = json.loads(made.stdout)
    return told


def sentences(told: dict[str, Any]) -> str:
    return " ".join(itself for answer in told["answers"].values() for itself in answer)


def results(project: Project, *arguments: str) -> str:
    shown = run("results", NAME, "--project-dir", project.folder, *arguments)
    assert shown.exit_code == 0, shown.output
    return " ".join(shown.output.split())


def without_first_customer(project: Project) -> str:
    """Take the first customer out of the source; return her key."""
    key = (project.folder / SEED).read_text(encoding="utf-8").splitlines()[1].split(",")[0]
    project.edit(SEED, lambda text: re.sub(rf"(?m)^{key},.*\n", "", text))
    project.build("--select", "customers")
    return key


@pytest.mark.needs("report")
def test_a_report_shows_the_released_cells_and_no_others(built: Project) -> None:
    told = report(built)
    rows = released(built)
    crosstabs = [part for part in told["sections"] if re.fullmatch(r"table_\d+", part["key"])]
    shown = [
        ({"all": None}.get(name, name), {"all": None}.get(heading, heading), part, cell)
        for part in crosstabs
        for name, *cells in part["rows"]
        for heading, cell in zip(part["headings"][1:], cells, strict=True)
    ]
    assert all(part["headings"][0] == "birth_date" for part in crosstabs)
    found = {}
    for date, code, part, cell in shown:
        churned = part["title"].removeprefix("birth_date by zip; churned: ")
        found[date, code, {"all": None}.get(churned, churned)] = cell
    for cell, (people, status) in rows.items():
        assert found.pop(cell) == ("hidden" if status == "hidden" else people)
    # Empty ones, and margins that are not shown.
    assert {*found.values()} <= {0, None}
    efforts = next(part for part in told["sections"] if part["key"] == "efforts")
    assert [row[0] for row in efforts["rows"]] == [1]
    assert "chosen: the best Q" in efforts["rows"][0][-1]
    assert f"{len(rows)} cells, {sum(r[-1] == 'hidden' for r in rows.values())}" in sentences(told)


@pytest.mark.needs("report")
def test_a_report_holds_nothing_of_the_counted_cells(built: Project, tmp_path: Path) -> None:
    """The released file is all that it reads of cells: other counts change no word."""
    project = built.copy(tmp_path / "other")
    before = report(project)
    for kind in ("cells", "efforts"):
        project.execute(f"update {NAME}_table_{kind} set people = people + 7000")
    assert report(project)["sections"] == before["sections"]


@pytest.mark.needs("report")
def test_the_page_is_written_beside_the_results(built: Project, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    page = tmp_path / "page.html"
    made = run("report", NAME, "--project-dir", built.folder, "--output", page)
    assert made.exit_code == 0, made.output
    text = page.read_text(encoding="utf-8")
    assert '<td class="mark">hidden</td>' in text
    assert "no true count of a hidden" in text


@pytest.mark.needs("report")
def test_a_release_that_cannot_be_read_is_named(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "unreadable")
    for change in ("write", "remove"):
        if change == "write":
            project.release_file(NAME).write_bytes(b"no database" * 1000)
        else:
            project.release_file(NAME).unlink()
        made = run("report", NAME, "--format", "md", "--project-dir", project.folder)
        said = " ".join(made.output.split())
        if change == "write":
            assert made.exit_code == 2, said
            assert f"{NAME}.duckdb: must be a DuckDB file with {NAME}_table that can be" in said
        else:
            assert made.exit_code == 0, said
            assert "Nothing: run" in said


def test_each_release_is_in_the_register_and_a_table_that_stays_is_not(
    built: Project, tmp_path: Path
) -> None:
    project = built.copy(tmp_path / "later")
    columns = "release, cells, hidden_cells, protection, content"
    (first,) = project.query(f"select {columns} from {NAME}_table_register")
    rows = released(project)
    hidden = sum(status == "hidden" for _, status in rows.values())
    assert first[:4] == (1, len(rows), hidden, "hide (birth_date 2, zip 1)")
    build(project)
    same = project.query(f"select {columns} from {NAME}_table_register order by release")
    assert same == [first, (2, *first[1:])]
    without_first_customer(project)
    assert "stays as it is" in build(project)
    assert project.query(f"select count(*) from {NAME}_table_register") == [(2,)]
    said = results(project)
    assert ", an earlier table, which stays, first on 20" in said
    assert "by hide (birth_date 2, zip 1)" in said
    history = results(project, "--history", "--format", "json")
    assert history.count('"release": ') == 2
    assert "released by hide (birth_date 2, zip 1)" in results(project, "--history")
    # Rounded tables change, and each is another one; none of it is known to the vault.
    efforts = [{"method": "round", "base": 9, "levels": {"birth_date": 2, "zip": 1}}]
    project.execute(f"drop table vault.{NAME}_table_releases")
    declare(project, efforts=efforts, shows=SHOWS)
    build(project)
    project.edit(SEED, lambda text: "\n".join(text.splitlines()[:-60]) + "\n")
    build(project)
    *_, third, fourth = project.query(f"select {columns} from {NAME}_table_register order by 1")
    assert third[3] == fourth[3] == "round (base 9, birth_date 2, zip 1)"
    assert third[4] != fourth[4]
    times = f"select count(distinct released_at) from vault.{NAME}_table_releases"
    assert project.query(times) == [(1,)]


@pytest.mark.needs("custody")
def test_the_register_stays_where_all_else_is_dropped(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "removed")
    place = ("--project-dir", project.folder, "--yes")
    removed = run("remove", NAME, "--drop", *place)
    assert removed.exit_code == 0, removed.output
    left = project.query("select table_name from duckdb_tables() where database_name = 'shop'")
    of_table = {name for (name,) in left if name.startswith(f"{NAME}_")}
    assert of_table == {f"{NAME}_table_register"}


@pytest.mark.needs("diff", "second_month")
@pytest.mark.parametrize("command", ["diff", "freeze"])
def test_commands_about_records_say_where_to_look(command: str, built: Project) -> None:
    refused = run(command, NAME, "--project-dir", built.folder)
    assert refused.exit_code == 2, refused.output
    said = " ".join(refused.output.split())
    assert f"`dbt-anonymize results {NAME}` shows it, with --history every release" in said


@pytest.mark.needs("custody", "report")
def test_an_erased_person_has_no_draw_and_the_table_stays(built: Project, tmp_path: Path) -> None:
    project = built.copy(tmp_path / "erased")
    before = released(project)
    remembered = f"select * from vault.{NAME}_table_releases order by all"
    known = project.query(remembered)
    key = (project.folder / SEED).read_text(encoding="utf-8").splitlines()[1].split(",")[0]
    command = ("erase", NAME, "--subject", key, "--yes", "--project-dir", project.folder)
    refused = run(*command)
    assert refused.exit_code == 2, refused.output
    assert "the source must have forgotten the person first" in refused.output
    assert without_first_customer(project) == key
    people = project.query(f"select count(*) from vault.{NAME}_table_draws")[0][0]
    erased = run(*command)
    assert erased.exit_code == 0, erased.output
    said = " ".join(erased.output.split())
    assert f"{NAME}_table_draws: 1 row" in said
    assert "or stays as it was" in said
    assert "No model makes these any more" not in said
    sql = f"select count(*), count(case when person = {key} then 1 end)"
    assert project.query(f"{sql} from vault.{NAME}_table_draws") == [(people - 1, 0)]
    receipts = project.query(f"select relation, finished_at is not null from vault.{NAME}_erasures")
    assert sorted(receipts) == [(f"{NAME}_microdata", True), (f"{NAME}_table_draws", True)]
    assert not project.query(
        "select 1 from duckdb_tables() where table_name like '%withheld' and database_name = "
        "'vault'"
    )
    # A released table is of many people, and cannot be recalled: it stays, and so does its memory.
    assert released(project) == before
    assert project.query(remembered) == known
    told = report(project)
    assert "an earlier table, which stays" in sentences(told)
    again = run(*command)
    assert again.exit_code == 2, again.output
    assert "nothing was found" in again.output
