"""Settings that servers need and DuckDB does not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.project.engines import find_server, missing_engine
from dbt_anonymize.project.layout import PYTHON_VARIABLE
from dbt_anonymize.spec.draft import mapping
from dbt_anonymize.spec.yaml_text import parse_yaml

# The variable with the folder of a vault that only the file system can protect.
VAULT_LOCATION = "dbt_anonymize_vault_location"


@dataclass(frozen=True)
class Setting:
    """A key of dbt_project.yml, what `new` writes there, and why."""

    path: tuple[str, ...]
    value: Any
    reason: str

    def __str__(self) -> str:
        """Return it as YAML with its reason."""
        *above, last = self.path
        return f"{'.'.join(above)}: {{{last}: {str(self.value).lower()}}} ({self.reason})"


WITHOUT_PYTHON = Setting(
    ("vars", PYTHON_VARIABLE),
    False,
    "it runs no Python models; `dbt-anonymize build` calls dbt and trains in between",
)


def missing_settings(kind: str, root: Path, project: Mapping[str, Any]) -> list[Setting]:
    """Return what dbt_project.yml lacks for the adapter of a target; nothing for DuckDB."""
    server = find_server(kind)
    settings = server.settings(root) if server else ()
    return [setting for setting in settings if not _is_set(project, setting)]


def _is_set(project: Mapping[str, Any], setting: Setting) -> bool:
    above, last = setting.path
    if last == PYTHON_VARIABLE:
        return mapping(project.get(above)).get(last) is False
    return bool(list(values_under(project.get(above), {last, last.removeprefix("+")})))


def values_under(content: object, names: set[str]) -> Iterator[Any]:
    """Yield the values of keys of these names, at any depth."""
    for key, value in mapping(content).items():
        if key in names:
            yield value
        else:
            yield from values_under(value, names)


def kind_of_target(root: Path, target: str | None = None) -> str | None:
    """Return the adapter of a target from profiles.yml; None where dbt must render it."""
    folders = [os.environ.get("DBT_PROFILES_DIR"), root, Path.home() / ".dbt"]
    files = (Path(folder) / "profiles.yml" for folder in folders if folder)
    file = next((file for file in files if file.is_file()), None)
    try:
        project = mapping(parse_yaml((root / "dbt_project.yml").read_text(encoding="utf-8")))
        profiles = mapping(parse_yaml(file.read_text(encoding="utf-8"))) if file else {}
    except (OSError, ValueError, ProjectError):
        return None
    profile = mapping(profiles.get(os.environ.get("DBT_PROFILE") or str(project.get("profile"))))
    chosen = target or os.environ.get("DBT_TARGET") or profile.get("target")
    kind = mapping(mapping(profile.get("outputs")).get(str(chosen))).get("type")
    return kind if isinstance(kind, str) and "{{" not in kind else None


def unmet_settings(root: Path) -> list[str]:
    """Return a line for each missing setting that would stop a build on the target."""
    kind = kind_of_target(root)
    if kind is None:
        return []
    if missing := missing_engine(kind):
        return [missing]
    text = (root / "dbt_project.yml").read_text(encoding="utf-8")
    return [
        f"{kind} needs in dbt_project.yml: {setting}. Run `dbt-anonymize new`."
        for setting in missing_settings(kind, root, mapping(parse_yaml(text)))
    ]
