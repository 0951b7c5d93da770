"""Relations are found by the manifest of the last build only where dbt would find the same."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from dbt_anonymize.extensions.quick_reading.last_build import manifest_of_last_build
from dbt_anonymize.extensions.quick_reading.reading import open_to_read, read_profile
from dbt_anonymize.extensions.quick_reading.warehouse import PlainWarehouse
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from tests.cli.conftest import run
from tests.cli.imported import imported
from tests.projects import Project

pytestmark = [pytest.mark.sampled_tests(4), pytest.mark.dbt]

TWO_TARGETS = """
shop:
  target: dev
  outputs:
    dev: &dev
      type: duckdb
      path: warehouse/shop.duckdb
      attach: [{path: vault/vault.duckdb, alias: vault}]
    prod: {<<: *dev}
"""
SCHEMA_MACRO = (
    "{% macro generate_schema_name(name, node) %}{{ name or target.schema }}{% endmacro %}\n"
)


@pytest.fixture
def built(consumer: Project) -> Project:
    """Give a built project in which dbt ran last where it lies."""
    (consumer.folder / "profiles.yml").write_text(TWO_TARGETS)
    compiled(consumer)
    return consumer


def compiled(project: Project, *options: str) -> None:
    outcome = project.dbt("compile", "--select", "customers_results", *options)
    assert outcome.succeeded, outcome.messages


def is_known(project: Project, target: str | None = None) -> bool:
    profile = read_profile(project.folder, target)
    assert profile is not None
    return manifest_of_last_build(project.folder, profile) is not None


def assert_found_alike(folder: Path, name: str) -> list[bool]:
    """Compare where models and seeds lie with what dbt says; return whether each exists."""

    def found(warehouse: Warehouse) -> dict[str, tuple[str, bool]]:
        nodes = warehouse.manifest.nodes.values()
        return {
            one.name: (str(warehouse.place(one)), warehouse.find_node(one) is not None)
            for one in nodes
            if one.resource_type in {"model", "seed"}
        }

    project = find_project(folder)
    with open_warehouse(project) as warehouse:
        expected, columns = found(warehouse), warehouse.columns(warehouse.relation_of_ref(name))
        about = (warehouse.kind, warehouse.target_name)
    with open_to_read(project) as plain:
        assert isinstance(plain, PlainWarehouse)
        assert found(plain) == expected
        assert [one for one, _ in plain.columns(plain.relation_of_ref(name))] == [
            one for one, _ in columns
        ]
        assert (plain.kind, plain.target_name) == about
    return [exists for _, exists in expected.values()]


def test_relations_are_those_that_dbt_finds(built: Project) -> None:
    built.execute("drop table customers_curves")
    assert set(assert_found_alike(built.folder, "customers_results")) == {True, False}


def test_the_macro_that_is_read_says_what_dbt_makes_of_it(built: Project) -> None:
    project = find_project(built.folder)
    arguments = {"releases": '"a"."b"', "earlier": "2026-01-01 10:00:00", "later": "it's", "k": 4}
    with open_warehouse(project) as warehouse:
        expected = warehouse.macro("_composed_releases", **arguments)
    with open_to_read(project) as plain:
        assert isinstance(plain, PlainWarehouse)
        assert plain.macro("_composed_releases", **arguments).split() == expected.split()


def _appended(file: str, text: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        path = folder / file
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as opened:
            opened.write(text)

    return change


@pytest.mark.parametrize(
    "change",
    [
        _appended("models/customers/customers_results.sql", "\n"),
        _appended("models/customers/_customers.yml", "\n"),
        _appended("models/other.sql", "select 1 as one"),
        _appended("macros/names.sql", SCHEMA_MACRO),
        _appended("seeds/_seeds.yml", "\n"),
        _appended("dbt_project.yml", "\n"),
        _appended("profiles.yml", "\n"),
        _appended("packages.yml", "\n"),
        lambda folder: (folder / "models" / "_anonymization_results.yml").unlink(),
        lambda folder: (folder / "target" / "run_results.json").unlink(),
        lambda folder: (folder / "target" / "manifest.json").write_text("{"),
        lambda folder: (folder / "target" / "manifest.json").write_text("[]"),
    ],
)
def test_what_is_newer_is_left_to_dbt(built: Project, change: Callable[[Path], object]) -> None:
    assert is_known(built)
    change(built.folder)
    assert not is_known(built)


@pytest.mark.parametrize("folder", ["macros", "seeds", "dbt_packages"])
def test_what_is_gone_is_left_to_dbt(built: Project, folder: str) -> None:
    """A macro that named schemas, for one: without it relations lie elsewhere."""
    (built.folder / "macros").mkdir(exist_ok=True)
    (built.folder / "macros" / "schemas.sql").write_text(SCHEMA_MACRO)
    compiled(built)
    assert is_known(built)
    gone = built.folder / folder
    gone.unlink() if gone.is_symlink() else shutil.rmtree(gone)
    assert not is_known(built)


def test_another_target_is_left_to_dbt(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_known(built)
    assert not is_known(built, "prod")
    monkeypatch.setenv("DBT_TARGET", "prod")
    assert not is_known(built)
    compiled(built, "--target", "prod")
    assert is_known(built)
    monkeypatch.delenv("DBT_TARGET")
    assert not is_known(built)
    assert is_known(built, "prod")


def test_variables_of_the_command_line_are_left_to_dbt(built: Project) -> None:
    compiled(built, "--vars", "{a: 1}")
    assert not is_known(built)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("models/other.sql", "{{ config(alias=env_var('USER', 'a')) }} select 1 as one"),
        ("models/other.sql", "{{ config(alias=target.path.split('.')[0][-4:]) }} select 1 as one"),
        ("models/other.sql", "{{\ntarget\n.path[:0] }} select 1 as one"),
        ("models/other.yml", "models: [{name: other, description: \"{{ env_var('A', 'b') }}\"}]"),
        ("macros/names.sql", SCHEMA_MACRO.replace("name or", "env_var('A', '') or")),
    ],
)
def test_names_by_environment_are_left_to_dbt(built: Project, file: str, text: str) -> None:
    (built.folder / "models" / "other.sql").write_text("select 1 as one")
    (built.folder / "macros").mkdir()
    (built.folder / file).write_text(text)
    compiled(built)
    assert not is_known(built)


def test_a_schema_of_the_environment_is_that_of_the_last_build(
    built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = yaml.safe_load(TWO_TARGETS)
    profile["shop"]["outputs"]["dev"]["schema"] = "{{ env_var('SHOP_SCHEMA', 'main') }}"
    (built.folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    compiled(built)
    assert is_known(built)
    monkeypatch.setenv("SHOP_SCHEMA", "other")
    assert not is_known(built)


def test_another_folder_of_profiles_is_left_to_dbt(
    built: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ci").mkdir()
    (tmp_path / "ci" / "profiles.yml").write_text(TWO_TARGETS)
    compiled(built)
    monkeypatch.setenv("DBT_PROFILES_DIR", str(tmp_path / "ci"))
    assert not is_known(built)


def test_a_copy_is_left_to_dbt(built: Project, tmp_path: Path) -> None:
    assert not is_known(built.copy(tmp_path / "copy"))


def test_what_is_left_to_dbt_is_said_alike(built: Project) -> None:
    outputs = {}
    for name in ("results", "diff"):
        outputs[name] = run(name, "--project-dir", built.folder).output
    (built.folder / "target" / "manifest.json").unlink()
    for name, output in outputs.items():
        assert run(name, "--project-dir", built.folder).output == output


def test_a_locked_warehouse_is_said_to_be_locked(built: Project) -> None:
    hold = (
        f"import duckdb; c = duckdb.connect({str(built.folder / built.warehouse)!r}); "
        "print('open', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        result = run("results", "--project-dir", built.folder)
        holder.communicate("\n")
    assert result.exit_code == 2
    assert "must not be open in another process" in result.output


@pytest.mark.parametrize(
    "command", ["--help", "generate", "generate --check", "results", "results --history", "doctor"]
)
def test_commands_import_neither_dbt_nor_numpy(built: Project, command: str) -> None:
    assert imported(built.folder, command) == "[]"


def test_a_vault_whose_folder_is_gone_is_named(built: Project, tmp_path: Path) -> None:
    vault, elsewhere = built.folder / "vault", tmp_path / "elsewhere"
    vault.rename(elsewhere)
    try:
        done = run("results", "--project-dir", built.folder)
    finally:
        shutil.rmtree(vault, ignore_errors=True)
        elsewhere.rename(vault)
    assert done.exit_code == 2
    assert "its database file must have a folder" in done.stderr
