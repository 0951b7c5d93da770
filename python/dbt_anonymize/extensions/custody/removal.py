"""The files of an anonymization: what goes with it, and who else names it."""

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
    """Return the files that are of one anonymization alone: spec, models, and seeds of its name.

    Of the hierarchies these are the ones that its spec names and no other spec does.
    """
    ours, taken = _hierarchies(project, name)
    wanted = {f"{seed}.csv" for seed in ours - taken if seed.startswith(f"{name}_hierarchy_")}
    wanted.add(f"{name}_frozen_labels.csv")
    files = [path for path in project.seeds.rglob("*") if path.name in wanted]
    # What `init` wrote about the hierarchies, if they all go.
    drafted = project.seeds / f"_{name}_hierarchies.yml"
    if drafted.is_file() and not ours & taken:
        files.append(drafted)
    return [spec_paths(project.root)[name], *generated_files(project, name), *sorted(files)]


def hierarchies_left(project: Project, name: str, without: Collection[Path]) -> list[Path]:
    """Return the hierarchies of other names that only the spec of this anonymization names."""
    ours, taken = _hierarchies(project, name)
    names = {f"{seed}.csv" for seed in ours - taken}
    return sorted(
        path for path in project.seeds.rglob("*") if path.name in names and path not in without
    )


def _hierarchies(project: Project, name: str) -> tuple[set[str], set[str]]:
    """Return the seeds of hierarchies that a spec names, and those that all others name.

    Their text says so, also where a spec is half-written.
    """
    ours, taken = set[str](), set[str]()
    for other, path in spec_paths(project.root).items():
        text = path.read_text(encoding="utf-8", errors="replace")
        (ours if other == name else taken).update(re.findall(r"\w+_hierarchy_\w+", text))
    return ours, taken


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
    """Remove files, folders that are empty then, and what the history says of them."""
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
