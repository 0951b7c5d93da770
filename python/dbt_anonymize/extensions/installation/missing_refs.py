"""Seeds and models that specs name and no file of the project makes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import yaml

from dbt_anonymize.project.package import packages_folder, project_settings
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.draft import items, mapping
from dbt_anonymize.spec.hierarchy_levels import command_for
from dbt_anonymize.spec.loading import FOLDER, SUFFIX
from dbt_anonymize.spec.problems import did_you_mean
from dbt_anonymize.versions import PACKAGE

# Suffixes of the files that make a node, by the key of dbt_project.yml that names their folders.
_SUFFIXES = {
    "seed-paths": ("seeds", {".csv"}),
    "model-paths": ("models", {".sql", ".py"}),
    "snapshot-paths": ("snapshots", {".sql"}),
}
_SNAPSHOT = re.compile(r"\{%-?\s*snapshot\s+(\w+)")


def refs_of(spec: Spec) -> set[str]:
    """Return the models, seeds and snapshots that a spec names."""
    population = spec.population_relation
    hierarchies = {tree.ref for tree in spec.quasi_identifiers.values()}
    read = {spec.source.ref, population.ref if population else None, *hierarchies}
    return {ref for ref in read if ref is not None}


def missing_refs(root: Path, specs: Sequence[Spec]) -> Iterator[str]:
    """Yield the problem of each anonymization that reads what no file of the project makes.

    Files of installed packages count too. Nothing is yielded where Jinja names a folder.
    """
    packages = packages_folder(root, project_settings(root))
    installed = packages.iterdir() if packages.is_dir() else ()
    # Ours has no seeds and models for others.
    others = [_folders(package) for package in installed if package.name != PACKAGE]
    own_folders = _folders(root)
    folders = [*own_folders, *chain.from_iterable(others)]
    if any("{{" in str(folder) for folder, _ in folders):
        return
    names = _names_of_files(folders)
    if all(refs_of(spec) <= names for spec in specs):  # contents need not be read
        return
    known = names | _names_in_files(folders)
    own = _names_of_files(own_folders) | _names_in_files(own_folders)
    for spec in specs:
        read = refs_of(spec)
        if missing := sorted(read - known):
            remedy = "Add the missing seed or model, or correct the ref in the spec."
            path = root / FOLDER / f"{spec.name}{SUFFIX}"
            commands = filter(None, (command_for(path, name) for name in missing))
            similar = [did_you_mean(name, own - read, "") for name in missing]
            similar += [f"Write the seed: `{command}`." for command in commands]
            yield (
                f"{spec.name} reads {', '.join(missing)}, which must be a seed, model or snapshot; "
                f"no file of the project makes it. {' '.join(filter(None, [*similar, remedy]))}"
            )


def _folders(project: Path) -> list[tuple[Path, set[str]]]:
    """Return the folders of a project that hold nodes, with the suffixes of their files."""
    content = project_settings(project)
    return [
        (project / str(path), suffixes)
        for key, (default, suffixes) in _SUFFIXES.items()
        for path in items(content.get(key)) or [default]
    ]


def _names_of_files(folders: Iterable[tuple[Path, set[str]]]) -> set[str]:
    """Return the nodes that are named after their file, and those of which it is a version."""
    stems = {
        file.stem
        for folder, suffixes in folders
        for file in folder.rglob("*")
        if file.suffix in suffixes
    }
    return stems | {re.sub(r"_v\w+$", "", stem) for stem in stems}


def _names_in_files(folders: Iterable[tuple[Path, set[str]]]) -> set[str]:
    """Return the nodes that files declare: snapshots and versioned models."""
    names = set[str]()
    for file in (file for folder, _ in folders for file in folder.rglob("*")):
        if file.suffix == ".sql":
            names.update(_SNAPSHOT.findall(file.read_text("utf-8", errors="replace")))
        elif file.suffix in {".yml", ".yaml"}:
            names.update(_declared(file))
    return names


def _declared(file: Path) -> Iterator[str]:
    """Yield the snapshots and versioned models that a file of properties declares."""
    try:
        content = mapping(yaml.safe_load(file.read_text("utf-8", errors="replace")))
    except yaml.YAMLError:
        return  # dbt reports the error
    for snapshot in items(content.get("snapshots")):
        yield str(mapping(snapshot).get("name"))
    for model in map(mapping, items(content.get("models"))):
        if model.get("versions"):
            yield str(model.get("name"))
