"""Fixtures that all tests share."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.extension import extensions
from tests import sampling, tiers
from tests.extensions import of_extensions
from tests.projects import Project, copy_consumer, copy_demo, make_demo_small, run_command
from tests.quick_dbt import make_dbt_quick
from tests.vault.projects import copy_with
from tests.worlds.private import sampled_and_private
from tests.written import LOG_LEVEL, logging_everything

# What the machine that runs the tests may say to them.
_KEPT_VARIABLES = (
    "DBT_ANONYMIZE_",
    "HOME",
    "LANG",
    "LC_",
    # The kernels that this process has loaded already, and that workers are to calculate with too.
    "OPENBLAS_",
    "PATH",
    "PYTEST_",
    "PYTHON",
    "TMPDIR",
    "UPDATE_",
    "USER",
)


@pytest.hookimpl(tryfirst=True)  # before hypothesis reads it
def pytest_configure(config: pytest.Config) -> None:
    """Let one seed decide what every sample is drawn from."""
    config.option.hypothesis_seed = config.option.hypothesis_seed or str(sampling.SEED)


def missing_extensions(item: pytest.Item) -> set[str]:
    """Return the extensions that a test is marked to need and that are not here."""
    needed = {name for mark in item.iter_markers("needs") for name in mark.args}
    return needed - {one.name for one in extensions()}


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups, and pytest the tiers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests together that share what is costly to make, where several processes run them.

    Long groups come first: short ones fill what is left in the end.
    """
    order = {"demonstration": 0, "properties": 1}
    sampling.mark_undrawn(items)
    for item in items:
        for missing in missing_extensions(item):
            item.add_marker(pytest.mark.skip(reason=f"without the extension {missing}"))
    for item in items:
        tier = tiers.tier(item)
        item.add_marker(tier)
        group = f"fast {item.path}" if tier == "fast" else f"dbt {item.path.parent}"
        fixtures = getattr(item, "fixturenames", ())
        if {"demonstration", "shipped"}.intersection(fixtures):
            group = "demonstration"
        elif reads_compiled(item) or item.path.name == "test_pycanon.py":
            # They share the SQL of macros that dbt compiled.
            group = "properties"
        item.add_marker(pytest.mark.xdist_group(group))
        order.setdefault(group, 3 if tier == "fast" else 2)
    items.sort(key=lambda item: order[group_of(item)])


def reads_compiled(item: pytest.Item) -> bool:
    """Tell whether a test is of the properties, in their folder or in that of an extension."""
    found = getattr(item, "_fixtureinfo", None)
    fixtures = found.name2fixturedefs.get("warehouse", ()) if found else ()
    is_theirs = any(one.func.__module__ == "tests.properties.conftest" for one in fixtures)
    return is_theirs or item.path.parent.name == "properties"


def group_of(item: pytest.Item) -> str:
    """Return the group that a test was given."""
    (group,) = [mark.args[0] for mark in item.iter_markers("xdist_group")]
    return str(group)


def pytest_collectstart() -> None:
    """Look for no garbage among what is imported and collected: nearly all of it stays."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Stop where groups are lost, as with pytest 9.2: what is costly would be made twice."""
    option = session.config.option
    if hasattr(session.config, "workerinput") and getattr(option, "loadgroup", False):
        lost = [item.nodeid for item in session.items if "@" not in item.nodeid]
        assert not lost, f"{len(lost)} tests have no group; install what constraints.txt names"
    # The garbage collector needs not look at it again and again, nor often at what dbt makes: a
    # thousand objects, one per macro, for each statement. Waiting costs 100 MB.
    gc.freeze()
    gc.enable()
    gc.set_threshold(1_000_000, 20, 20)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Keep dbt from tests that are to be fast, and make it quick in the others."""
    is_fast = item.get_closest_marker("fast") is not None
    tiers.guard(is_fast=is_fast)
    if not is_fast:
        make_dbt_quick()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Say what to do about a test that is not as fast as it looks."""
    report = yield
    if call.excinfo is not None and tiers.is_dbt_missed(call.excinfo.value):
        report.sections.append(
            ("tier", "This test starts dbt, which its code does not show: mark it pytest.mark.dbt.")
        )
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what was drawn to the process that prints."""
    tiers.guard(is_fast=False)
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["drawn"] = sampling.drawn


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a process has drawn."""
    sampling.drawn.update(getattr(node, "workeroutput", {}).get("drawn", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many of how many ran."""
    counts = [f"{n} of {of} {what}" for what, (n, of) in sorted(sampling.drawn.items())]
    line = "everything in full" if sampling.FULL else f"samples: {', '.join(counts) or 'none'}"
    terminalreporter.write_line(f"{line}; DBT_ANONYMIZE_SEED={sampling.SEED}")
    for one in of_extensions("untested"):
        if text := one.untested():
            terminalreporter.write_line(text, red=True, bold=True)
    reasons = {str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", ())}
    for reason in sorted(reasons):
        if "NOT TESTED" in reason:
            terminalreporter.write_line(reason.removeprefix("Skipped: "), red=True)


@pytest.fixture(scope="session", autouse=True)
def _quiet_dbt() -> Iterator[None]:
    """Keep dbt from writing colours and progress, and the machine's settings out of the tests.

    dbt reads all variables again for each error that it makes, ten thousand times in a build.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            if not name.startswith(_KEPT_VARIABLES):
                patch.delenv(name)
        patch.setenv("DBT_USE_COLORS", "0")
        patch.setenv("DBT_QUIET", "1")
        patch.setenv(LOG_LEVEL, "none")
        # Models of small tables are trained before workers have imported scikit-learn.
        patch.setenv("DBT_ANONYMIZE_WORKERS", "1")
        yield


@pytest.fixture
def everything_logged() -> Iterator[None]:
    """Have dbt log all that it does."""
    with logging_everything():
        yield


# The environment that runs the tests is the one that would be installed.
UP_TO_DATE = "--assume-old=pyproject.toml --assume-old=constraints.txt"


@dataclass(frozen=True)
class Demonstration:
    """The demonstration as `make demo` built it, and what the command printed."""

    project: Project
    printed: str


def built_once(
    factory: pytest.TempPathFactory, name: str, build: Callable[[Path], Project]
) -> Project:
    """Give this process its copy of a project that the first of all processes builds.

    Each has its own, since DuckDB lets one process at a time write to a file.
    """
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder, warehouse = shared / name / "project", shared / name / "warehouse.txt"
    folder.parent.mkdir(exist_ok=True)
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not warehouse.exists():
            shutil.rmtree(folder, ignore_errors=True)
            warehouse.write_text(build(folder).warehouse, encoding="utf-8")
        return Project(folder, warehouse.read_text("utf-8")).copy(factory.mktemp(name) / "project")


def _make_demo(project: Project) -> Demonstration:
    # One worker: the tests of another process have the other core.
    command = f"make demo {UP_TO_DATE} DBT_ANONYMIZE_WORKERS=1"
    return Demonstration(project, run_command(command, project.folder))


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    """Give the demonstration as it ships, whose figures pages show; `make test-slow` builds it."""
    return _make_demo(copy_demo(tmp_path_factory.mktemp("shipped") / "project"))


@pytest.fixture(scope="session")
def demonstration(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Demonstration:
    """Give the demonstration, built once by the README's own command, smaller unless in full."""
    if sampling.FULL:
        found: Demonstration = request.getfixturevalue("shipped")
        return found
    project = copy_demo(tmp_path_factory.mktemp("demo") / "project")
    make_demo_small(project)
    return _make_demo(project)


@pytest.fixture(scope="session")
def demo(demonstration: Demonstration) -> Project:
    """Give the built demonstration; tests that change it take a copy."""
    return demonstration.project


@pytest.fixture(scope="session")
def built_consumer(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the stranger's project, built once; tests that change it take a copy.

    Unit tests take half of the time of a build: one test runs them.
    """

    def build(folder: Path) -> Project:
        project = copy_consumer(folder)
        (folder / "models" / "unit_tests.yml").unlink()
        project.build()
        return project

    return built_once(tmp_path_factory, "consumer", build)


@pytest.fixture
def consumer(built_consumer: Project, tmp_path: Path) -> Project:
    """Give a copy of the stranger's built project that a test may break."""
    return built_consumer.copy(tmp_path / "project")


@pytest.fixture(scope="session")
def built_members(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project whose release has tokens, built once; tests that change it take a copy."""

    def build(folder: Path) -> Project:
        project = copy_with(folder, "members")
        with logging_everything():
            project.build()
        return project

    return built_once(tmp_path_factory, "members", build)


@pytest.fixture(scope="session")
def built_samples(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project with a plain sample and a private release, built once."""

    def build(folder: Path) -> Project:
        project = sampled_and_private(folder)
        project.build()
        return project

    return built_once(tmp_path_factory, "samples", build)


@pytest.fixture
def members(built_members: Project, tmp_path: Path) -> Project:
    """Give a copy of it that a test may break."""
    return built_members.copy(tmp_path / "project")
