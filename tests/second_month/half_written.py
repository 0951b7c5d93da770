"""A spec that somebody has begun and left."""

from __future__ import annotations

from pathlib import Path

from tests.projects import Project


def half_written(project: Project, name: str, *, more: str = "") -> Path:
    """Write a spec with an undecided role beside the others of a project."""
    path = project.folder / "anonymizations" / f"{name}.yml"
    text = f"name: {name}\nsource: {{ref: customers}}\ncolumns: {{zip: {{role: TODO}}}}\n{more}"
    path.write_text(text, encoding="utf-8")
    return path
