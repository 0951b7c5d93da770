"""Consent: nobody who did not agree is in a release that leads back to people."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from tests.projects import Project
from tests.vault.projects import copy_with, edit_spec

pytestmark = pytest.mark.sampled_tests(group="builds")

Row = dict[str, str]


def refuses(row: Row) -> bool:
    return int(row["customer_id"]) % 7 == 0


def rewrite(project: Project, change: Callable[[Row], Row]) -> list[Row]:
    """Change every customer of the seed, and return them."""
    file = project.folder / "seeds" / "customers.csv"
    with file.open(encoding="utf-8", newline="") as opened:
        rows = [change(row) for row in csv.DictReader(opened)]
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return rows


def says_whether_they_agree(row: Row) -> Row:
    return row | {"agreed": "" if refuses(row) else "true"}


def project_with(folder: Path, change: Callable[[Row], Row]) -> tuple[Project, list[Row]]:
    """Copy the members, whose customers agreed or not."""
    project = copy_with(folder, "members")
    rows = rewrite(project, change)
    edit_spec(
        project, "members", "columns:", "consent: agreed\ncolumns:\n  agreed: {role: dropped}"
    )
    return project, rows


@pytest.fixture(scope="module")
def agreed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project, _ = project_with(
        tmp_path_factory.mktemp("consent") / "project", says_whether_they_agree
    )
    outcome = project.build()
    assert "67 of 400 records are of people without consent (agreed), and take no part" in (
        outcome.messages
    )
    return project


def test_nobody_is_released_without_consent(agreed: Project) -> None:
    """Recounted through the vault, by the tokens of the release."""
    rows = agreed.query(
        "select customer_id, has_consent, token in (select token from"
        " release_members.members_anonymized) from vault.main.members_identifiers"
    )
    assert len(rows) == 400
    assert {has_consent == (number % 7 != 0) for number, has_consent, _ in rows} == {True}
    assert not [number for number, _, is_released in rows if number % 7 == 0 and is_released]
    assert sum(is_released or False for *_, is_released in rows) > 250
    none = "select count(*), count(token) from vault.main.members_identifiers where not has_consent"
    assert agreed.query(none) == [(67, 0)]
    assert agreed.query("select count(*) from vault.main.members_tokens") == [(333,)]
    assert agreed.query("select count(*) from members_microdata") == [(333,)]


def verify(project: Project) -> tuple[int, str]:
    command = ["verify", "members", "--check", "recomputation", "--project-dir"]
    result = CliRunner().invoke(
        app, [*command, str(project.folder)], env={"DBT_PROFILES_DIR": str(project.folder)}
    )
    return result.exit_code, result.output


def test_verify_recounts_who_agreed(agreed: Project, tmp_path: Path) -> None:
    project = agreed.copy(tmp_path / "project")
    assert verify(project)[0] == 0, verify(project)[1]
    rewrite(project, lambda row: row | {"agreed": "true"})
    project.dbt("seed", "-s", "customers", "--full-refresh")
    code, output = verify(project)
    assert code == 1, output


def test_whoever_withdraws_is_gone_with_the_next_build(agreed: Project, tmp_path: Path) -> None:
    project = agreed.copy(tmp_path / "project")
    released = (
        "select min(customer_id) from vault.main.members_identifiers where token in"
        " (select token from release_members.members_anonymized)"
    )
    [(her,)] = project.query(released)
    hers = f"where customer_id = {her}"
    [(token,)] = project.query(f"select token from vault.main.members_identifiers {hers}")
    rewrite(project, lambda r: r | ({"agreed": "false"} if r["customer_id"] == str(her) else {}))
    project.build("--full-refresh")
    said = "select token, has_consent from vault.main.members_identifiers "
    assert project.query(said + hers) == [(None, False)]
    stands = f"select count(*) from release_members.members_anonymized where token = '{token}'"
    assert project.query(stands) == [(0,)]
    # What leads to her from a release of before.
    assert project.query(
        f"select count(*) from vault.main.members_tokens where token = '{token}'"
    ) == [(1,)]


def test_a_subject_who_refuses_in_one_record_refuses(tmp_path: Path) -> None:
    """With groups for a mapping, where a subject may have several records."""

    def share_addresses(row: Row) -> Row:
        number = int(row["customer_id"]) // 2
        return says_whether_they_agree(row) | {"e-mail": f"c{number}@example.org"}

    project, rows = project_with(tmp_path / "project", share_addresses)
    edit_spec(project, "members", "mapping: token", "mapping: class")
    project.build()
    refusing = {row["e-mail"] for row in rows if refuses(row)}
    out = {int(row["customer_id"]) for row in rows if row["e-mail"] in refusing}
    assert len(out) > 67
    taking = {number for (number,) in project.query("select customer_id from members_microdata")}
    assert taking == {int(row["customer_id"]) for row in rows} - out
    vault = project.query(
        "select customer_id, has_consent, cqi from vault.main.members_identifiers"
    )
    assert {number for number, has_consent, _ in vault if not has_consent} == out
    assert not [number for number, _, cqi in vault if number in out and cqi is not None]
    assert verify(project)[0] == 0, verify(project)[1]


def test_a_record_without_a_subject_answers_for_itself(tmp_path: Path) -> None:
    """A record of nobody known has no other that could refuse."""

    def of_nobody(row: Row) -> Row:
        return says_whether_they_agree(row) | ({"e-mail": ""} if refuses(row) else {})

    project, _ = project_with(tmp_path / "project", of_nobody)
    edit_spec(project, "members", "mapping: token", "mapping: class")
    project.build()
    assert project.query(
        "select count(*), count(*) filter (where customer_id % 7 = 0) from members_microdata"
    ) == [(333, 0)]
    vault = "select has_consent, count(*), count(cqi) from vault.main.members_identifiers"
    assert (False, 67, 0) in project.query(f"{vault} group by has_consent")
    assert verify(project)[0] == 0, verify(project)[1]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("false", "nobody agreed: agreed is true for no subject"),
        ("yes", "the column of consent agreed must be boolean; it is "),
    ],
)
def test_what_is_no_consent_stops_the_build(tmp_path: Path, answer: str, said: str) -> None:
    project, _ = project_with(tmp_path / "project", lambda row: row | {"agreed": answer})
    assert project.dbt("seed").succeeded
    outcome = project.dbt("run", "-s", "members_microdata")
    assert not outcome.succeeded
    assert said in outcome.messages


@pytest.mark.needs("partitions")
def test_partitions_follow_consent(agreed: Project, tmp_path: Path) -> None:
    """A partition is made anew when somebody in it withdraws."""
    project = agreed.copy(tmp_path / "project")
    edit_spec(project, "members", "subject: e-mail", "partition_by: gender")
    upstream = ("run", "-s", "members_partitions", "members_microdata_parts", "members_microdata")
    count = "select count(*) from members_microdata"
    assert project.dbt(*upstream).succeeded
    assert project.query(count) == [(333,)]
    rewrite(project, lambda row: row | ({"agreed": "false"} if row["gender"] == "diverse" else {}))
    assert project.dbt("seed", "-s", "customers", "--full-refresh").succeeded
    assert project.dbt(*upstream).succeeded
    assert project.query(f"{count} where gender = 'diverse'") == [(0,)]
    assert project.query(count)[0][0] < 333
