"""Who may read the files of the databases: asked before anything opens them.

Opening the warehouse closes the vault to others, as a build does. So what it was like before can
only be told by who looked before.
"""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path
from typing import Any

from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.profile import read_profile


def read_modes(project: Project, target: str | None = None) -> dict[Path, int]:
    """Read the modes of all database files of a profile, without opening one.

    Parameters
    ----------
    project : Project
        The dbt project.
    target : str, optional
        Target of the profile; by default ``DBT_TARGET`` or that of the profile.

    Returns
    -------
    dict
        Mode by resolved path, of each file, its log and its folder, as far as they exist. Empty
        where the warehouse is not DuckDB.

    Raises
    ------
    ProjectError
        If the profile cannot be read.
    """
    credentials: Any = read_profile(project.root, target).credentials
    if credentials.type != "duckdb":
        return {}
    attached = getattr(credentials, "attach", None) or []
    # Paths in profiles.yml are relative to the project.
    with contextlib.chdir(project.root):
        return modes_of(
            [Path(credentials.path), *(Path(attachment.path) for attachment in attached)]
        )


def modes_of(files: list[Path]) -> dict[Path, int]:
    """Return the modes of database files, of their logs and of their folders, as far as they exist.

    Parameters
    ----------
    files : list of Path
        Where a database is or would be; what is not a file is left out.

    Returns
    -------
    dict
        Mode by resolved path; first the folder, then the file and its log.
    """
    modes = {}
    for file in files:
        if not file.is_file():
            continue
        path = file.resolve()
        for found in (path.parent, path, Path(f"{path}.wal")):
            if found.exists():
                modes[found] = stat.S_IMODE(found.stat().st_mode)
    return modes
