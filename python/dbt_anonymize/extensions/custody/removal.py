"""The files of an anonymization: those to remove, and others that name it."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.project.generate import generated_files, write_history
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project_file import PROJECT_FILE
from dbt_anonymize.spec.loading import spec_paths

_TEXTS = frozenset({".sql", ".yml", ".yaml", ".py"})


def files_of(project: Project, name: str) -> list[Path]:
    """Return the files of one anonymization alone: spec, models, and seeds of its name.

    A hierarchy is included if no other spec names it.
    """
    ours, theirs = _hierarchies(project, name)
    names = {f"{seed}.csv" for seed in ours - theirs if seed.startswith(f"{name}_hierarchy_")}
    names.add(f"{name}_frozen_labels.csv")
    files = [path for path in project.seeds.rglob("*") if path.name in names]
    # Properties of the hierarchies, which `init` wrote; they go if all hierarchies do.
    drafted = project.seeds / f"_{name}_hierarchies.yml"
    if drafted.is_file() and not ours & theirs:
        files.append(drafted)
    return [spec_paths(project.root)[name], *generated_files(project, name), *sorted(files)]


def hierarchies_left(project: Project, name: str, without: Collection[Path]) -> list[Path]:
    """Return hierarchies that only this spec names and whose names do not begin with its own."""
    ours, theirs = _hierarchies(project, name)
    names = {f"{seed}.csv" for seed in ours - theirs}
    return sorted(
        path for path in project.seeds.rglob("*") if path.name in names and path not in without
    )


def _hierarchies(project: Project, name: str) -> tuple[set[str], set[str]]:
    """Return the hierarchies that a spec names, and those of all other specs.

    They are searched in the text, since a spec may be half-written.
    """
    ours, theirs = set[str](), set[str]()
    for other, path in spec_paths(project.root).items():
        text = path.read_text(encoding="utf-8", errors="replace")
        (ours if other == name else theirs).update(re.findall(r"\w+_hierarchy_\w+", text))
    return ours, theirs


def mentions(
    project: Project, name: str, others: Collection[str], without: Collection[Path]
) -> list[Path]:
    """Return further files of the project that name a relation ``<n>_…``."""
    longer = "".join(
        rf"(?!{re.escape(other.removeprefix(f'{name}_'))}_)"
        for other in others
        if other.startswith(f"{name}_")
    )
    pattern = re.compile(rf"\b{re.escape(name)}_{longer}\w")
    places = [project.root / PROJECT_FILE]
    for folder in (project.models, project.seeds):
        places += sorted(path for path in folder.rglob("*") if path.suffix in _TEXTS)
    history = re.compile(r"_?anonymization_results\.\w+")
    return [
        path
        for path in places
        if path not in without
        and not history.fullmatch(path.name)
        and pattern.search(path.read_text(encoding="utf-8", errors="replace"))
    ]


def remove_files(project: Project, files: Collection[Path]) -> None:
    """Remove files and folders that become empty, and update the model of the history."""
    for path in files:
        try:
            path.unlink(missing_ok=True)
            if path.parent not in {project.models, project.seeds} and not any(
                path.parent.iterdir()
            ):
                path.parent.rmdir()
        except OSError as error:
            raise ProjectError(
                f"{path}: must be removed; got: {error.strerror}. Change its rights, and repeat "
                "the command."
            ) from None
    write_history(project)
