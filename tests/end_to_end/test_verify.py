"""The command that checks what is promised, on the demonstrations as `make demo` leaves them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner, Result

from dbt_anonymize.cli import app
from dbt_anonymize.verify.checks import check_names
from tests.docs.pages import DOCS
from tests.projects import Project

DEMOS = ("fertility_clinic", "wdbc", "wdbc_nested")
# Those that find something in the demonstrations, and whose extension is here.
CHECKS = {"provenance", "content", "recomputation", "guarantees", "attacks", "audit"}
CHECKS &= {*check_names()}


def verify(project: Project, *arguments: str) -> Result:
    """Run the command with the project's own profile."""
    command = ["verify", *arguments, "--project-dir", str(project.folder)]
    return CliRunner().invoke(
        app, command, env={"DBT_PROFILES_DIR": str(project.folder), "COLUMNS": "200"}
    )


def findings(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def verified(demo: Project) -> Result:
    return verify(demo, "--format", "json")


def test_every_promise_of_the_demonstrations_holds(verified: Result) -> None:
    found = findings(verified)
    assert [finding for finding in found if finding["holds"] is False] == []
    assert verified.exit_code == 0, verified.output
    for name in DEMOS:
        checks = Counter(f["check"] for f in found if f["anonymization"] == name and f["holds"])
        assert checks.keys() == CHECKS, name


@pytest.mark.needs("attacks")
def test_two_releases_of_the_same_tumours_are_warned_of(verified: Result) -> None:
    warned = [
        finding
        for finding in findings(verified)
        if finding["check"] == "attacks" and "release wdbc" in finding["subject"]
    ]
    assert any(finding["is_warning"] for finding in warned)
    assert not any(
        finding["is_warning"] for finding in findings(verified) if "effort " in finding["subject"]
    )


@pytest.mark.needs("attacks")
def test_attacks_are_a_relation_of_the_warehouse(demo: Project, verified: Result) -> None:
    assert verified.exit_code == 0
    for name in DEMOS:
        rows = demo.query(f"select distinct attack from main.{name}_attacks")
        assert {"linkage", "composition", "membership_inference"} <= {attack for (attack,) in rows}
        released = f"select content, spec from main.{name}_register order by release desc limit 1"
        about = f"select distinct content, spec from main.{name}_attacks"
        assert demo.query(about) == demo.query(released)


@pytest.mark.needs("attacks", "dossier", "provenance")
def test_findings_are_kept_and_a_dossier_is_made_of_them(
    demo: Project, verified: Result, tmp_path: Path
) -> None:
    """The lines that the page shows are those of the dossier."""
    told = [
        (f["check"], f["subject"], f["message"])
        for f in findings(verified)
        if f["anonymization"] == "wdbc_nested"
    ]
    kept = demo.query("select proof, subject, message from main.wdbc_nested_verification")
    assert Counter(kept) == Counter(told)
    command = ["dossier", "wdbc_nested", "--project-dir", str(demo.folder)]
    environment = {"DBT_PROFILES_DIR": str(demo.folder)}
    made = CliRunner().invoke(app, command, env=environment)
    assert made.exit_code == 0, made.output
    page = (DOCS / "extensions" / "dossier.md").read_text(encoding="utf-8").splitlines()
    shown = [line for line in page if line.startswith("|") and "wdbc_nested_" in line]
    assert len(shown) == 4
    assert [line for line in shown if line not in made.output.splitlines()] == []
    said = made.output.replace("what is missing is said to be missing", "")
    assert "missing" not in said.replace("missing: its extension is not here", "")
    assert "Not verified" not in made.output
    assert "What was built last is not" not in made.output
    file = tmp_path / "dossier.html"
    command += ["--format", "html", "--output", str(file)]
    assert CliRunner().invoke(app, command, env=environment).exit_code == 0
    assert "<h1>Dossier: wdbc_nested</h1>" in file.read_text(encoding="utf-8")


def test_no_finding_shows_a_value_of_a_person(demo: Project, verified: Result) -> None:
    people = demo.query(
        "select patient_number, email, phone, address from vault.fertility_clinic_identifiers"
    )
    assert not [value for person in people for value in person if str(value) in verified.output]


def test_a_release_that_was_changed_is_reported_with_exit_code_1(
    demo: Project, tmp_path: Path
) -> None:
    project = demo.copy(tmp_path / "changed")
    file = project.release_file("wdbc_nested")
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "delete from wdbc_nested_anonymized where rowid in "
            "(select max(rowid) from wdbc_nested_anonymized group by cqi limit 1)"
        )
    checks = ("recomputation", "guarantees", *({"attacks"} & CHECKS))
    options = [option for check in checks for option in ("--check", check)]
    result = verify(project, "wdbc_nested", *options)
    assert result.exit_code == 1
    assert "FAILED" in result.output
    assert "promises do not hold" in result.output


def test_what_holds_is_counted_and_shown_when_asked(demo: Project) -> None:
    short = verify(demo, "wdbc", "--check", "recomputation")
    long = verify(demo, "wdbc", "--check", "recomputation", "--verbose")
    assert (short.exit_code, long.exit_code) == (0, 0), short.output
    assert len(short.output.splitlines()) < len(long.output.splitlines())
    assert "promises hold" in short.output
    assert "wdbc_anonymized" not in short.output
    assert "wdbc_anonymized" in long.output


def test_what_is_not_built_cannot_be_verified(demo: Project, tmp_path: Path) -> None:
    project = demo.copy(tmp_path / "unbuilt")
    project.release_file("wdbc").unlink()
    result = verify(project, "wdbc", "--check", "recomputation")
    assert result.exit_code != 0
    assert "dbt build" in result.output


@pytest.mark.sampled_tests(group="builds")
def test_what_the_last_build_did_stays_known(demo: Project) -> None:
    """To `dbt retry`, and to `dbt-anonymize results`."""
    kept = demo.folder / "target" / "run_results.json"
    before = kept.read_bytes()
    verify(demo, "wdbc", "--check", "recomputation")
    assert kept.read_bytes() == before


@pytest.mark.needs("provenance")
@pytest.mark.sampled_tests(group="builds")
def test_what_runs_beside_the_models_is_named_and_what_it_did_is_found(
    demo: Project, tmp_path: Path
) -> None:
    project = demo.copy(tmp_path / "hooked")
    hook = "\non-run-end: \"update main.wdbc_microdata set diagnosis = 'M'\"\n"
    project.edit("dbt_project.yml", lambda text: text + hook)
    project.execute("update main.wdbc_microdata set diagnosis = 'M'")
    checks = ("--check", "provenance", "--check", "recomputation")
    result = verify(project, "wdbc", *checks, "--format", "json")
    assert result.exit_code == 1, result.output
    warned = {f["subject"]: f["message"] for f in findings(result) if f["is_warning"]}
    assert "on-run hook" in warned["dbt_anonymize-on-run-end-0"]
    problems = {f["subject"] for f in findings(result) if f["holds"] is False}
    assert problems == {"wdbc_microdata"}
