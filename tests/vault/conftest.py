"""Projects that the tests of the vault share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.projects import Project
from tests.vault.projects import copy_with


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the project with tokens, built once."""
    project = copy_with(tmp_path_factory.mktemp("vault") / "project", "members")
    project.build()
    return project


@pytest.fixture
def members(built: Project, tmp_path: Path) -> Project:
    """Give a copy of it that a test may break."""
    return built.copy(tmp_path / "project")
