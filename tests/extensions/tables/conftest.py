"""The warehouse of the properties, and a project whose table is built once."""

from __future__ import annotations

import pytest

from tests.extensions.tables.projects import HIDE, SHOWS, build, declare
from tests.projects import Project, copy_consumer
from tests.properties.conftest import warehouse

__all__ = ["warehouse"]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Build a table of which cells are hidden; tests change copies of it."""
    project = copy_consumer(tmp_path_factory.mktemp("tables") / "project")
    declare(project, efforts=[HIDE], shows=SHOWS, questions=[{"share": "churned", "by": ["zip"]}])
    build(project)
    return project
