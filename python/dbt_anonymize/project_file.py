"""The file by which a folder is a dbt project."""

from __future__ import annotations

from pathlib import Path

PROJECT_FILE = "dbt_project.yml"


def project_folder(start: Path) -> Path | None:
    """Return the nearest folder with a dbt project, from a folder upwards, or None."""
    folder = start.resolve()
    return next((f for f in (folder, *folder.parents) if (f / PROJECT_FILE).is_file()), None)
