"""A small project of a stranger whose identifiers are in the vault, and processes to torment it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dbt_anonymize.project.generate import generate
from tests.faults.processes import Launcher
from tests.projects import Project, copy_consumer

# They import dbt, which is not to be waited for where no test of them is run.
collect_ignore = ["launcher.py", "tasks.py"]


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    """Give the process that starts others; it has dbt imported."""
    launcher = Launcher(tmp_path_factory.mktemp("outputs"))
    yield launcher
    launcher.stop()


@pytest.fixture(scope="session")
def built_shop(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Give the stranger's project with one effort, built once; tests take a copy."""
    project = copy_consumer(tmp_path_factory.mktemp("shop") / "project")
    (project.folder / "models" / "unit_tests.yml").unlink()
    project.edit(
        "anonymizations/customers.yml",
        lambda text: (
            text.replace("  - {birth_date: 2, zip: 1, gender: 0}\n", "")
            .replace("  - {birth_date: 2, zip: 2, gender: 1}\n", "")
            .replace("repetitions: 5", "repetitions: 1")
        ),
    )
    project.edit(
        "dbt_project.yml",
        lambda text: text + "seeds:\n  shop:\n    customers: {+database: vault}\n",
    )
    generate(project.folder)
    project.build()
    return project


@pytest.fixture
def shop(built_shop: Project, tmp_path: Path) -> Project:
    """Give a copy of the built project that a test may break."""
    return built_shop.copy(tmp_path / "project")
