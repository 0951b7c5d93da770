"""The dbt package as a project has installed it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.project_file import PROJECT_FILE
from dbt_anonymize.spec.draft import mapping
from dbt_anonymize.spec.yaml_file import read_yaml
from dbt_anonymize.versions import PACKAGE, mismatch


def project_settings(root: Path) -> Mapping[str, Any]:
    """Return the content of the dbt_project.yml of a project or package."""
    return mapping(read_yaml(root / PROJECT_FILE)[0])


def packages_folder(root: Path, settings: Mapping[str, Any]) -> Path:
    """Return the folder of installed packages."""
    return root / str(settings.get("packages-install-path") or "dbt_packages")


def installed_folder(root: Path) -> Path | None:
    """Return the folder into which `dbt deps` installed the package, or None."""
    folder = packages_folder(root, project_settings(root)) / PACKAGE
    return folder if (folder / PROJECT_FILE).is_file() else None


def installed_version(root: Path) -> str | None:
    """Return the version of the installed package, or None where there is none."""
    folder = installed_folder(root)
    version = project_settings(folder).get("version") if folder else None
    return None if version is None else str(version)


def check_installed(root: Path) -> None:
    """Raise a `ProjectError` if the installed package is not that of this command."""
    installed = installed_version(root)
    problem = mismatch(installed) if installed is not None else None
    if problem:
        raise ProjectError(problem)
