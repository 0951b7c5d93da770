"""`dbt-anonymize doctor`: what would stop a build, and what to do, one line each."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import run
from tests.projects import Project

pytestmark = [pytest.mark.dbt, pytest.mark.sampled_tests(3)]


def findings(folder: Path) -> dict[str, tuple[str, str]]:
    """Return status and text of each check."""
    lines = run("doctor", "--project-dir", folder).stdout.splitlines()
    parts = [(line[:4].strip(), *line[6:].split(": ", 1)) for line in lines]
    return {check: (status, text) for status, check, text in parts}


def test_a_sound_project_passes_and_is_not_changed(consumer: Project) -> None:
    before = {p: p.stat().st_mtime_ns for p in consumer.folder.rglob("*") if p.is_file()}
    done = run("doctor", "--project-dir", consumer.folder)
    assert done.exit_code == 0, done.output
    found = findings(consumer.folder)
    for check in ("Python", "dbt", "project", "dbt package", "profile", "warehouse", "vault"):
        assert found[check][0] == "ok", check
    assert found["anonymizations"] == ("ok", "customers")
    assert found["models"][0] == "ok"
    assert found["disk"][0] in {"ok", "note"}
    after = {p: p.stat().st_mtime_ns for p in consumer.folder.rglob("*") if p.is_file()}
    assert {p for p in after if before.get(p) != after[p]} <= {
        p for p in after if "logs" in p.parts or p.name == ".user.yml"
    }


def _edit(file: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / file).read_text()
        assert old in text
        (folder / file).write_text(text.replace(old, new))

    return change


def _lose(name: str) -> Callable[[Path], None]:
    return lambda folder: shutil.rmtree(folder / name)


def _lose_link(folder: Path) -> None:
    (folder / "dbt_packages" / "dbt_anonymize").unlink()


@pytest.mark.parametrize(
    ("change", "check", "says"),
    [
        (_lose_link, "dbt package", "Run `dbt-anonymize new`."),
        (_edit("profiles.yml", "alias: vault", "alias: safe"), "vault", "attach a file as vault"),
        (_lose("vault"), "vault", "Run `mkdir -m 700"),
        (_lose("warehouse"), "warehouse", "Run `mkdir -p"),
        (_edit("profiles.yml", "vault/vault.duckdb", "vault.duckdb"), "vault", "holds the project"),
        (_edit("profiles.yml", "type: duckdb", "type: nothing"), "profile", "See `dbt debug`."),
        (_edit("anonymizations/customers.yml", "alpha: 0.05", "alpha: -1"), "anonymizations", "-1"),
        (_edit("anonymizations/customers.yml", "alpha: 0.05", "alpha: 1"), "models", "generate"),
    ],
)
def test_what_stops_a_build_is_named_with_its_remedy(
    consumer: Project, change: Callable[[Path], None], check: str, says: str
) -> None:
    change(consumer.folder)
    done = run("doctor", "--project-dir", consumer.folder)
    assert done.exit_code == 1
    status, text = findings(consumer.folder)[check]
    assert status == "stop"
    assert says in text
    quiet = run("doctor", "-q", "--project-dir", consumer.folder)
    assert quiet.stdout.startswith(("stop", "note"))
    assert "ok  " not in quiet.stdout


def test_a_missing_vault_of_a_built_project_is_never_made_by_reading(consumer: Project) -> None:
    vault = consumer.folder / "vault" / "vault.duckdb"
    vault.unlink()
    status, text = findings(consumer.folder)["vault"]
    assert status == "stop"
    assert "must exist, since customers was built; there is no" in text
    assert "put back a backup" in text
    needing = {
        ("verify",),
        ("relink", "customers", "1"),
        ("erase", "customers", "--subject", "1", "--yes"),
        ("vault", "adopt", "--yes"),
    }
    for command in needing | {("results",), ("results", "--history"), ("diff",)}:
        done = run(*command, "--project-dir", consumer.folder)
        assert not vault.exists(), command
        if command in needing:
            assert done.exit_code == 2, command
            assert "must exist" in done.output, command
            assert "put back a backup" in " ".join(done.output.split()), command
    assert run("results", "--project-dir", consumer.folder).exit_code == 0


def test_a_project_that_was_never_built_needs_no_vault(consumer: Project) -> None:
    (consumer.folder / "vault" / "vault.duckdb").unlink()
    (consumer.folder / consumer.warehouse).unlink()
    assert findings(consumer.folder)["vault"][0] == "ok"


def test_a_missing_hierarchy_is_named_before_anything_is_generated(consumer: Project) -> None:
    seed = consumer.folder / "seeds" / "customers_hierarchy_zip.csv"
    renamed = seed.rename(seed.with_stem("customers_hierarchy_zips"))
    found = findings(consumer.folder)
    assert found["sources"][0] == "stop"
    assert "customers reads customers_hierarchy_zip, which must be" in found["sources"][1]
    assert "Did you mean customers_hierarchy_zips?" in found["sources"][1]
    assert "models" not in found
    generated = run("generate", "--project-dir", consumer.folder)
    assert "customers reads customers_hierarchy_zip," in generated.stderr
    renamed.rename(seed)
    assert "sources" not in findings(consumer.folder)
    model = consumer.folder / "models" / "customers_hierarchy_zip.sql"
    model.write_text("select 1")
    seed.unlink()
    assert "sources" not in findings(consumer.folder)


def test_an_open_vault_is_noted(consumer: Project) -> None:
    (consumer.folder / "vault").chmod(0o755)
    done = run("doctor", "--project-dir", consumer.folder)
    assert done.exit_code == 0
    assert "is open to others (mode 755); the next build closes it." in done.stdout


def test_a_warehouse_that_another_process_has_open_is_found(consumer: Project) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(consumer.folder / consumer.warehouse)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        status, text = findings(consumer.folder)["warehouse"]
        other.communicate("\n")
    assert status == "stop"
    assert "open in another process" in text
    assert findings(consumer.folder)["warehouse"][0] == "ok"


def test_without_a_project_the_environment_is_looked_at(tmp_path: Path) -> None:
    done = run("doctor", "--project-dir", tmp_path)
    assert done.exit_code == 1
    assert "ok    Python: " in done.stdout
    assert "Or start one with `dbt-anonymize new`." in done.stdout


def test_commands_that_are_named_are_of_the_target(tmp_path: Path) -> None:
    said = run("doctor", "--target", "prod", "--project-dir", tmp_path).stdout
    assert "Or start one with `dbt-anonymize new --target prod`." in said
    assert "--target" not in run("doctor", "--project-dir", tmp_path).stdout
