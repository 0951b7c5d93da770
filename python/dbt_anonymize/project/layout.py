"""Layout of a dbt project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.project.profile import rendered_model_path
from dbt_anonymize.project_file import PROJECT_FILE, project_folder
from dbt_anonymize.spec.draft import mapping
from dbt_anonymize.spec.yaml_file import read_yaml

# `vars: {dbt_anonymize_python: false}` takes Python out of the generated models.
PYTHON_VARIABLE = "dbt_anonymize_python"


@dataclass(frozen=True)
class Project:
    """A dbt project; ``models`` and ``seeds`` are the first of its paths of that kind.

    ``has_python``: its generated models may be Python; see `PYTHON_VARIABLE`.
    """

    root: Path
    name: str
    models: Path
    seeds: Path
    has_python: bool = True


def find_project(start: Path) -> Project:
    """Return the nearest dbt project, from a folder upwards.

    No project, a malformed ``dbt_project.yml``, or ``model-paths`` that depend on an unreadable
    profile, is a `ProjectError`.
    """
    root = project_folder(start)
    if root is None:
        raise ProjectError(
            f"{start.resolve()}: must be in a dbt project; there is no {PROJECT_FILE} here or "
            "above. Change to the project, or name it with --project-dir. Or start one with "
            "`dbt-anonymize new`."
        )
    content, problems = read_yaml(root / PROJECT_FILE)
    if not isinstance(content, dict) or not isinstance(content.get("name"), str):
        problem = str(problems[0]) if problems else "must be a mapping with a name. Correct it."
        raise ProjectError(f"{root / PROJECT_FILE}: {problem}")
    models = str((content.get("model-paths") or ["models"])[0])
    if "{{" in models:
        models = rendered_model_path(root)
    seeds = str((content.get("seed-paths") or ["seeds"])[0])
    return Project(
        root=root,
        name=content["name"],
        models=root / models,
        # Drafts are not written into paths that dbt has to render.
        seeds=root / ("seeds" if "{{" in seeds else seeds),
        has_python=_has_python(content, root / PROJECT_FILE),
    )


def _has_python(content: Mapping[str, Any], file: Path) -> bool:
    """Return the variable, which must stand where all packages see it: hooks of ours read it."""
    variables = mapping(content.get("vars"))
    if PYTHON_VARIABLE in mapping(variables.get(content["name"])):
        raise ProjectError(
            f"{file}: the variable {PYTHON_VARIABLE} must stand under vars itself, for all "
            f"packages; it stands under {content['name']}. Move it."
        )
    value = variables.get(PYTHON_VARIABLE, True)
    if not isinstance(value, bool):
        raise ProjectError(
            f"{file}: the variable {PYTHON_VARIABLE} must be true or false. Correct it."
        )
    return value
