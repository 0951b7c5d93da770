"""Extensions say what they need, and nothing else knows them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

import dbt_anonymize
from dbt_anonymize.cli.main import commands as listed
from dbt_anonymize.entry_points import foreign_extensions
from dbt_anonymize.errors import ProjectError
from dbt_anonymize.extension import Extension, extensions, function, privacy_models
from dbt_anonymize.privacy.registry import MODELS
from dbt_anonymize.project.engines import (
    Engine,
    Server,
    engine_names,
    find_engine,
    find_server,
)
from dbt_anonymize.relations import ALL
from tests.extensions.pulled_out import with_needs
from tests.projects import REPOSITORY

PACKAGE = Path(dbt_anonymize.__path__[0])
FOLDER = PACKAGE / "extensions"
OWN = "dbt_anonymize.extensions."
MACROS, TESTS = REPOSITORY / "macros", REPOSITORY / "tests"
# Macros of an extension that others call where a key of it asks for them.
OFFERED = {
    "_budget_relation": "differential_privacy",
    "_budget_table": "differential_privacy",
    "_check_external_release": "external_efforts",
    "_check_table": "tables",
    "_class_loss": "payouts",
    "_cost_of_release": "differential_privacy",
    "_differential_privacy_model": "differential_privacy",
    "_is_table_published": "tables",
    "_no_attack_model": "payouts",
    "_payouts_of_effort": "payouts",
    "_profitable_model": "payouts",
    "_record_aggregates": "recoding",
    "_record_members": "second_month",
    "_register_table": "tables",
    "_released_members": "second_month",
    "_remember_table": "tables",
    "_with_aggregates": "recoding",
    "_spend_budget": "differential_privacy",
    "default___are_subsets_planned": "details",
}


def imports(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the modules that files import, also within functions."""
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                yield path, node.module
            elif isinstance(node, ast.Import):
                yield from ((path, alias.name) for alias in node.names)


def test_each_folder_is_an_extension() -> None:
    folders = [path.name for path in FOLDER.iterdir() if (path / "__init__.py").exists()]
    assert sorted(one.name for one in extensions()) == sorted(folders)


@pytest.mark.parametrize("one", extensions(), ids=lambda one: one.name)
def test_it_imports_from_those_that_it_needs_alone(one: Extension) -> None:
    modules = (name for _, name in imports(FOLDER / one.name) if name.startswith(OWN))
    used = {name.removeprefix(OWN).split(".")[0] for name in modules}
    assert used - {one.name} <= {*one.needs}


def test_the_core_imports_no_extension() -> None:
    for path, module in imports(PACKAGE):
        if not path.is_relative_to(FOLDER):
            assert not module.startswith(OWN), path


def test_tests_are_imported_without_extensions_that_theirs_does_not_need() -> None:
    """Others are imported within a test, or by `pytest.importorskip`."""
    names = {one.name for one in extensions()}
    for path in TESTS.rglob("*.py"):
        first, second, *_ = *path.relative_to(TESTS).parts, ""
        if first in {"case_studies", "papers"} and not path.name.startswith("test_"):
            continue  # scripts, which compute published numbers
        known = with_needs(second) if first == "extensions" and second in names else set()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [one.name for one in node.names] if isinstance(node, ast.Import) else []
            used = {name for one in modules for name in re.findall(r"extensions\.(\w+)", one)}
            assert (used & names) <= known, path


def macro_files() -> Iterator[tuple[str, Path, str]]:
    """Yield files of macros, and templates of models: owner, path and text without comments."""
    for path in (*MACROS.rglob("*.sql"), *PACKAGE.rglob("*.j2")):
        root = MACROS if path.suffix == ".sql" else PACKAGE
        first, second, *_ = path.relative_to(root).parts
        text = re.sub("{#.*?#}", "", path.read_text("utf-8"), flags=re.DOTALL)
        yield second if first == "extensions" else "core", path, text


@cache
def owners() -> dict[str, str]:
    """Return the extension of each macro, or the core."""
    defined = re.compile(r"{%-?\s*macro\s+(\w+)")
    return {
        name: owner
        for owner, path, text in macro_files()
        for name in defined.findall(text)
        if path.suffix == ".sql"
    }


def test_macros_call_those_of_the_core_and_of_extensions_that_theirs_needs() -> None:
    for owner, path, text in macro_files():
        for name in re.findall(r"(?<!\.)\bdbt_anonymize\.(\w+)\(", text):
            called = (OFFERED | owners())[name]  # of an extension that may not be here
            assert called in {"core", OFFERED.get(name), *with_needs(owner)}, f"{path}: {name}"


def test_macros_dispatch_only_what_has_a_default_without_other_extensions() -> None:
    """Dispatch to a missing macro stops dbt from reading any project; a plain call does not."""
    for owner, path, text in macro_files():
        for name in re.findall(r'dispatch\(\s*"(\w+)",\s*"dbt_anonymize"', text):
            default = owners().get(f"default__{name}")
            assert default in {"core", *with_needs(owner)}, f"{path}: {name}"


def test_their_commands_and_functions_are_there() -> None:
    known = listed()
    for one in extensions():
        for command in one.commands:
            assert command.name.split()[0] in known
        for name in one.functions:
            assert callable(getattr(dbt_anonymize, name))
    assert function("no such thing") is None
    with pytest.raises(AttributeError):
        _ = dbt_anonymize.nothing


@pytest.mark.parametrize("one", extensions(), ids=lambda one: one.name)
def test_what_it_adds_to_documents_is_there(one: Extension) -> None:
    for added in (*one.report, *one.dossier):
        assert callable(one.load(added.function))
        assert {*added.relations} <= {*ALL}
    for function_ in filter(None, (one.obstacles, one.notes, one.diagnoses, one.trainer)):
        assert callable(one.load(function_))


@pytest.mark.parametrize("one", [one for one in extensions() if one.keys], ids=lambda one: one.name)
def test_its_keys_can_be_imported_before_the_spec(one: Extension) -> None:
    """A command may import them first: they import nothing that reads keys."""
    for path in {*one.keys.values()}:
        module = f"{one.package}.{path.rpartition('.')[0]}"
        done = subprocess.run(
            [sys.executable, "-c", f"import {module}"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def test_privacy_models_are_those_of_the_core_and_of_extensions() -> None:
    brought = privacy_models()
    assert brought.items() <= MODELS.items()
    own = {name for name, model in MODELS.items() if not model.__module__.startswith(OWN)}
    assert {*MODELS} == own | {*brought}
    # The line that dbt follows; without it no build judges the model.
    registry = (MACROS / "privacy" / "_privacy_model.sql").read_text(encoding="utf-8")
    for name in MODELS:
        assert f'name == "{name}"' in registry
        assert f"dbt_anonymize._{name}_model(guarantee" in registry


def test_another_package_brings_no_privacy_model(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = Extension(name="worth", package="worth", privacy_models={"fair": "fair.Fair"})
    entry = SimpleNamespace(load=lambda: foreign)
    monkeypatch.setattr("dbt_anonymize.entry_points.named_entry_points", lambda: [entry])
    with pytest.raises(ProjectError, match="worth of another package must bring no privacy model"):
        foreign_extensions()


def test_who_looks_for_a_name_loads_no_module_of_an_extension() -> None:
    """In each build dbt asks the package for its plugins."""
    code = (
        "import sys, dbt_anonymize; dbt_anonymize.plugins; hasattr(dbt_anonymize, 'x'); "
        "print(*(name for name in sys.modules if name.startswith('dbt_anonymize.extensions.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.removeprefix(OWN) for name in done.stdout.split()}
    assert loaded <= {one.name for one in extensions()}


def test_an_engine_has_what_is_asked_of_it() -> None:
    asked = {*Engine.__annotations__}
    assert all(hasattr(find_engine("duckdb"), name) for name in asked)
    for kind in engine_names()[1:]:
        assert {*Server.__annotations__, *asked} - {*dir(find_server(kind))} == set()


def test_an_engine_loads_neither_its_driver_nor_dbt() -> None:
    """Commands that only look at the profile start fast."""
    code = (
        "import sys; from dbt_anonymize.project.engines import engine_names, find_engine; "
        "assert all(map(find_engine, engine_names())); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    slow = {"dbt", "duckdb", "pandas", "psycopg2", "pyarrow", "pyspark", "sklearn"}
    assert slow & {*done.stdout.split()} == set()
