"""Files that dbt writes beside its relations, which must hold nobody's values."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.projects import Project

# Where dbt logs to a file, and how much: nothing in most tests.
LOG_LEVEL = "DBT_LOG_LEVEL_FILE"


@contextlib.contextmanager
def logging_everything() -> Iterator[None]:
    """Have dbt log as much as it can, as it does for users."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(LOG_LEVEL, "debug")
        yield


def everything_written(project: Project) -> str:
    """Return all that dbt logged and compiled; the build must have logged everything."""
    log = project.folder / "logs" / "dbt.log"
    assert "[debug]" in log.read_text("utf-8", "replace"), "build with `logging_everything`"
    return text_in(project.folder / "logs", project.folder / "target")


def text_in(*folders: Path) -> str:
    """Return all files of folders as one text."""
    return "".join(
        path.read_text(encoding="utf-8", errors="replace")
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file()
    )
