"""The command, where it needs what lies beside a build: modes, earlier releases, attempts."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import duckdb
import pytest
from typer.testing import CliRunner, Result

from dbt_anonymize.cli import app
from dbt_anonymize.errors import VerificationError
from dbt_anonymize.extension import Reads
from dbt_anonymize.project import warehouse as warehouse_module
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.spec import load_specs
from dbt_anonymize.verify import run as module
from dbt_anonymize.verify.checks import checks_that_read, names_on_rows
from dbt_anonymize.verify.finding import Finding
from dbt_anonymize.verify.run import verify
from tests.extensions import has
from tests.projects import Project


def run(project: Project, *arguments: str) -> Result:
    from dbt.adapters.duckdb.connections import DuckDBConnectionManager

    command = ["verify", *arguments, "--format", "json", "--project-dir", str(project.folder)]
    result = CliRunner().invoke(app, command, env={"DBT_PROFILES_DIR": str(project.folder)})
    DuckDBConnectionManager.close_all_connections()
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def broken(result: Result) -> dict[str, str]:
    found: list[dict[str, Any]] = [
        json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")
    ]
    return {f["subject"]: f["message"] for f in found if f["holds"] is False}


def test_reading_leaves_an_open_vault_open_and_verify_reports_it(
    built_consumer: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = built_consumer.copy(tmp_path / "project")
    built_manifest = (project.folder / "target" / "manifest.json").read_bytes()
    folder = project.folder / "vault"
    file = folder / "vault.duckdb"
    folder.chmod(0o755)
    file.chmod(0o644)
    environment = {"DBT_PROFILES_DIR": str(project.folder)}
    tried = [["search", "customers", "--dry-run"]] if has("search") else []
    for command in (["results"], *tried):
        arguments = [*command, "--project-dir", str(project.folder)]
        assert CliRunner().invoke(app, arguments, env=environment).exit_code != 2
    with monkeypatch.context() as patched:
        parsed = Mock(side_effect=warehouse_module.parse_project)
        patched.setattr(warehouse_module, "parse_project", parsed)
        proofs = ["provenance"] if has("provenance") else []
        checks = [option for one in (*proofs, "recomputation") for option in ("--check", one)]
        result = run(project, "customers", *checks)
    assert result.exit_code == 1
    # Compiling and the checks work on one reading of the project, and leave that of the build.
    assert parsed.call_count == 1
    assert (project.folder / "target" / "manifest.json").read_bytes() == built_manifest
    assert {name: text for name, text in broken(result).items() if "vault" in name} == {
        "vault": "the mode of the vault is 755; others must not have access. "
        "Run `chmod 700 vault`.",
        "vault/vault.duckdb": "the mode of the vault is 644; others must not have access. "
        "Run `chmod 600 vault/vault.duckdb`.",
    }
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, file)] == [0o755, 0o644]
    assert project.dbt("run", "-s", "customers_microdata").succeeded
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, file)] == [0o700, 0o600]
    again = run(project, "customers", "--check", "recomputation")
    assert (again.exit_code, broken(again)) == (0, {}), again.output


def test_findings_have_the_digests_of_the_rows_that_were_verified(consumer: Project) -> None:
    assert run(consumer, "customers", "--check", "recomputation").exit_code == 0
    (released,) = consumer.query("select content, spec from customers_register")
    assert len(released[0]) == 8
    assert consumer.query("select distinct content, spec from customers_verification") == [released]


@pytest.mark.needs("custody", "dossier", "report")
def test_findings_belong_to_the_rows_that_were_verified(consumer: Project) -> None:
    """Another release is not vouched for, nor one that is older than digests."""

    def says(command: str) -> str:
        arguments = [command, "customers", "--project-dir", str(consumer.folder)]
        arguments += ["--format", "md"] if command == "report" else []
        environment = {"DBT_PROFILES_DIR": str(consumer.folder)}
        out = consumer.folder / "customers.md"
        result = CliRunner().invoke(app, [*arguments, "--output", str(out)], env=environment)
        assert result.exit_code == 0, result.output
        return " ".join(out.read_text(encoding="utf-8").split())

    assert run(consumer, "customers", "--check", "recomputation").exit_code == 0
    (released,) = consumer.query("select content, spec from customers_register")
    assert "Verified independently of the build" in says("report")
    assert "Not verified" not in says("dossier")
    # As a build does that releases other rows and runs nothing else.
    released_rows = "main_release.customers_anonymized"
    consumer.execute(f"delete from {released_rows} where rowid = 0")
    digest = "count(*) || ' ' || sum(hash(hash(released)))"
    consumer.execute(
        "update customers_register set content = "
        f"(select md5({digest})[:8] from {released_rows} as released)"
    )
    for command in ("report", "dossier"):
        text = says(command)
        assert "the last verification is of another release than the published one" in text
    run(consumer, "customers", "--check", "audit")
    ((audited,),) = consumer.query(
        "select content from customers_verification where proof = 'audit' limit 1"
    )
    assert [(audited,)] == consumer.query("select content from customers_register")
    assert audited != released[0]
    # What an earlier version has written.
    consumer.execute(
        "alter table customers_register drop column content;"
        "alter table customers_verification drop column content"
    )
    assert "the last verification is of an unknown release" in says("report")
    run(consumer, "customers", "--check", "audit")


@pytest.mark.parametrize("names", [[], ["customers", "customers"]])
def test_what_is_about_one_anonymization_needs_its_name(
    built_consumer: Project, names: list[str]
) -> None:
    result = run(built_consumer, *names, "--earlier", "a.duckdb")
    assert result.exit_code == 2
    assert "exactly one NAME" in result.output


@pytest.mark.needs("custody")
def test_an_attempt_that_is_gone_is_reported(built_consumer: Project, tmp_path: Path) -> None:
    project = built_consumer.copy(tmp_path / "project")
    environment = {"DBT_PROFILES_DIR": str(project.folder)}
    command = ["relink", "customers", "-", "--purpose", "contact tracing"]
    arguments = [*command, "--project-dir", str(project.folder)]
    for _ in range(3):
        CliRunner().invoke(app, arguments, input="cqi\nx\n", env=environment)
    check = ["customers", "--check", "audit"]
    kept = run(project, *check)
    assert (kept.exit_code, broken(kept)) == (0, {}), kept.output
    project.execute("delete from vault.customers_relinkings where attempt = 2")
    lost = run(project, *check)
    assert lost.exit_code == 1
    assert "1 of 3 are missing" in broken(lost)["customers_relinkings"]


@pytest.mark.needs("custody")
def test_another_warehouse_is_refused_in_each_proof_on_rows(
    built_consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only provenance and what the vault keeps can be checked where no rows are read."""
    elsewhere = SimpleNamespace(
        is_duckdb=False,
        kind="snowflake",
        adapter=SimpleNamespace(type=lambda: "snowflake"),
        manifest=None,
    )

    @contextmanager
    def opened(*_: object, **__: object) -> Iterator[Any]:
        yield elsewhere

    monkeypatch.setattr(module, "open_warehouse", opened)
    monkeypatch.setattr(module, "is_built", lambda *_: True)
    monkeypatch.setattr(
        module,
        "checks_that_read",
        lambda reads: [] if reads is Reads.sources else checks_that_read(reads),
    )
    monkeypatch.setattr(module, "write_findings", lambda *_: None)
    audited = Finding("audit", "customers_relinkings", True, "whole.")
    monkeypatch.setattr(module, "run_check", lambda *_: [audited])
    (spec,) = load_specs(built_consumer.folder, ["customers"])
    project = find_project(built_consumer.folder)
    of_vault = len([*checks_that_read(Reads.vault)])
    found = [*verify(project, spec)]
    refused = found[:-of_vault]
    assert found[-of_vault:] == [audited] * of_vault
    assert [finding.check for finding in refused] == [*names_on_rows()]
    for finding in refused:
        assert finding.holds is False
        assert "the warehouse is snowflake" in finding.message
    (finding,) = verify(project, spec, checks=["guarantees"])
    assert finding.check == "guarantees"
    assert list(verify(project, spec, checks=["audit"])) == [audited]
    with pytest.raises(VerificationError, match="got guarantee"):
        list(verify(project, spec, checks=["guarantee"]))


def test_guarantees_that_cannot_be_counted_do_not_hold(consumer: Project) -> None:
    """Somebody changed the source since the build, so nothing follows from it."""
    consumer.build("--select", "+customers_anonymized")
    seed = consumer.folder / "seeds" / "customers.csv"
    seed.write_text(seed.read_text("utf-8").replace(",yes\n", ",no\n", 1), encoding="utf-8")
    assert consumer.dbt("seed", "--select", "customers").succeeded
    result = run(consumer, "--check", "guarantees")
    assert result.exit_code == 1, result.output
    assert "guarantees must be counted on what follows" in broken(result)["customers"]


def test_a_check_whose_statement_is_refused_fails_and_the_others_run() -> None:
    def refused() -> list[Finding]:
        duckdb.sql("select cast('Sofia' as integer)").fetchall()
        return []

    spec = Mock(name="spec")
    spec.name = "customers"
    warehouse = Mock(kind="duckdb")
    (finding,) = module._run_or_fail("attacks", spec, refused, warehouse)
    assert (finding.check, finding.holds) == ("attacks", False)
    assert "the warehouse refused a statement (ConversionException)" in finding.message
    assert "Sofia" not in finding.message
    with pytest.raises(ZeroDivisionError):
        module._run_or_fail("attacks", spec, lambda: [1 // 0], warehouse)
