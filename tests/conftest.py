"""Fixtures that all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.projects import Project, copy_consumer, copy_demo, run_command
from tests.vault.projects import copy_with


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep tests together that share what is costly to make, where several processes run them."""
    for item in items:
        group = str(item.path)
        if "demonstration" in getattr(item, "fixturenames", ()):
            group = "demonstration"
        elif item.path.parent.name == "properties" or item.path.name == "test_pycanon.py":
            # They share the SQL of macros that dbt compiled.
            group = "properties"
        item.add_marker(pytest.mark.xdist_group(group))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Stop where groups are lost, as with pytest 9.2: what is costly would be made twice."""
    option = session.config.option
    if hasattr(session.config, "workerinput") and getattr(option, "loadgroup", False):
        lost = [item.nodeid for item in session.items if "@" not in item.nodeid]
        assert not lost, f"{len(lost)} tests have no group; install what constraints.txt names"


@pytest.fixture(scope="session", autouse=True)
def _quiet_dbt() -> Iterator[None]:
    """Keep dbt from writing colours and progress, and the machine's settings out of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            if name.startswith("DBT_") and not name.startswith("DBT_ANONYMIZE_"):
                patch.delenv(name)
        patch.setenv("DBT_USE_COLORS", "0")
        patch.setenv("DBT_QUIET", "1")
        yield


# The environment that runs the tests is the one that would be installed.
UP_TO_DATE = "--assume-old=pyproject.toml --assume-old=constraints.txt"


@dataclass(frozen=True)
class Demonstration:
    """The demonstration as `make demo` built it, and what the command printed."""

    project: Project
    printed: str


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    """Give the demonstration, built once by the README's own command."""
    project = copy_demo(tmp_path_factory.mktemp("demo") / "project")
    return Demonstration(project, run_command(f"make demo {UP_TO_DATE}", project.folder))


@pytest.fixture(scope="session")
def demo(demonstration: Demonstration) -> Project:
    """Give the built demonstration; tests that change it take a copy."""
    return demonstration.project


@pytest.fixture(scope="session")
def built_consumer(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the stranger's project, built once; tests that change it take a copy."""
    project = copy_consumer(tmp_path_factory.mktemp("consumer") / "project")
    project.build()
    return project


@pytest.fixture
def consumer(built_consumer: Project, tmp_path: Path) -> Project:
    """Give a copy of the stranger's built project that a test may break."""
    return built_consumer.copy(tmp_path / "project")


@pytest.fixture(scope="session")
def built_members(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project whose release has tokens, built once; tests that change it take a copy."""
    project = copy_with(tmp_path_factory.mktemp("members") / "project", "members")
    project.build()
    return project


@pytest.fixture
def members(built_members: Project, tmp_path: Path) -> Project:
    """Give a copy of it that a test may break."""
    return built_members.copy(tmp_path / "project")
