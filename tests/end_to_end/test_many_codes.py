"""A hierarchy of 100,000 codes is a model of the warehouse, which nobody has to load as a seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.commands.conftest import command
from tests.extensions import has
from tests.projects import Project
from tests.sampling import FULL
from tests.worlds.codes import CODES, EFFORTS, HIERARCHY, NAME, K, class_sizes, write


def finest_safe_level() -> int:
    """Return the finest level of which every class has k."""
    return next(level for level in range(1, 5) if min(class_sizes(level).values()) >= K)


def search(project: Project) -> str:
    """Search, and return what is printed."""
    # Training models on the labels takes 15 s, and is the same for every hierarchy.
    measure = [] if FULL else ["--measure", "guided"]
    return str(command(project, "search", NAME, "--dry-run", "--verbose", *measure).output)


@pytest.mark.sampled_tests(group="builds")
@pytest.mark.parametrize("materialized", ["table", "view"])
def test_a_model_of_many_codes_is_a_hierarchy(tmp_path: Path, materialized: str) -> None:
    project = write(tmp_path / "project", materialized)
    project.build()
    ((effort,),) = project.query(f"select effort from {NAME}_results where is_chosen")
    released = Counter(row[0] for row in project.release(NAME))
    assert released == class_sizes(EFFORTS[effort - 1]["code"])
    verified = command(project, "verify", NAME)
    assert verified.exit_code == 0, verified.output
    if has("search"):
        assert f"{NAME}: code {finest_safe_level()} loses the least" in search(project)
    # A code that is missing stops the build.
    project.edit(f"models/{HIERARCHY}.sql", lambda text: text.replace(f"{CODES - 1}", "99000"))
    stopped = project.dbt("run", "--select", f"+{NAME}_microdata")
    assert not stopped.succeeded
    assert "the hierarchy of code does not cover the column" in stopped.messages
