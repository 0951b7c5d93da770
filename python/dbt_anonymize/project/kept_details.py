"""Specs from before `details` could be declared keep the relations that they have."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import yaml

from dbt_anonymize.project.layout import Project
from dbt_anonymize.spec.details import DETAILS
from dbt_anonymize.spec.draft import mapping
from dbt_anonymize.spec.editing import replace_text
from dbt_anonymize.spec.loading import spec_paths
from dbt_anonymize.spec.yaml_text import with_value

# Stands in every property file that is generated since details can be declared.
MARK = "# Details: "


def without_details(project: Project, names: Collection[str] = ()) -> list[str]:
    """Return the anonymizations whose models have details that their specs do not know yet."""
    return [
        name
        for name, path in spec_paths(project.root).items()
        if (not names or name in names)
        and _has_earlier_details(project, name)
        and not _says_details(path)
    ]


def keep_details(project: Project, names: Collection[str] = ()) -> list[str]:
    """Write `details: all` into these specs, and return their names."""
    kept = without_details(project, names)
    for name in kept:
        path = spec_paths(project.root)[name]
        text = path.read_bytes().decode("utf-8")
        replace_text(path, text, with_value(text, ["details"], "all"))
    return kept


def _says_details(path: Path) -> bool:
    try:
        return "details" in mapping(yaml.safe_load(path.read_bytes()))
    except yaml.YAMLError:
        return True  # whoever loads it says what is wrong


def _has_earlier_details(project: Project, name: str) -> bool:
    folder = project.models / name
    properties = folder / f"_{name}.yml"
    if not properties.is_file() or MARK in properties.read_text(encoding="utf-8"):
        return False
    return any((folder / f"{name}_{detail}.sql").is_file() for detail in DETAILS)
