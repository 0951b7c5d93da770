"""The command: what it reads and prints, how it exits, and what it leaves in files."""

from __future__ import annotations

import csv
import datetime
import io
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import Result

from dbt_anonymize.extensions.custody.commands import relink as relinking
from dbt_anonymize.output import show
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.results import read_results
from dbt_anonymize.project.warehouse import open_warehouse
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify.run import verify
from tests.extensions.custody.relink.running import (
    POLICY,
    SPEC,
    VAULT,
    Groups,
    as_csv,
    audit_of,
    groups_of,
    relink,
)
from tests.projects import Project
from tests.written import text_in

pytestmark = pytest.mark.sampled_tests(group="relink")

PLANTED = "Jane-of-the-test"
# Where the second block of a DuckDB file begins: after the headers and a block of the catalogue.
_LAST_BLOCK = 12_288 + 262_144


@pytest.fixture(scope="module")
def shop(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the stranger's project with a policy that allows re-linking; tests only ask."""
    project = built_consumer.copy(tmp_path_factory.mktemp("relinking") / "project")
    project.edit(SPEC, lambda text: text + POLICY)
    return project


@pytest.fixture(scope="module")
def groups(shop: Project) -> Groups:
    """Give who is in each released group."""
    return groups_of(shop)


def refused(project: Project, result: Result, says: str, *, code: int) -> dict[str, Any]:
    """Assert that nobody was shown and that the last attempt says so; return it."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert says in result.stderr
    last = audit_of(project)[-1]
    assert (last["outcome"], last["shown_people"]) == ("refused", 0)
    assert says in last["reason"]
    assert f"Recorded in customers_relinkings as attempt {last['attempt']}" in result.stderr
    return last


def test_the_release_file_itself_can_be_given(shop: Project, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    with duckdb.connect(str(shop.release_file("customers")), read_only=True) as release:
        release.execute(f"copy (from customers_anonymized limit 20) to '{file}'")
    result = relink(shop, "", str(file), "--format", "csv")
    assert result.exit_code == 0, result.output
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert rows[0] == ["cqi", "customer_id", "full name", "e-mail"]
    assert len(rows) > 20
    assert rows[1:] == sorted(rows[1:], key=lambda row: (row[0], int(row[1])))


def test_the_attempt_says_who_when_why_and_how_many(
    shop: Project, groups: Groups, monkeypatch: pytest.MonkeyPatch
) -> None:
    pwd = pytest.importorskip("pwd")
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME", "SUDO_USER"):
        monkeypatch.setenv(name, "somebody-else")
    before = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    cqi, group = next(iter(groups.items()))
    result = relink(shop, as_csv(cqi, cqi, "unknown"), purpose="quality review")
    heading, *lines = result.stdout.splitlines()
    assert heading.split() == ["cqi", "customer_id", "full", "name", "e-mail"]
    assert len(lines) == len(group)
    last = audit_of(shop)[-1]
    expected = {
        "os_user": pwd.getpwuid(os.getuid()).pw_name,
        "database_user": None,
        "purpose": "quality review",
        "given_rows": 3,
        "unknown_rows": 1,
        "shown_groups": 1,
        "shown_people": len(group),
        "outcome": "granted",
        "reason": "",
        "effort": 3,
    }
    assert {name: last[name] for name in expected} == expected
    assert before <= last["attempted_at"] <= before + datetime.timedelta(minutes=5)
    assert f"as attempt {last['attempt']}" in result.stderr


def test_a_refusal_exits_with_1(shop: Project, groups: Groups, tmp_path: Path) -> None:
    given = as_csv(next(iter(groups)))
    file = tmp_path / "people.csv"
    result = relink(shop, given, "--output", str(file), purpose=None)
    last = refused(shop, result, "the purpose must be one of", code=1)
    assert (last["purpose"], last["given_rows"]) == (None, 1)
    assert not file.exists()


def test_bad_input_exits_with_2_and_is_an_attempt_too(shop: Project) -> None:
    result = relink(shop, f"age\n{PLANTED}\n")
    refused(shop, result, "exactly one column cqi", code=2)
    result = relink(shop, "", f"/nowhere/{PLANTED}.csv")
    refused(shop, result, "no such file or directory", code=2)
    assert PLANTED not in str(audit_of(shop))


def test_an_unknown_name_is_no_attempt(shop: Project) -> None:
    relink(shop, "")
    before = audit_of(shop)
    result = relink(shop, as_csv("x"), name="customer")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Did you mean customers?" in result.stderr
    assert audit_of(shop) == before


def test_the_output_is_a_new_file_of_its_owner(
    shop: Project, groups: Groups, tmp_path: Path
) -> None:
    cqi, group = next(iter(groups.items()))
    file = tmp_path / "people.csv"
    arguments = ("--format", "csv", "--output", str(file))
    umask = os.umask(0)
    try:
        result = relink(shop, as_csv(cqi), *arguments)
    finally:
        os.umask(umask)
    assert (result.exit_code, result.stdout) == (0, "")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_text(encoding="utf-8")
    assert len(before.splitlines()) == len(group) + 1
    refused(shop, relink(shop, as_csv(cqi), *arguments), "is not there yet", code=2)
    assert file.read_text(encoding="utf-8") == before


def test_what_the_vault_writes_beside_its_file_is_for_its_owner(
    shop: Project, groups: Groups, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log of the vault holds the attempt, and is made while it is written."""
    log = shop.folder / "vault" / "vault.duckdb.wal"
    modes: list[int] = []

    def look_and_show(*arguments: Any) -> None:
        modes.append(stat.S_IMODE(log.stat().st_mode))
        show(*arguments)

    monkeypatch.setattr(relinking, "show", look_and_show)
    umask = os.umask(0)
    try:
        result = relink(shop, as_csv(next(iter(groups))))
        assert os.umask(0) == 0
    finally:
        os.umask(umask)
    assert result.exit_code == 0, result.output
    assert modes == [0o600]


def test_a_published_file_of_another_build_is_refused(consumer: Project) -> None:
    """As a build leaves it that is killed after it has published and before it commits."""
    consumer.edit(SPEC, lambda text: text + POLICY)
    given = as_csv(*groups_of(consumer))
    file = consumer.release_file("customers")
    with duckdb.connect(str(file)) as newer:
        newer.execute("update customers_anonymized set spending = spending + 1 where rowid = 0")
    says = "the published file must hold the rows of customers_anonymized in the warehouse"
    refused(consumer, relink(consumer, given), says, code=1)
    project = find_project(consumer.folder)
    found = verify(project, *load_specs(consumer.folder, ["customers"]), checks=["recomputation"])
    broken = {finding.subject for finding in found if finding.holds is False}
    assert broken == {"release file, customers_anonymized"}
    file.unlink()
    refused(consumer, relink(consumer, given), says, code=1)
    assert consumer.dbt("run", "-s", "customers_anonymized").succeeded
    assert relink(consumer, given).exit_code == 0


@pytest.mark.needs("identifier_search")
@pytest.mark.needs("attacks")
def test_a_release_file_with_broken_blocks_is_named_and_not_the_warehouse(
    consumer: Project,
) -> None:
    """Its catalogue can be read, so that the file opens; its rows cannot."""
    consumer.edit(SPEC, lambda text: text + POLICY)
    given = as_csv(*groups_of(consumer))
    file = consumer.release_file("customers")
    whole = file.read_bytes()
    file.write_bytes(whole[:_LAST_BLOCK] + bytes(len(whole) - _LAST_BLOCK))
    with duckdb.connect(str(file), read_only=True) as reader, pytest.raises(duckdb.Error):
        reader.table("customers_anonymized").fetchall()
    checks: tuple[str, ...] = ("guarantees", "content", "attacks")
    (spec,) = load_specs(consumer.folder, ["customers"])
    found = list(verify(find_project(consumer.folder), spec, checks=checks))
    assert [(finding.check, finding.holds) for finding in found] == [(c, False) for c in checks]
    for finding in found:
        assert f"{file}: the release file must be readable from end to end" in finding.message
        assert "Corrupt database file" in finding.message
    refused(consumer, relink(consumer, given), "customers.duckdb does not or cannot be", code=1)
    with open_warehouse(find_project(consumer.folder)) as warehouse:
        assert read_results(warehouse, "customers")


@pytest.mark.usefixtures("everything_logged")
def test_neither_logs_nor_a_terminal_get_what_they_must_not(consumer: Project) -> None:
    """The values of people and of what is given are in the answer, and nowhere else."""
    consumer.edit(SPEC, lambda text: text + POLICY)
    cqi, group = next(iter(groups_of(consumer).items()))
    consumer.execute(
        f"""update {VAULT} set "full name" = chr(27) || '[2J' || chr(8238) where cqi = '{cqi}'"""
    )
    result = relink(consumer, as_csv(cqi, PLANTED))
    assert result.exit_code == 0, result.output
    assert "\\x1b[2J\\u202e" in result.stdout
    assert "\x1b" not in result.output
    assert relink(consumer, as_csv(PLANTED)).exit_code == 2
    written = text_in(consumer.folder / "logs", consumer.folder / "target")
    assert "customers_identifiers" in written
    for value in (cqi, PLANTED, *(str(part) for person in group for part in person[1:])):
        assert value not in written
        assert value not in result.stderr
        assert value not in str(audit_of(consumer))


def test_a_running_build_is_told(shop: Project) -> None:
    code = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); "
        "print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(shop.folder / shop.warehouse)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        result = relink(shop, as_csv("x"))
        other.communicate("")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "must not be open in another process" in result.stderr
