"""Files that `dbt-anonymize new` adds to an existing dbt project."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.extensions.installation.changes import (
    Change,
    ClosedFolder,
    FileChange,
    read_text,
)
from dbt_anonymize.project.engines.settings import VAULT_LOCATION, Setting, missing_settings
from dbt_anonymize.project.register import PUBLISHED_TARGETS
from dbt_anonymize.project_file import PROJECT_FILE
from dbt_anonymize.spec.draft import items, mapping
from dbt_anonymize.spec.yaml_text import (
    add_key,
    append_item,
    insert_item,
    parse_yaml,
    replace_value,
    set_value,
)
from dbt_anonymize.vault.files import FOLDER_MODE
from dbt_anonymize.versions import PACKAGE, command_version, package_folder

VAULT = Path("vault") / "vault.duckdb"
VAULT_VARIABLE = "dbt_anonymize_vault_database"
# Files with records, and those that dbt makes anew.
IGNORED = ("vault/", "release/", "*.duckdb", "*.duckdb.wal", "target/", "logs/", "dbt_packages/")


def project_changes(
    root: Path,
    profiles: Path,
    target: str | None,
    git: str | None = None,
    published: Sequence[str] | None = None,
) -> list[Change]:
    """Return the changes that the project still needs, in the order to make them.

    ``profiles`` is the file of profiles; ``git`` the address of a repository instead of the package
    that the command carries; ``published`` the targets that publish, None to leave that as it is.
    A file that cannot be added to is a `ProjectError`.
    """
    project = read_yaml_file(root / PROJECT_FILE)
    settings = missing_settings(_kind(root, profiles, project, target), root, project)
    changes = [
        _packages(root, git),
        _edit(
            root / PROJECT_FILE,
            lambda text: _with_settings(
                with_publishers(with_dispatch(_with_profile(text, project), project), published),
                settings,
            ),
        ),
        *_profile_and_vault(root, profiles, project, target),
        _edit(root / ".gitignore", _with_ignored),
    ]
    return [change for change in changes if change is not None]


def _with_settings(text: str, settings: Sequence[Setting]) -> str:
    for setting in settings:
        text = set_value(text, setting.path, setting.value)
    return text


def package_entry(root: Path, git: str | None) -> dict[str, str]:
    """Return the line of packages.yml; a folder in the project by its relative path."""
    if git:
        return {"git": git, "revision": f"v{command_version()}"}
    folder = package_folder()
    inside = folder.is_relative_to(root.resolve()) and folder != root.resolve()
    return {"local": os.path.relpath(folder, root.resolve()) if inside else str(folder)}


def read_yaml_file(path: Path) -> Mapping[str, Any]:
    """Return the content of a YAML file; what is no mapping is a `ProjectError`."""
    text = read_text(path) or ""
    try:
        content = parse_yaml(text)
    except ProjectError as error:
        raise ProjectError(f"{path}: {error}") from None
    if content is not None and not isinstance(content, dict):
        raise ProjectError(f"{path}: must be a mapping of keys to values. Correct it.")
    return content or {}


def _edit(path: Path, edit: Callable[[str], str], *, is_secret: bool = False) -> FileChange | None:
    before = read_text(path)
    try:
        after = edit(before or "")
    except ProjectError as error:
        raise ProjectError(f"{path}: {error}") from None
    return None if after == before else FileChange(path, before, after, is_secret)


def _packages(root: Path, git: str | None) -> FileChange | None:
    entry = package_entry(root, git)
    dependencies = root / "dependencies.yml"
    has_packages = "packages" in read_yaml_file(dependencies)
    path = dependencies if has_packages else root / "packages.yml"
    entries = items(read_yaml_file(path).get("packages"))
    ours = next((n for n, listed in enumerate(entries) if _is_ours(mapping(listed), root)), None)

    def edit(text: str) -> str:
        if ours is None:
            return append_item(text, ["packages"], entry)
        if set(entries[ours]) != set(entry):
            if git is None:  # somebody chose where the package comes from
                return text
            raise ProjectError("must not install dbt_anonymize otherwise. Remove that entry.")
        for key, value in entry.items():
            if entries[ours][key] != value and not _is_same_folder(root, entries[ours][key], value):
                text = replace_value(text, ["packages", ours, key], value)
        return text

    return _edit(path, edit)


def _is_same_folder(root: Path, first: object, second: str) -> bool:
    return (root / str(first)).resolve() == (root / second).resolve()


def _is_ours(entry: Mapping[str, Any], root: Path) -> bool:
    address = str(entry.get("git") or entry.get("package") or "").removesuffix(".git")
    if address.rpartition("/")[2].replace("-", "_") == PACKAGE:
        return True
    if not isinstance(entry.get("local"), str):
        return False
    folder = root / entry["local"]
    if folder.resolve() == package_folder().resolve() or "dbt_package" in folder.parts:
        return True
    declared = folder / PROJECT_FILE
    return declared.is_file() and read_yaml_file(declared).get("name") == PACKAGE


def _with_profile(text: str, project: Mapping[str, Any]) -> str:
    """Return dbt_project.yml with a profile, where neither it nor the environment names one."""
    if os.environ.get("DBT_PROFILE") or project.get("profile"):
        return text
    return set_value(text, ["profile"], _profile_name(project))


def _profile_name(project: Mapping[str, Any]) -> str:
    """Return the profile that dbt takes; that of a project without one is named after it."""
    return str(os.environ.get("DBT_PROFILE") or project.get("profile") or project.get("name"))


def with_dispatch(text: str, project: Mapping[str, Any]) -> str:
    """Return dbt_project.yml with our macro for loading seeds, whose errors show no record."""
    text = _with_flag(text, project)
    entries = items(project.get("dispatch"))
    for number, entry in enumerate(entries):
        if mapping(entry).get("macro_namespace") != "dbt":
            continue
        order = items(mapping(entry).get("search_order"))
        if PACKAGE in order:
            return text
        place = order.index("dbt") if "dbt" in order else max(0, len(order) - 1)
        return insert_item(text, ["dispatch", number, "search_order"], place, PACKAGE)
    order = [str(project.get("name")), PACKAGE, "dbt"]
    return append_item(text, ["dispatch"], {"macro_namespace": "dbt", "search_order": order})


def with_publishers(text: str, published: Sequence[str] | None) -> str:
    """Return dbt_project.yml with the targets that publish, where they are given."""
    if not published or publishers(parse_yaml(text) or {}) == list(published):
        return text
    return set_value(text, ["vars", PUBLISHED_TARGETS], list(published))


def publishers(project: Mapping[str, Any]) -> list[str] | None:
    """Return the targets that a project says publish; None where it does not say."""
    declared = mapping(project.get("vars")).get(PUBLISHED_TARGETS)
    return None if declared is None else [str(name) for name in items(declared)]


def names_publishers(root: Path) -> bool:
    """Tell whether a project declares its publishing targets."""
    return publishers(read_yaml_file(root / PROJECT_FILE)) is not None


def _with_flag(text: str, project: Mapping[str, Any]) -> str:
    """Add the flag that is the default since dbt 1.11."""
    from dbt.version import __version__ as dbt_version  # noqa: PLC0415 (slow to import)

    flag = "require_generic_test_arguments_property"
    is_old = tuple(map(int, dbt_version.split(".")[:2])) < (1, 11)
    if not is_old or mapping(project.get("flags")).get(flag) is not None:
        return text
    return add_key(text, ["flags", flag], True)


def _profile_and_vault(
    root: Path, profiles: Path, project: Mapping[str, Any], target: str | None
) -> Iterator[Change | None]:
    """Yield the changes that attach the vault and close its folder; only DuckDB attaches files."""
    name = _profile_name(project)
    alias = str(mapping(project.get("vars")).get(VAULT_VARIABLE, "vault"))
    content = read_yaml_file(profiles)
    if name not in content:
        yield _new_profile(root, profiles, name, alias)
        yield _closed_folder(root, root / VAULT.parent)
        return
    key, output = _chosen_output(root, profiles, name, content, target)
    missing = missing_settings(str(output.get("type")), root, project)
    if any(setting.path == ("vars", VAULT_LOCATION) for setting in missing):
        yield _closed_folder(root, root / VAULT.parent)
    if output.get("type") != "duckdb":
        return
    attached = [mapping(attachment) for attachment in items(output.get("attach"))]
    of_vault = (
        attachment
        for attachment in attached
        if str(attachment.get("alias", "")).lower() == alias.lower()
    )
    path = next((str(attachment.get("path")) for attachment in of_vault), None)
    if path is None:
        inside = profiles.resolve().parent == root.resolve()
        file = _vault_of(root, key, mapping(mapping(content[name]).get("outputs")))
        path = file.as_posix() if inside else str(root.resolve() / file)
        entry = {"path": path, "alias": alias}
        place = [name, "outputs", key, "attach"]
        yield _edit(profiles, lambda text: append_item(text, place, entry), is_secret=True)
    if "{{" not in path and ":" not in path:
        yield _closed_folder(root, (root / path).parent)


def _kind(root: Path, profiles: Path, project: Mapping[str, Any], target: str | None) -> str:
    """Return the adapter of the target; a profile that is missing is written for DuckDB."""
    name = _profile_name(project)
    content = read_yaml_file(profiles)
    if name not in content:
        return "duckdb"
    return str(_chosen_output(root, profiles, name, content, target)[1].get("type"))


def _vault_of(root: Path, target: str, outputs: Mapping[str, Any]) -> Path:
    """Return a vault file for a target that no other target of the profile attaches."""
    attached = {
        (root / str(mapping(attachment).get("path"))).resolve()
        for output in outputs.values()
        for attachment in items(mapping(output).get("attach"))
    }
    words = re.sub(r"\W+", "_", target)
    names = [VAULT.name, f"{words}.duckdb", *(f"{words}_{n}.duckdb" for n in range(2, 100))]
    files = (VAULT.with_name(file) for file in names)
    return next(file for file in files if (root / file).resolve() not in attached)


def _chosen_output(
    root: Path, profiles: Path, name: str, content: Mapping[str, Any], target: str | None
) -> tuple[str, Mapping[str, Any]]:
    outputs = mapping(mapping(content[name]).get("outputs"))
    chosen = target or os.environ.get("DBT_TARGET") or mapping(content[name]).get("target")
    if chosen not in outputs:
        from dbt_anonymize.project.profile import read_profile  # noqa: PLC0415 (slow to import)

        # Rendered by dbt, or an error that says what is wrong.
        chosen = read_profile(root, target).target_name
    if chosen not in outputs:
        raise ProjectError(
            f"{profiles}: the target {chosen} of the profile {name} must be written under outputs. "
            "Name one with --target."
        )
    return str(chosen), mapping(outputs[chosen])


def _new_profile(root: Path, profiles: Path, name: str, alias: str) -> FileChange:
    output = {
        "type": "duckdb",
        "path": f"{name}.duckdb",
        "threads": 2,
        "attach": [{"path": VAULT.as_posix(), "alias": alias}],
    }
    in_project = root / "profiles.yml"
    path = profiles if profiles.exists() and profiles.parent == root else in_project
    before = read_text(path)
    after = add_key(before or "", [name], {"target": "dev", "outputs": {"dev": output}})
    return FileChange(path, before, after, is_secret=before is not None)


def _closed_folder(root: Path, folder: Path) -> ClosedFolder | None:
    """Return the vault's folder if it must be made or closed; `doctor` reports shared folders."""
    is_shared = root.resolve().is_relative_to(folder.resolve())
    is_open = os.name == "posix" and (
        not folder.is_dir() or stat.S_IMODE(folder.stat().st_mode) != FOLDER_MODE
    )
    return None if is_shared or (folder.is_dir() and not is_open) else ClosedFolder(folder)


def _with_ignored(text: str) -> str:
    ignored = {line.strip().strip("/") for line in text.splitlines()}
    missing = [line for line in IGNORED if line.strip("/") not in ignored]
    if not missing:
        return text
    head = f"{text.rstrip()}\n" if text.strip() else ""
    return head + "".join(f"{line}\n" for line in missing)
