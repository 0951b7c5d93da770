"""Where things lie in a dbt project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.project.profile import rendered_model_path
from dbt_anonymize.spec.yaml_file import read_yaml

PROJECT_FILE = "dbt_project.yml"


@dataclass(frozen=True)
class Project:
    """A dbt project; ``models`` is the first of its ``model-paths``."""

    root: Path
    name: str
    models: Path


def find_project(start: Path) -> Project:
    """Return the nearest dbt project, from a folder upwards.

    None, a malformed ``dbt_project.yml``, or ``model-paths`` that depend on an unreadable profile,
    is a `ProjectError`.
    """
    folder = start.resolve()
    root = next((f for f in (folder, *folder.parents) if (f / PROJECT_FILE).is_file()), None)
    if root is None:
        raise ProjectError(
            f"{start}: must be in a dbt project; there is no {PROJECT_FILE} here or above. "
            "Change to the project, or name it with --project-dir."
        )
    content, problems = read_yaml(root / PROJECT_FILE)
    if not isinstance(content, dict) or not isinstance(content.get("name"), str):
        came = f"; {problems[0]}" if problems else ""
        raise ProjectError(
            f"{root / PROJECT_FILE}: must be a mapping with a name{came} Correct it."
        )
    models = str((content.get("model-paths") or ["models"])[0])
    if "{{" in models:
        models = rendered_model_path(root)
    return Project(root=root, name=content["name"], models=root / models)
