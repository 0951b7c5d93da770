"""Places of relations, from the manifest that the last dbt command left in ``target``.

It is used only if dbt would write the same one now: no file that it describes is newer, and target,
database and schema are the same. In doubt dbt parses the project again.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dbt_anonymize.extensions.quick_reading.profile import PlainProfile
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.package import packages_folder, project_settings

# Keys of dbt_project.yml, and their defaults, for the folders that a manifest describes.
_FOLDERS = {
    "model-paths": "models",
    "seed-paths": "seeds",
    "macro-paths": "macros",
    "snapshot-paths": "snapshots",
}
_FILES = ("packages.yml", "dependencies.yml", "package-lock.yml", "vars.yml")
# Files where `env_var` affects no name, or whose effect is compared below.
_OTHERS = frozenset({"packages.yml", "dependencies.yml", "profiles.yml"})
_RELATIONS = frozenset({"model", "seed", "snapshot"})
# Names may also depend on the environment, directly or through keys of a profile. In a manifest a
# new line is written as \n, so a word boundary says nothing, and it may stand for a space.
_ENVIRONMENT = "env_var"
_PROFILE_KEY = re.compile(
    r"target(\s|\\[nrt])*(\[|\.(\s|\\[nrt])*(user|host|port|pass|path|get\b))"
)


class Entry(dict[str, Any]):
    """A JSON object whose keys are attributes too, as in dbt's manifest."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def manifest_of_last_build(root: Path, profile: PlainProfile) -> Entry | None:
    """Return the manifest of the last dbt command if it describes the current project."""
    folder = root / os.environ.get("DBT_TARGET_PATH", "target")
    try:
        run = json.loads((folder / "run_results.json").read_text("utf-8"), object_hook=Entry)
        text = (folder / "manifest.json").read_text("utf-8")
        manifest: Entry = json.loads(text, object_hook=Entry)
        settings = project_settings(root)
        is_current = (
            run.metadata.invocation_id == manifest.metadata.invocation_id
            and manifest.metadata.dbt_version == version("dbt-core")
            and not _depends_on_environment(text)
            and _is_same_run(run.args, root, profile)
            and _has_same_places(manifest, profile)
            and _files_exist(manifest, root, settings)
            and _is_unchanged(root, profile, settings, run.metadata.invocation_started_at)
        )
    except (OSError, ValueError, AttributeError, TypeError):
        return None
    return manifest if is_current else None


def _is_same_run(run: Entry, root: Path, profile: PlainProfile) -> bool:
    """Tell whether dbt ran with this profile and target, and without ``--vars``."""
    return (
        run.vars == {}
        and run.get("profile") == os.environ.get("DBT_PROFILE")
        and (run.get("target") or profile.default_target) == profile.target_name
        and Path(run.project_dir).resolve() == root.resolve()
        and (root / run.profiles_dir).resolve() == profile.folder.resolve()
    )


def _has_same_places(manifest: Entry, profile: PlainProfile) -> bool:
    """Tell whether relations without a configured place lie in that of the profile."""
    nodes = [node for node in manifest.nodes.values() if node.resource_type in _RELATIONS]
    databases = {node.database for node in nodes if node.config.database is None}
    schemas = {node.schema for node in nodes if node.config.schema is None}
    names = {node.relation_name: ".".join(map(quote_name, _path(node))) for node in nodes}
    names.pop(None, None)  # ephemeral
    return (
        databases == {profile.credentials.database}
        and schemas == {profile.credentials.schema}
        and all(name == quoted for name, quoted in names.items())
    )


def _files_exist(manifest: Entry, root: Path, settings: Mapping[str, Any]) -> bool:
    """Tell whether the described files and the folder of packages still exist."""
    project = manifest.metadata.project_name
    entries = [
        entry for kind in ("nodes", "sources", "macros") for entry in manifest[kind].values()
    ]
    files = {entry.original_file_path for entry in entries if entry.package_name == project}
    built_in = {project, "dbt", f"dbt_{manifest.metadata.adapter_type}"}
    has_no_packages = {entry.package_name for entry in entries} <= built_in
    return all((root / file).is_file() for file in files) and (
        has_no_packages or packages_folder(root, settings).is_dir()
    )


def _path(node: Entry) -> tuple[str, str, str]:
    return str(node.database), str(node.schema), str(node.alias)


def _is_unchanged(
    root: Path, profile: PlainProfile, settings: Mapping[str, Any], since: str
) -> bool:
    """Tell whether no file of dbt is newer than the run or depends on the environment."""
    start = datetime.fromisoformat(since)
    start = start if start.tzinfo else start.replace(tzinfo=UTC)
    for path in _dbt_files(root, profile, settings):
        state = path.stat()
        # A copied file may keep its old modification time.
        if max(state.st_mtime, state.st_ctime) >= start.timestamp():
            return False
        # The manifest holds the SQL itself.
        is_yaml = path.suffix in {".yml", ".yaml"} and path.name not in _OTHERS
        if is_yaml and _depends_on_environment(path.read_text("utf-8")):
            return False
    return True


def _depends_on_environment(text: str) -> bool:
    return _ENVIRONMENT in text or _PROFILE_KEY.search(text) is not None


def _dbt_files(root: Path, profile: PlainProfile, settings: Mapping[str, Any]) -> Iterator[Path]:
    packages = packages_folder(root, settings)
    yield profile.folder / "profiles.yml"
    yield from (root / name for name in _FILES if (root / name).is_file())
    yield from _package_files(root, settings)
    if packages.is_dir():
        yield packages
        for package in packages.iterdir():
            yield from _package_files(package, _without_jinja(project_settings(package)))


def _without_jinja(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the folders of a package; without names that use Jinja, so defaults apply."""
    return {key: [name for name in settings.get(key) or () if "{{" not in name] for key in _FOLDERS}


def _package_files(root: Path, settings: Mapping[str, Any]) -> Iterator[Path]:
    """Yield files and folders of a project or package."""
    yield root / "dbt_project.yml"
    for key, default in _FOLDERS.items():
        for name in settings.get(key) or [default]:
            if "{{" in name:
                raise ValueError(name)
            for folder, _, files in os.walk(root / name, followlinks=True):
                yield Path(folder)
                yield from (Path(folder, file) for file in files)
