"""Releases of linked tables before and after a change, as the register and `diff` show them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.project.generate import generate
from tests.commands.conftest import command
from tests.extensions.linked.hospital import write
from tests.projects import Project

COLUMNS = "levels, joint_k, records, raised_records, hidden_records, left_out_records, loss"
SPEC = "anonymizations/hospital.yml"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return the project, built twice: the second time with coarser months, and fewer stays."""
    project = write(tmp_path_factory.mktemp("hospital") / "project", release={"effort": 1})
    generate(project.folder)
    project.build("-s", "+hospital_anonymized")
    project.edit(SPEC, lambda text: text.replace("effort: 1", "effort: 3"))
    project.edit("seeds/clinic_stays.csv", lambda text: text.replace(",heart,12,", ",skin,12,"))
    generate(project.folder)
    project.build("-s", "+hospital_anonymized")
    return project


def losses(project: Project, effort: int) -> dict[str, Any]:
    """Return the figures of an effort of the last build, by table and name."""
    rows = project.query(
        f"select linked_table, {COLUMNS} from hospital_linked_losses where effort = {effort}"
    )
    return {
        f"{table}.{name}": figure
        for table, *figures in rows
        for name, figure in zip(COLUMNS.split(", "), figures, strict=True)
    }


def test_each_release_keeps_the_figures_of_its_linked_tables(built: Project) -> None:
    releases = built.query(
        f"select release, linked_table, {COLUMNS} from hospital_linked_register order by 1, 2"
    )

    assert [row[:2] for row in releases] == [
        (1, "results"),
        (1, "stays"),
        (2, "results"),
        (2, "stays"),
    ]
    assert [row[2:4] for row in releases if row[1] == "stays"] == [
        ("ward 1, month 3", 4),
        ("ward 1, month 2", 4),
    ]
    now = losses(built, 3)
    for _, table, *figures in releases[2:]:
        assert figures == [now[f"{table}.{name}"] for name in COLUMNS.split(", ")]


def test_stays_that_changed_are_data_that_changed(built: Project) -> None:
    ((before, after),) = built.query(
        "select min(source), max(source) from hospital_register having count(*) = 2"
    )
    assert before != after


@pytest.mark.needs("diff")
def test_diff_shows_each_linked_table_before_and_after(built: Project) -> None:
    result = command(built, "diff", "hospital", "--format", "json")

    assert result.exit_code == 0, result.output
    rows = {row["figure"]: row for row in map(json.loads, result.stdout.splitlines())}
    for name, after in losses(built, 3).items():
        assert rows[name]["after"] == after
    assert rows["stays.levels"]["before"] == "ward 1, month 3"
    assert rows["results.records"]["before"] == rows["results.records"]["after"]
    said = " ".join(command(built, "diff", "hospital").output.split())
    assert "stays.levels ward 1, month 3 ward 1, month 2" in said
    assert "the data changed" in said


@pytest.mark.needs("diff")
def test_diff_compares_with_what_another_branch_built(built: Project, tmp_path: Path) -> None:
    main = tmp_path / "main.json"
    main.write_text(command(built, "results", "--history", "--format", "json").stdout)

    result = command(built, "diff", "hospital", "--against", str(main), "--format", "json")

    assert result.exit_code == 0, result.output
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    beside = [row for row in rows if "." in row["figure"]]
    assert len(beside) == 14
    assert all(row["before"] == row["after"] is not None for row in beside)


@pytest.mark.needs("diff")
def test_a_choice_that_differs_in_linked_tables_alone_is_no_release(
    built: Project, tmp_path: Path
) -> None:
    project = built.copy(tmp_path / "project")
    project.execute("update hospital_linked_losses set hidden_records = 999 where effort = 3")

    said = " ".join(command(project, "diff", "hospital").output.split())

    assert "what the last build chose, against release 2" in said
    assert "stays.hidden_records" in said
    assert " 999 " in said


def test_releases_of_a_dropped_register_are_not_mixed_with_new_ones(
    built: Project, tmp_path: Path
) -> None:
    project = built.copy(tmp_path / "project")
    project.execute("drop table hospital_register")

    project.build("-s", "+hospital_anonymized")

    tables = project.query("select release, linked_table from hospital_linked_register order by 2")
    assert tables == [(1, "results"), (1, "stays")]
