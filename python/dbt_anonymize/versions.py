"""Versions of the command and of the dbt package that belongs to it."""

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
    modules = Path(__file__).resolve().parent
    packaged = modules / "dbt_package"
    return packaged if packaged.is_dir() else modules.parent.parent


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
    command_has = command or command_version()
    if str(package) == command_has:
        return None
    return (
        "dbt-anonymize: command and dbt package must have the same version; the command has "
        f"{command_has}, the package {package}. Run `dbt-anonymize new`, or install "
        f"{COMMAND}=={package}."
    )
