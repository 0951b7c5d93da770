"""Specs from before the key `details` keep their relations."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import yaml

from dbt_anonymize.project.layout import Project
from dbt_anonymize.relations import DETAILS
from dbt_anonymize.spec.draft import mapping
from dbt_anonymize.spec.editing import replace_text
from dbt_anonymize.spec.loading import spec_paths
from dbt_anonymize.spec.yaml_text import set_value

# Comment of every property file that was generated since details can be declared.
MARK = "# Details: "


def keep_details(project: Project, names: Collection[str] = ()) -> None:
    """Write `details: all` into specs without the key whose models include details."""
    for name, path in spec_paths(project.root).items():
        is_wanted = not names or name in names
        if is_wanted and _has_earlier_details(project, name) and not _declares_details(path):
            text = path.read_bytes().decode("utf-8")
            replace_text(path, text, set_value(text, ["details"], "all"))


def _declares_details(path: Path) -> bool:
    try:
        return "details" in mapping(yaml.safe_load(path.read_bytes()))
    except yaml.YAMLError:
        return True  # loading the spec reports the error


def _has_earlier_details(project: Project, name: str) -> bool:
    folder = project.models / name
    properties = folder / f"_{name}.yml"
    if not properties.is_file() or MARK in properties.read_text(encoding="utf-8"):
        return False
    return any((folder / f"{name}_{detail}.sql").is_file() for detail in DETAILS)
