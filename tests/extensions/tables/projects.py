"""A table that the stranger's project declares."""

from __future__ import annotations

from typing import Any

import yaml

from tests.projects import Project

NAME = "counts"


def spec_of(project: Project, **table: Any) -> dict[str, Any]:
    """Return a spec with a table over the customers."""
    text = (project.folder / "anonymizations" / "customers.yml").read_text(encoding="utf-8")
    customers = yaml.safe_load(text)
    return {
        **{key: customers[key] for key in ("version", "source", "record_key", "columns")},
        "name": NAME,
        "table": {"dimensions": ["birth_date", "zip", "churned"], **table},
    }


def declare(project: Project, *, more: dict[str, Any] | None = None, **table: Any) -> None:
    """Write the spec, with further keys beside the table."""
    content = {**spec_of(project, **table), **(more or {})}
    path = project.folder / "anonymizations" / f"{content['name']}.yml"
    path.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
