"""The profile that dbt would use, read without opening a warehouse."""

from __future__ import annotations

import contextlib
import os
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_anonymize.errors import ProjectError

if TYPE_CHECKING:
    from dbt.config.profile import Profile


def dbt_arguments(root: Path, target: str | None = None) -> Namespace:
    """Return what dbt takes from its command line, as it falls back to where nothing is given.

    Parameters
    ----------
    root : Path
        Folder that holds ``dbt_project.yml``, which is the working directory.
    target : str, optional
        Target of the profile; by default ``DBT_TARGET`` or that of the profile.
    """
    from dbt.cli.resolvers import default_profiles_dir  # noqa: PLC0415 (slow to import)

    return Namespace(
        project_dir=str(root),
        profiles_dir=os.environ.get("DBT_PROFILES_DIR", str(default_profiles_dir())),
        profile=os.environ.get("DBT_PROFILE"),
        target=target or os.environ.get("DBT_TARGET"),
        vars={},
        threads=None,
    )


def read_profile(root: Path, target: str | None = None) -> Profile:
    """Return the profile of a dbt project.

    Parameters
    ----------
    root : Path
        Folder that holds ``dbt_project.yml``; paths in the profile are relative to it.
    target : str, optional
        Target of the profile; by default ``DBT_TARGET`` or that of the profile.

    Raises
    ------
    ProjectError
        If there is none, or dbt cannot read it.
    """
    # Slow to import.
    from dbt.config.runtime import load_profile  # noqa: PLC0415
    from dbt.flags import set_from_args  # noqa: PLC0415
    from dbt_common.exceptions import DbtBaseException  # noqa: PLC0415

    with contextlib.chdir(root):
        chosen = dbt_arguments(root, target)
        try:
            set_from_args(chosen, None)
            return load_profile(str(root), {}, chosen.profile, chosen.target)
        except DbtBaseException as error:
            raise ProjectError(
                f"{root}: must have a profile that dbt can read; got {type(error).__name__}. "
                "See `dbt debug`."
            ) from error


def rendered_model_path(root: Path) -> str:
    """Return the first of ``model-paths`` where dbt has to fill it in, as in ``{{ target.name }}``.

    Parameters
    ----------
    root : Path
        Folder that holds ``dbt_project.yml``.

    Raises
    ------
    ProjectError
        If dbt cannot read the profile or the project.
    """
    from dbt.config.runtime import load_project  # noqa: PLC0415 (slow to import)
    from dbt_common.exceptions import DbtBaseException  # noqa: PLC0415

    profile = read_profile(root)
    try:
        return str(load_project(str(root), False, profile, {}).model_paths[0])
    except DbtBaseException as error:
        raise ProjectError(
            f"{root}: must be a project that dbt can read; got {type(error).__name__}. "
            "See `dbt debug`."
        ) from error
