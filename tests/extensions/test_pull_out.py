"""Without an extension, and without those that need it, everything else works."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from dbt_anonymize.cli.main import commands
from dbt_anonymize.extension import extensions
from tests.extensions.pulled_out import (
    PulledOut,
    keys_of,
    pull_out,
    separating_sets,
    with_dependents,
)
from tests.projects import REPOSITORY
from tests.sampling import FULL, SEED

pytestmark = pytest.mark.dbt
TESTS = REPOSITORY / "tests"
SHARED = REPOSITORY.parent / "shared"
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
DBT = ("-c", "from dbt.cli.main import cli; cli()")
NAMES = [one.name for one in extensions()]
GONE = {name: with_dependents(name) for name in NAMES}
if NAMES:
    GONE["all"] = {*NAMES}  # Then the core stands alone.
SETS = [*separating_sets(), {*NAMES}]
# Demonstrations declare all details; there may be fewer now.
WITHOUT = """
import importlib, pathlib, pkgutil, runpy, sys, dbt_anonymize
for one in pkgutil.walk_packages(dbt_anonymize.__path__, "dbt_anonymize."):
    if not one.name.endswith("__main__"):
        importlib.import_module(one.name)
from dbt_anonymize.project.generate import check, generate
from dbt_anonymize.spec.loading import validate
def nested(keys):
    first, *more = keys
    if more[:1] == ["*"]:
        inner = nested(more[1:])
        return {first: {"one": inner} if first == "columns" else [inner]}
    return {first: nested(more) if more else "x"}
for key in sys.argv[1:]:
    print(*validate(nested(key.split(".")))[1], sep="\\n")
for script in ("make_reference", "make_index"):
    runpy.run_path(f"scripts/{script}.py", run_name="__main__")
from tests.docs import test_site
test_site.test_the_navigation_names_every_page_once()
for page in test_site.PAGES:
    test_site.test_links_lead_to_files_and_headings(page)
for project in (pathlib.Path.cwd(), pathlib.Path("tests/consumer_project").resolve()):
    generate(project)
    assert not check(project)
"""


def engines_of(gone: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the adapters of the engines that extensions add."""
    yield from (
        (one.name, kind) for one in extensions() if one.name in gone for kind in one.engines
    )


def missing_on(project: PulledOut, kind: str) -> Iterator[str]:
    """Yield what is said of a target: always, and by a command and dbt if they know the adapter."""
    engines = "from dbt_anonymize.project import engines"
    yield succeeded(project, "-c", f"{engines}; print(engines.missing_engine({kind!r}))")
    if find_spec(f"dbt.adapters.{kind}") is None:
        return
    folder = project.folder / "profiles"
    folder.mkdir()
    output = {"type": kind, "schema": "main", "host": "127.0.0.1", "port": 1, "threads": 1}
    output |= {"user": "nobody", "password": "none", "dbname": "none"}
    profile = {"dbt_anonymize": {"target": "dev", "outputs": {"dev": output}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DBT_PROFILES_DIR", str(folder))
        yield succeeded(project, "-m", "dbt_anonymize", "generate")
        parsed = project.run(*DBT, "parse")
        assert parsed.returncode != 0
        yield parsed.stdout


def succeeded(project: PulledOut, *arguments: str) -> str:
    done = project.run(*arguments)
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def some_folders(name: str) -> list[str]:
    """Return some folders of the core's tests, whose modules are to be imported without it."""
    folders = {str(path.parent.relative_to(REPOSITORY)) for path in TESTS.glob("*/**/test_*.py")}
    of_core = sorted(one for one in folders if not one.startswith("tests/extensions"))
    return random.Random(f"{SEED} {name}").sample(of_core, 4)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", GONE)
def test_what_is_left_works_without_it(name: str, tmp_path: Path) -> None:
    project = pull_out(GONE[name], tmp_path / "project")
    (tmp_path / "shared").symlink_to(SHARED)
    keys = [(one, *key) for one in project.gone for key in keys_of({one})]
    said = succeeded(project, "-c", WITHOUT, *(f"{part}{key}" for _, part, key in keys))
    for extension, _, key in keys:
        assert f"{key}: must be a key that we know. It belongs to the extension {extension}" in said
    gone = {c.name for one in extensions() if one.name in project.gone for c in one.commands}
    shown = succeeded(project, "-m", "dbt_anonymize", "--help")
    known = {*re.findall(r"^│ ([a-z][a-z-]*) ", shown, flags=re.MULTILINE)}
    assert known == {*commands()} - gone
    for extension, kind in engines_of(project.gone):
        for said in missing_on(project, kind):
            assert f"{kind}: needs the extension {extension}, which is not here" in said
    if FULL:
        # The demonstrations, whose specs are without the keys that are gone.
        succeeded(project, *DBT, "build")
    else:
        succeeded(project, *DBT, "parse")
        succeeded(project, *PYTEST, "--collect-only", "--assert=plain", *some_folders(name))


@pytest.mark.skipif(not FULL, reason="runs the suite ten times: make pull-out")
@pytest.mark.parametrize("gone", SETS, ids=lambda gone: " ".join(sorted(gone)))
def test_tests_of_what_is_left_pass(gone: set[str], tmp_path: Path) -> None:
    project = pull_out(gone, tmp_path / "project")
    (tmp_path / "shared").symlink_to(SHARED)
    succeeded(project, "-c", WITHOUT)  # writes the pages that list extensions
    succeeded(project, "-m", "mypy")
    here = str(Path(__file__).relative_to(REPOSITORY))  # asks git what there is
    succeeded(project, *PYTEST, "-m", "not slow", f"--ignore={here}", "tests")
    if find_spec("mkdocs"):
        succeeded(project, "-m", "mkdocs", "build", "--strict", "--quiet")
        succeeded(project, "scripts/check_site.py", "build/site")


def test_each_is_once_there_without_each_that_it_does_not_need() -> None:
    pairs = {(a, b) for gone in SETS for a in gone for b in {*NAMES} - gone}
    assert pairs == {(a, b) for a in NAMES for b in NAMES if b not in with_dependents(a)}
    assert all(with_dependents(one) <= gone for gone in SETS for one in gone)
