"""The dbt package that belongs to this command, and whether a project has installed it."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

COMMAND = "dbt-anonymize"
PACKAGE = "dbt_anonymize"
"""The name of the dbt package."""


def command_version() -> str:
    """Return the version of the installed command."""
    return version(COMMAND)


def package_folder() -> Path:
    """Return the folder of the dbt package: beside the modules, or the clone that holds them."""
    here = Path(__file__).resolve().parent
    carried = here / "dbt_package"
    return carried if carried.is_dir() else here.parent.parent


def mismatch(package: object, command: str | None = None) -> str | None:
    """Return what to do if command and dbt package have different versions, else None.

    Examples
    --------
    >>> mismatch("0.2.0", "0.2.0") is None
    True
    >>> print(mismatch("0.1.0", "0.2.0"))
    dbt-anonymize: command and dbt package must have the same version; the command has 0.2.0, the \
package 0.1.0. Run `dbt-anonymize new`, or install dbt-anonymize==0.1.0.
    """
    ours = command or command_version()
    if str(package) == ours:
        return None
    return (
        "dbt-anonymize: command and dbt package must have the same version; the command has "
        f"{ours}, the package {package}. Run `dbt-anonymize new`, or install "
        f"{COMMAND}=={package}."
    )
