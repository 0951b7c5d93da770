"""Levels of a hierarchy, from the header of its seed or the listed columns of its model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.hierarchies.seed_csv import read_header
from dbt_anonymize.hierarchies.table import LEAF_COLUMNS, count_levels
from dbt_anonymize.project_file import PROJECT_FILE, project_folder
from dbt_anonymize.spec.draft import integer, items, mapping, text
from dbt_anonymize.spec.problems import Problem, short_repr
from dbt_anonymize.spec.yaml_file import read_yaml


def with_levels(raw: Mapping[str, Any], path: Path) -> tuple[dict[str, Any], list[Problem]]:
    """Return a spec as read from a file, with the levels of its hierarchies; and what is wrong.

    Levels that are not declared are read. Those that are must agree with what is found.
    """
    found = {
        name: dict(tree)
        for name, column in mapping(raw.get("columns")).items()
        if (tree := mapping(mapping(column).get("hierarchy")))
    }
    if not found:
        return dict(raw), []
    project = _Files.around(path)
    problems = [
        problem for name, tree in found.items() if (problem := _complete(str(name), tree, project))
    ]
    columns = {
        name: {**column, "hierarchy": found[name]} if name in found else column
        for name, column in raw["columns"].items()
    }
    return {**raw, "columns": columns}, problems


def _complete(column: str, tree: dict[str, Any], project: _Files | None) -> Problem | None:
    """Add the levels to a hierarchy if they are not declared; return what is wrong with them."""
    place, ref, declared = ("columns", column, "hierarchy", "levels"), text(tree.get("ref")), None
    if tree.get("levels") is not None:
        declared = integer(tree["levels"])
        if declared is None:
            return None  # of another type, which is reported
    if ref is None:
        return None
    levels, where, is_all = _found(project, ref, text(tree.get("kind")))
    if declared is None and levels is None:
        remedy = "Write the number of its level columns, the root included."
        return Problem(place, f"must be given, since {where}", remedy)
    if declared is None:
        tree["levels"] = levels
    elif levels is not None and (levels > declared or (is_all and levels < declared)):
        return Problem(
            place,
            f"must be what {where} has, {levels}",
            "Remove the key, which is read, or correct it.",
            short_repr(declared),
        )
    return None


def _found(project: _Files | None, ref: str, kind: str | None) -> tuple[int | None, str, bool]:
    """Return the levels of a hierarchy, the file that says so, and whether it names all columns.

    Without levels: why there are none.
    """
    if project is None:
        return (
            None,
            f"there is no {PROJECT_FILE} around the spec, by which its seed is found",
            True,
        )
    kind_ = next((one for one in LEAF_COLUMNS if one == kind), None)
    wanted = f"columns of a hierarchy{f' of kind {kind}' if kind_ else ''}"
    seeds = project.seeds(ref)
    if len(seeds) > 1:
        return None, f"there are {len(seeds)} seeds {ref}.csv", True
    for seed in seeds:
        shown_seed = project.relative_name(seed)
        try:
            levels = count_levels(read_header(seed), kind_)
        except HierarchyError:
            levels = None
        return levels, shown_seed if levels else f"{shown_seed} has no {wanted}", True
    for file, columns in project.models(ref):
        if levels := count_levels(columns, kind_):
            return levels, project.relative_name(file), False
        return None, f"{project.relative_name(file)} lists no {wanted} for {ref}", False
    return (
        None,
        f"there is neither a seed {ref}.csv nor a model {ref} whose columns are listed",
        True,
    )


def seed_files(root: Path, refs: Iterable[str]) -> dict[str, Path]:
    """Return the files of seeds of a project; names without one file are left out."""
    project = _Files(root)
    return {ref: files[0] for ref in refs if len(files := project.seeds(ref)) == 1}


class _Files:
    """The seeds of a dbt project, and the files that list the columns of its models."""

    def __init__(self, root: Path) -> None:
        self._root = root
        content = mapping(read_yaml(root / PROJECT_FILE)[0])
        self._seeds = _folders(root, content, "seeds")
        self._models = _folders(root, content, "models")

    @classmethod
    def around(cls, path: Path) -> _Files | None:
        """Return those of the nearest project above a spec, if there is one."""
        root = project_folder(path.resolve().parent)
        return None if root is None else cls(root)

    def relative_name(self, path: Path) -> str:
        """Return a path as it is printed, from the root of the project."""
        return path.relative_to(self._root).as_posix()

    def seeds(self, ref: str) -> list[Path]:
        """Return the files of a seed."""
        return [path for path in self._tables if path.stem == ref]

    def models(self, ref: str) -> list[tuple[Path, Sequence[str]]]:
        """Return the columns of a model, and the file that lists them, if one does."""
        named = re.compile(rf"name:\s*['\"]?{re.escape(ref)}\b")
        for path, content in self._properties.items():
            if named.search(content) and (columns := _listed(content, ref)):
                return [(path, columns)]
        return []

    @cached_property
    def _tables(self) -> list[Path]:
        return sorted(path for folder in self._seeds for path in folder.rglob("*.csv"))

    @cached_property
    def _properties(self) -> dict[Path, str]:
        paths = (path for folder in self._models for path in folder.rglob("*.y*ml"))
        files = sorted(path for path in paths if path.is_file())
        return {path: path.read_bytes().decode("utf-8", errors="replace") for path in files}


def _folders(root: Path, content: Mapping[str, Any], kind: str) -> list[Path]:
    """Return folders of a project; of paths that dbt has to render, the usual one."""
    declared = [str(one) for one in items(content.get(f"{kind[:-1]}-paths"))] or [kind]
    return [root / path for path in dict.fromkeys(kind if "{{" in one else one for one in declared)]


def _listed(content: str, ref: str) -> Sequence[str]:
    """Return the columns that a file of properties lists for a model."""
    try:
        models = items(mapping(yaml.safe_load(content)).get("models"))
    except yaml.YAMLError:
        return []  # dbt says what is wrong with it
    columns = (
        items(mapping(one).get("columns")) for one in models if mapping(one).get("name") == ref
    )
    return [str(mapping(one).get("name")) for of_model in columns for one in of_model]
