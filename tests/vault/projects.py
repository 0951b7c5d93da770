"""A project whose source with identifiers is in the vault, with one release that has tokens."""

from __future__ import annotations

import shutil
from pathlib import Path

from dbt_anonymize.project.generate import generate
from tests.projects import Project, copy_consumer

SPECS = Path(__file__).parent / "anonymizations"
# What names a person in the source of the consumer project.
IDENTIFIERS = ('"full name"', '"e-mail"')


def copy_with(folder: Path, *names: str) -> Project:
    """Copy the stranger's project with other anonymizations, its customers seeded in the vault."""
    project = copy_consumer(folder)
    for spec in (folder / "anonymizations").glob("*.yml"):
        spec.unlink()
    (folder / "models" / "unit_tests.yml").unlink()
    for name in names:
        shutil.copy(SPECS / f"{name}.yml", folder / "anonymizations")
    generate(folder)
    project.edit(
        "dbt_project.yml",
        lambda text: text + "seeds:\n  shop:\n    customers: {+database: vault}\n",
    )
    return project


def edit_spec(project: Project, name: str, before: str, after: str) -> None:
    """Change a spec and write its models anew."""
    project.edit(f"anonymizations/{name}.yml", lambda text: text.replace(before, after))
    generate(project.folder)
