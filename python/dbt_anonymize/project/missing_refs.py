"""Seeds and models that specs name and no file of the project makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from dbt_anonymize.project_file import PROJECT_FILE
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.draft import items, mapping
from dbt_anonymize.spec.problems import did_you_mean
from dbt_anonymize.spec.yaml_file import read_yaml
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
    content = mapping(read_yaml(root / PROJECT_FILE)[0])
    packages = root / str(content.get("packages-install-path") or "dbt_packages")
    installed = list(packages.iterdir()) if packages.is_dir() else []
    own = _names(root)
    # Ours has no seeds and models for others.
    others = [_names(package) for package in installed if package.name != PACKAGE]
    if own is None or None in others:
        return
    known = own.union(*(names for names in others if names))
    for spec in specs:
        read = refs_of(spec)
        if missing := sorted(read - known):
            remedy = "Put its file back, or correct the ref in the spec."
            similar = [did_you_mean(name, own - read, "") for name in missing]
            yield (
                f"{spec.name} reads {', '.join(missing)}, which must be a seed, model or snapshot; "
                f"no file of the project makes it. {' '.join(filter(None, [*similar, remedy]))}"
            )


def _names(folder: Path) -> set[str] | None:
    """Return the nodes of a project by its files, None where Jinja names a folder."""
    content = mapping(read_yaml(folder / PROJECT_FILE)[0])
    names = set[str]()
    for key, (default, suffixes) in _SUFFIXES.items():
        for path in items(content.get(key)) or [default]:
            if "{{" in str(path):
                return None
            for file in (folder / str(path)).rglob("*"):
                if file.suffix in suffixes:
                    names.add(file.stem)
                    names.add(re.sub(r"_v\w+$", "", file.stem))  # a version of a model
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
