"""Who may read the files of the databases: asked before anything opens them.

Opening the warehouse closes the vault to others, as a build does. So what it was like before can
only be told by who looked before.
"""

from __future__ import annotations

import contextlib
import os
import stat
from argparse import Namespace
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project import Project


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
    WarehouseError
        If the profile cannot be read.
    """
    # Slow to import, as in `open_warehouse`.
    from dbt.cli.resolvers import default_profiles_dir  # noqa: PLC0415
    from dbt.config.runtime import load_profile  # noqa: PLC0415
    from dbt.flags import set_from_args  # noqa: PLC0415
    from dbt_common.exceptions import DbtBaseException  # noqa: PLC0415

    # Paths in profiles.yml are relative to the project.
    with contextlib.chdir(project.root):
        chosen = Namespace(
            project_dir=str(project.root),
            profiles_dir=os.environ.get("DBT_PROFILES_DIR", str(default_profiles_dir())),
            profile=os.environ.get("DBT_PROFILE"),
            target=target or os.environ.get("DBT_TARGET"),
        )
        try:
            set_from_args(chosen, None)
            profile = load_profile(str(project.root), {}, chosen.profile, chosen.target)
        except DbtBaseException as error:
            raise WarehouseError(
                f"{project.root}: must have a profile that dbt can read; got "
                f"{type(error).__name__}. See `dbt debug`."
            ) from error
        credentials: Any = profile.credentials
        if credentials.type != "duckdb":
            return {}
        attached = getattr(credentials, "attach", None) or []
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
