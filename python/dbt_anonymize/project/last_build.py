"""Places of relations, from the manifest that the last dbt command left in ``target``.

It is taken only if dbt would make the same one now: nothing that it describes is newer, and it was
made for the same target, database and schema. In doubt dbt reads the project again.
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

from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.plain_profile import PlainProfile
from dbt_anonymize.spec.draft import mapping
from dbt_anonymize.spec.yaml_file import read_yaml

# Keys of dbt_project.yml with their defaults: where what a manifest describes is declared.
_FOLDERS = {
    "model-paths": "models",
    "seed-paths": "seeds",
    "macro-paths": "macros",
    "snapshot-paths": "snapshots",
}
_FILES = ("packages.yml", "dependencies.yml", "package-lock.yml", "vars.yml")
# What variables say there, no name depends on, or it is compared itself.
_OTHERS = frozenset({"packages.yml", "dependencies.yml", "profiles.yml"})
_RELATIONS = frozenset({"model", "seed", "snapshot"})
# What names may depend on beside what is compared below: the environment, and what it may set in
# a profile.
_ELSEWHERE = re.compile(r"env_var|\btarget\s*(\[|\.\s*(user|host|port|pass|path|get\b))")


class Entry(dict[str, Any]):
    """An object of a JSON file whose keys are attributes too, as those of dbt's manifest are."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def manifest_of_last_build(root: Path, profile: PlainProfile) -> Entry | None:
    """Return the manifest of the last dbt command if it is that of the project as it is now."""
    folder = root / os.environ.get("DBT_TARGET_PATH", "target")
    try:
        ran = json.loads((folder / "run_results.json").read_text("utf-8"), object_hook=Entry)
        text = (folder / "manifest.json").read_text("utf-8")
        manifest: Entry = json.loads(text, object_hook=Entry)
        declared = _declared(root)
        is_current = (
            ran.metadata.invocation_id == manifest.metadata.invocation_id
            and manifest.metadata.dbt_version == version("dbt-core")
            and not _ELSEWHERE.search(text)
            and _has_run_so(ran.args, root, profile)
            and _lies_there(manifest, profile)
            and _is_there(manifest, root, declared)
            and _is_unchanged(root, profile, declared, ran.metadata.invocation_started_at)
        )
    except (OSError, ValueError, AttributeError, TypeError):
        return None
    return manifest if is_current else None


def _has_run_so(ran: Entry, root: Path, profile: PlainProfile) -> bool:
    """Tell whether dbt ran with the profile and target, and without variables of its own."""
    return (
        ran.vars == {}
        and ran.get("profile") == os.environ.get("DBT_PROFILE")
        and (ran.get("target") or profile.default_target) == profile.target_name
        and Path(ran.project_dir).resolve() == root.resolve()
        and (root / ran.profiles_dir).resolve() == profile.folder.resolve()
    )


def _lies_there(manifest: Entry, profile: PlainProfile) -> bool:
    """Tell whether relations without a place of their own lie where the profile says."""
    nodes = [one for one in manifest.nodes.values() if one.resource_type in _RELATIONS]
    databases = {one.database for one in nodes if one.config.database is None}
    schemas = {one.schema for one in nodes if one.config.schema is None}
    names = {one.relation_name: ".".join(map(quote_name, _path(one))) for one in nodes}
    names.pop(None, None)  # ephemeral
    return (
        databases == {profile.credentials.database}
        and schemas == {profile.credentials.schema}
        and all(name == quoted for name, quoted in names.items())
    )


def _is_there(manifest: Entry, root: Path, declared: Mapping[str, Any]) -> bool:
    """Tell whether the files that it describes, and the folder of packages, are still there."""
    project = manifest.metadata.project_name
    described = [one for kind in ("nodes", "sources", "macros") for one in manifest[kind].values()]
    files = {one.original_file_path for one in described if one.package_name == project}
    shipped = {project, "dbt", f"dbt_{manifest.metadata.adapter_type}"}
    is_alone = {one.package_name for one in described} <= shipped
    return all((root / file).is_file() for file in files) and (
        is_alone or _installed(root, declared).is_dir()
    )


def _path(node: Entry) -> tuple[str, str, str]:
    return str(node.database), str(node.schema), str(node.alias)


def _is_unchanged(
    root: Path, profile: PlainProfile, declared: Mapping[str, Any], since: str
) -> bool:
    """Tell whether nothing that dbt reads is newer, or says what depends on the environment."""
    start = datetime.fromisoformat(since)
    start = start if start.tzinfo else start.replace(tzinfo=UTC)
    for path in _read_by_dbt(root, profile, declared):
        state = path.stat()
        # Whoever copies a file may keep the time of its content.
        if max(state.st_mtime, state.st_ctime) >= start.timestamp():
            return False
        # SQL is in the manifest as it is written.
        is_yaml = path.suffix in {".yml", ".yaml"} and path.name not in _OTHERS
        if is_yaml and _ELSEWHERE.search(path.read_text("utf-8")):
            return False
    return True


def _read_by_dbt(root: Path, profile: PlainProfile, declared: Mapping[str, Any]) -> Iterator[Path]:
    installed = _installed(root, declared)
    yield profile.folder / "profiles.yml"
    yield from (root / name for name in _FILES if (root / name).is_file())
    yield from _of_package(root, declared)
    if installed.is_dir():
        yield installed
        for package in installed.iterdir():
            yield from _of_package(package, _without_jinja(_declared(package)))


def _declared(root: Path) -> Mapping[str, Any]:
    """Return what the dbt_project.yml of a project or package says."""
    return mapping(read_yaml(root / "dbt_project.yml")[0])


def _without_jinja(declared: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the folders that a package names; where Jinja names them, it has those by default."""
    return {key: [name for name in declared.get(key) or () if "{{" not in name] for key in _FOLDERS}


def _installed(root: Path, declared: Mapping[str, Any]) -> Path:
    """Return the folder of the packages that are installed."""
    return root / str(declared.get("packages-install-path", "dbt_packages"))


def _of_package(root: Path, declared: Mapping[str, Any]) -> Iterator[Path]:
    """Yield files and folders of a project or package."""
    yield root / "dbt_project.yml"
    for key, default in _FOLDERS.items():
        for name in declared.get(key) or [default]:
            if "{{" in name:
                raise ValueError(name)
            for folder, _, files in os.walk(root / name, followlinks=True):
                yield Path(folder)
                yield from (Path(folder, file) for file in files)
