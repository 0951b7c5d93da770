"""The same table built under plain names, once."""

from __future__ import annotations

import pytest

from tests.projects import Project
from tests.sql_safety.commands import searched
from tests.sql_safety.outcome import Found, outcome_of
from tests.worlds.hostile import Naming, write


@pytest.fixture(scope="session")
def plain_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the built project under plain names; tests only read it."""
    project = write(tmp_path_factory.mktemp("plain") / "project", Naming())
    project.build()
    return project


@pytest.fixture(scope="session")
def plain_outcome(plain_project: Project) -> Found:
    """Give what the build under plain names found."""
    return outcome_of(plain_project, Naming())


@pytest.fixture(scope="session")
def plain_search(
    plain_project: Project, tmp_path_factory: pytest.TempPathFactory
) -> list[list[int]]:
    """Give the levels that a search of the plain table finds."""
    return searched(plain_project.copy(tmp_path_factory.mktemp("searched") / "project"))
