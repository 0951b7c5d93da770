"""A table that the stranger's project declares."""

from __future__ import annotations

from typing import Any

import duckdb
import yaml

from dbt_anonymize.project.generate import generate
from tests.projects import Project

NAME = "counts"
SEED = "seeds/customers.csv"
LEVELS = {"birth_date": 2, "zip": 1}
HIDE = {"method": "hide", "levels": LEVELS}
SHOWS = [["birth_date", "zip", "churned"], ["zip", "churned"], ["churned"], []]


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


def build(project: Project) -> str:
    """Generate and build the table; return what dbt says."""
    generate(project.folder, [NAME])
    return project.build("--select", f"+path:models/{NAME}").messages


def released(project: Project) -> dict[tuple[str | None, ...], tuple[Any, ...]]:
    """Return the rows of the release: figures and status by labels."""
    with duckdb.connect(str(project.release_file(NAME)), read_only=True) as reader:
        rows = reader.execute(f"from {NAME}_table").fetchall()
    return {row[:3]: row[3:] for row in rows}
