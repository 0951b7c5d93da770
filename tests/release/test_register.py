"""The register says what each release was, and what it shows together with the one before."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import run
from tests.projects import Project


def test_the_register_is_shown_without_a_record(
    built_consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(built_consumer.folder))
    where = ("--project-dir", built_consumer.folder)
    result = run("results", "customers", "--history", "--format", "json", *where)
    assert result.exit_code == 0, result.output
    (row,) = [json.loads(line) for line in result.stdout.splitlines()]
    names = "effort, k, records, suppressed_records, qf_mean, qf_low, qf_high, qnf, q, fingerprint"
    (chosen,) = built_consumer.query(f"select {names} from customers_results where is_chosen")
    shown = names.replace("qf_mean", "qf").replace("fingerprint", "spec").split(", ")
    assert tuple(row[name] for name in shown) == chosen
    ((classes, records, highest, average),) = built_consumer.query(
        "select equivalence_classes, released_records, highest_risk, average_risk "
        f"from customers_privacy where effort = {chosen[0]}"
    )
    assert (row["release"], row["equivalence_classes"]) == (1, classes)
    assert row["released_records"] == records == len(built_consumer.release("customers"))
    assert (row["highest_risk"], row["average_risk"]) == (highest, average)
    assert row["joined_records"] is row["is_source_changed"] is None
    # Whoever knew all records but one could try which one gives the digest of the source.
    ((digest,),) = built_consumer.query("select source from customers_register")
    assert len(digest) == 8
    assert digest not in result.stdout
    read = run("results", "customers", "--history", "--format", "csv", *where)
    (line,) = csv.DictReader(io.StringIO(read.stdout))
    assert line == {name: "" if value is None else str(value) for name, value in row.items()}
    table = run("results", "--history", *where).stdout
    assert "customers: 1 release" in table
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize("is_released", [True, False])
def test_without_a_register_the_history_says_what_begins_one(
    built_consumer: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_released: bool
) -> None:
    project = built_consumer.copy(tmp_path / "project")
    project.execute("drop table customers_register")
    if not is_released:
        project.release_file("customers").unlink()
    monkeypatch.setenv("DBT_PROFILES_DIR", str(project.folder))
    result = run("results", "--history", "--project-dir", project.folder)
    said = " ".join(result.output.split())
    assert "customers_register must have a release to be shown" in said
    assert ("is older than the register" in said) == is_released
    assert ("nothing is released" in said) != is_released
    assert "dbt build" in said
    assert "0 releases" not in said
