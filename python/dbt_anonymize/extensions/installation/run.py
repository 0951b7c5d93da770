"""Run `dbt-anonymize new`: inspect the folder, and install the package."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.extensions.installation.changes import Change
from dbt_anonymize.extensions.installation.project_files import (
    names_publishers,
    project_changes,
    read_yaml_file,
)
from dbt_anonymize.extensions.installation.starter import own_tables, starter_changes
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.package import installed_folder, installed_version
from dbt_anonymize.project.profile import dbt_arguments, run_dbt
from dbt_anonymize.project_file import project_folder
from dbt_anonymize.versions import command_version, package_folder


@dataclass(frozen=True)
class Plan:
    """Steps for a folder.

    ``is_starter``: it begins with an invented table; ``names_publishers``: it declares publishing
    targets; ``tables``: names of those in a folder that becomes a project.
    """

    root: Path
    changes: list[Change]
    needs_package: bool
    is_starter: bool
    names_publishers: bool = False
    tables: tuple[str, ...] = ()


def plan_installation(
    folder: Path, target: str | None, git: str | None, published: Sequence[str] | None = None
) -> Plan:
    """Plan the changes of a folder, publishing targets included; nothing is written.

    A folder that is in no dbt project, and holds other things than tables as seeds, is a
    `ProjectError`.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise ProjectError(f"{folder}: must be a folder. Make it first.")
    if project_folder(folder) is None:
        changes = starter_changes(folder, git, published)
        tables = tuple(table.stem for table in own_tables(folder))
        return Plan(folder, changes, needs_package=True, is_starter=not tables, tables=tables)
    root = find_project(folder).root
    with contextlib.chdir(root):
        profiles = Path(dbt_arguments(root, target).profiles_dir) / "profiles.yml"
    changes = project_changes(root, profiles.absolute(), target, git, published)
    is_current = installed_version(root) == command_version() and (
        git is not None or _comes_from_here(root)
    )
    return Plan(
        root,
        changes,
        needs_package=not is_current,
        is_starter=False,
        names_publishers=names_publishers(root),
    )


def _comes_from_here(root: Path) -> bool:
    """Tell whether an installed link leads to the package of this command, or is deliberate."""
    folder = installed_folder(root)
    if folder is None or not folder.is_symlink():
        return folder is not None
    declared = read_yaml_file(root / "packages.yml").get("packages") or []
    locals_ = [
        (root / str(package.get("local"))).resolve() for package in declared if package.get("local")
    ]
    return folder.resolve() in locals_ or folder.resolve() == package_folder().resolve()


def install(root: Path) -> None:
    """Run `dbt deps`; what stops it is a `ProjectError`."""
    with contextlib.chdir(root):
        outcome = run_dbt(["--quiet", "deps"])
    if not outcome.success:
        raise ProjectError(
            f"{root}: `dbt deps` must install the packages; it stopped. Run it to see why."
        )
