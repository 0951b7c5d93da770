"""Levels of a hierarchy, from the header of its seed or the listed columns of its model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.hierarchies.seed_csv import read_header
from dbt_anonymize.hierarchies.table import LEAF_COLUMNS, count_levels
from dbt_anonymize.project_file import PROJECT_FILE, project_folder
from dbt_anonymize.spec.draft import integer, items, mapping, text
from dbt_anonymize.spec.problems import KeyPath, Problem, short_repr
from dbt_anonymize.spec.yaml_file import read_yaml


def with_levels(
    raw: Mapping[str, Any], path: Path, around: Callable[[Path], ProjectFiles | None] | None = None
) -> tuple[dict[str, Any], list[Problem]]:
    """Return a raw spec with the levels of its hierarchies filled in, and the problems.

    Undeclared levels are read from files; declared ones must agree with them. Hierarchies are those
    of columns, also of columns that stand deeper. ``around`` gives the files of the project around
    a folder, `ProjectFiles.around` by default.
    """
    if not _has_hierarchy(raw):
        return dict(raw), []
    problems: list[Problem] = []
    project = (around or ProjectFiles.around)(path.resolve().parent)
    filled = _filled_in((), raw, _Spec(path, project), problems)
    return filled, problems


class _Spec(NamedTuple):
    """The file of a spec, and the files of its project."""

    path: Path
    project: ProjectFiles | None


def _has_hierarchy(raw: object) -> bool:
    return isinstance(raw, Mapping) and (
        bool(mapping(raw.get("hierarchy"))) or any(map(_has_hierarchy, raw.values()))
    )


def _filled_in(place: KeyPath, raw: Any, spec: _Spec, problems: list[Problem]) -> Any:
    """Return content with the levels of all hierarchies of columns in it; add the problems."""
    if not isinstance(raw, Mapping):
        return raw
    filled = {}
    for key, value in raw.items():
        own = (*place, str(key))
        if key == "hierarchy" and place[-2:-1] == ("columns",) and mapping(value):
            filled[key] = dict(value)
            problem = _fill_in_levels((*own, "levels"), filled[key], spec)
            problems += [problem] if problem else []
        else:
            filled[key] = _filled_in(own, value, spec, problems)
    return filled


def _fill_in_levels(place: KeyPath, tree: dict[str, Any], spec: _Spec) -> Problem | None:
    """Add undeclared levels to a hierarchy; return the problem if there is one."""
    ref, declared = text(tree.get("ref")), None
    if tree.get("levels") is not None:
        declared = integer(tree["levels"])
        if declared is None:
            return None  # a type error, reported elsewhere
    if ref is None:
        return None
    levels, where, is_all = _read_levels(spec.project, ref, text(tree.get("kind")))
    if declared is None and levels is None:
        return Problem(place, f"must be given, since {where}", _remedy(spec, ref))
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


def _remedy(spec: _Spec, ref: str) -> str:
    is_missing = spec.project is not None and not spec.project.seeds(ref)
    if is_missing and (command := command_for(spec.path, ref)):
        return f"Write the seed: `{command}`."
    seed = "Write the seed, for example by `dbt-anonymize hierarchy`, or" if is_missing else "Write"
    return f"{seed} the number of its level columns, the root included."


def _read_levels(
    project: ProjectFiles | None, ref: str, kind: str | None
) -> tuple[int | None, str, bool]:
    """Return the levels of a hierarchy, their file, and whether that file lists all columns.

    Without levels, the reason stands in place of the file.
    """
    if project is None:
        reason = f"there is no {PROJECT_FILE} around the spec, by which its seed is found"
        return None, reason, True
    leaf_kind = next((name for name in LEAF_COLUMNS if name == kind), None)
    wanted = f"columns of a hierarchy{f' of kind {kind}' if leaf_kind else ''}"
    seeds = project.seeds(ref)
    if len(seeds) > 1:
        return None, f"there are {len(seeds)} seeds {ref}.csv", True
    for seed in seeds:
        file_name = project.relative_name(seed)
        try:
            levels = count_levels(read_header(seed), leaf_kind)
        except HierarchyError:
            levels = None
        return levels, file_name if levels else f"{file_name} has no {wanted}", True
    for file, columns in project.models(ref):
        if levels := count_levels(columns, leaf_kind):
            return levels, project.relative_name(file), False
        return None, f"{project.relative_name(file)} lists no {wanted} for {ref}", False
    reason = f"there is neither a seed {ref}.csv nor a model {ref} whose columns are listed"
    return None, reason, True


def command_for(spec: Path, ref: str) -> str | None:
    """Return the command that writes a seed, which drafts note above its column."""
    noted = re.compile(rf"^ *# *(dbt-anonymize .* -o (?:.*/)?{re.escape(ref)}\.csv) *$", re.M)
    found = noted.search(spec.read_text("utf-8", errors="replace"))
    return found and found[1]


class ProjectFiles:
    """The seeds of a dbt project, and the files that list the columns of its models.

    They are read when they are first asked for, and once.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        content = mapping(read_yaml(root / PROJECT_FILE)[0])
        self._seeds = _folders(root, content, "seeds")
        self._models = _folders(root, content, "models")

    @classmethod
    def around(cls, folder: Path) -> ProjectFiles | None:
        """Return the files of the nearest project from a folder upwards, if there is one."""
        root = project_folder(folder)
        return None if root is None else cls(root)

    def relative_name(self, path: Path) -> str:
        """Return a path as it is printed, from the root of the project."""
        return path.relative_to(self._root).as_posix()

    def seeds(self, ref: str) -> list[Path]:
        """Return the files of a seed."""
        return [path for path in self._tables if path.stem == ref]

    def seed(self, ref: str | None) -> Path | None:
        """Return the file of a seed, if there is just one."""
        files = self.seeds(ref) if ref else []
        return files[0] if len(files) == 1 else None

    def models(self, ref: str) -> list[tuple[Path, Sequence[str]]]:
        """Return the columns of a model, and the file that lists them, if one does."""
        named = re.compile(rf"name:\s*['\"]?{re.escape(ref)}\b")
        for path, content in self._properties.items():
            if named.search(content) and (columns := _listed_columns(content, ref)):
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
    """Return the folders of a kind; paths that dbt has to render become the default."""
    declared = [str(path) for path in items(content.get(f"{kind[:-1]}-paths"))] or [kind]
    return [root / path for path in dict.fromkeys(kind if "{{" in p else p for p in declared)]


def _listed_columns(content: str, ref: str) -> Sequence[str]:
    """Return the columns that a file of properties lists for a model."""
    try:
        models = items(mapping(yaml.safe_load(content)).get("models"))
    except yaml.YAMLError:
        return []  # dbt reports the error
    columns = (
        column
        for model in models
        if mapping(model).get("name") == ref
        for column in items(mapping(model).get("columns"))
    )
    return [str(mapping(column).get("name")) for column in columns]
