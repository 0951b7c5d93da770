"""Quasi-identifiers that are `*` in every effort have no column in a release; all figures stay."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import run
from tests.projects import Project
from tests.vault.projects import copy_with, edit_spec

pytestmark = pytest.mark.sampled_tests(group="builds")
# `birth_date` and `gender`, an interval and a category, are starred; both are features.
EFFORTS = """
  - {birth_date: 4, zip: 2, gender: 1}
  - {birth_date: 4, zip: 1, gender: 1}
"""
FEATURES = "[order, spending, birth_date, zip, gender]"


def build(folder: Path, more: str) -> Project:
    """Build the efforts and ``more``; the first is released."""
    project = copy_with(folder, "guests")
    edit_spec(project, "guests", "\n  - {birth_date: 3, zip: 2, gender: 1}\n", EFFORTS + more)
    edit_spec(project, "guests", "[order, spending]", FEATURES)
    edit_spec(project, "guests", "alpha: 0.05\n", "alpha: 0.05\nrelease: {effort: 1}\n")
    project.build()
    return project


def columns_of(project: Project) -> list[str]:
    with duckdb.connect(str(project.release_file("guests")), read_only=True) as release:
        return [str(row[0]) for row in release.execute("describe guests_anonymized").fetchall()]


def figures(project: Project) -> list[tuple[object, ...]]:
    return project.query(
        "select r.effort, r.k, r.suppressed_records, r.qf_mean, r.qnf, p.highest_risk, l.loss, "
        "l.birth_date_loss, l.gender_loss from guests_results as r "
        "inner join guests_information_loss as l using (effort) "
        "inner join guests_privacy as p using (effort) where effort in (0, 1, 2) order by effort"
    )


def test_its_columns_are_not_released_and_nothing_else_changes(tmp_path: Path) -> None:
    without = build(tmp_path / "without", "")
    beside = build(tmp_path / "beside", "  - {birth_date: 3, zip: 2, gender: 0}\n")
    gone = ["birth_date", "birth_date_lower", "birth_date_upper", "gender"]
    columns = columns_of(beside)
    assert {*gone} < {*columns}
    assert [name for name in columns if name not in gone] == columns_of(without)
    shown = ", ".join(f'"{name}"' for name in columns_of(without))
    rows = f"select {shown} from release_guests.guests_anonymized order by all"
    assert without.query(rows) == beside.query(rows)
    # It is lost and counted as before, and the untouched table still has it.
    assert figures(without) == figures(beside)
    assert [row[-2:] for row in figures(without)[1:]] == [(1.0, 1.0)] * 2
    verified = run("verify", "guests", "--project-dir", without.folder)
    assert verified.exit_code == 0, verified.output
