"""The report of a demonstration, by its command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from tests.projects import Project


def test_a_report_is_small_and_holds_nobody(demo: Project, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    command = ["report", "fertility_clinic", "--project-dir", str(demo.folder)]
    environment = {"DBT_PROFILES_DIR": str(demo.folder)}
    made = CliRunner().invoke(app, [*command, "--output", str(file)], env=environment)
    assert made.exit_code == 0, made.output
    assert file.stat().st_size < 3_000_000
    page = file.read_text(encoding="utf-8")
    assert "<h1>fertility_clinic</h1>" in page
    (chosen,) = demo.query("select effort from main.fertility_clinic_results where is_chosen")[0]
    assert f"generalized (effort {chosen})" in page
    people = demo.query(
        "select patient_number, email, phone, address from vault.fertility_clinic_identifiers"
    )
    assert people
    # Digits within a longer number are no patient number.
    held = set(re.split(r"[^\w.@+-]", page))
    assert not [value for person in people for value in person if str(value) in held]
    assert not [text for person in people for text in person[2:] if text in page]
    charts = json.loads(page.split('id="charts">')[1].split("</script>")[0])
    drawn = {"quality", "plane", "class_sizes", "risks", "columns", "labels_0", "labels_1"}
    assert {*drawn, "losses", "roc", "precision_recall", "calibration"} <= set(charts)


def test_charts_that_are_not_installed_are_said_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dbt_anonymize.cli.report.find_spec", lambda _name: None)
    made = CliRunner().invoke(app, ["report", "people"])
    assert made.exit_code == 2
    assert "pip install 'dbt-anonymize[report]'" in made.output
