"""The files of drafted hierarchies: which are written, replaced and removed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dbt_anonymize.cli.place import Place
from dbt_anonymize.errors import ProjectError
from dbt_anonymize.extensions.drafting.table import Draft
from dbt_anonymize.extensions.drafting.text import seeds_text
from dbt_anonymize.hierarchies.seed_csv import hierarchy_csv


def check_seeds(
    place: Place, name: str, drafted: Draft, *, replaces: bool = False
) -> tuple[list[str], list[str]]:
    """Return the files of hierarchies that a draft replaces, and those that it removes.

    An existing file is an error unless it is replaced; seeds of other anonymizations always stay.
    """
    files = [f"{plan.seed}.csv" for plan in drafted.plans.values()]
    properties = f"_{name}_hierarchies.yml"
    files += [properties] if files else []
    seeds = place.project.seeds
    stale = _stale_seeds(seeds / properties, files) if replaces else []
    existing = [file for file in files if (seeds / file).exists()]
    if existing and not replaces:
        raise ProjectError(
            f"{seeds.name}/{existing[0]}: must not exist yet. Add --replace to write an "
            "earlier draft anew, move it, or take another name for the anonymization."
        )
    _check_owned(place, name, [*existing, *stale])
    return existing, stale


def write_seeds(place: Place, name: str, drafted: Draft, *, replaces: bool = False) -> list[str]:
    """Write the hierarchies and their properties; return a note for each file."""
    existing, stale = check_seeds(place, name, drafted, replaces=replaces)
    files = {f"{plan.seed}.csv": hierarchy_csv(plan.hierarchy) for plan in drafted.plans.values()}
    if files:
        files[f"_{name}_hierarchies.yml"] = seeds_text(name, drafted)
    seeds = place.project.seeds
    seeds.mkdir(exist_ok=True)
    for file, text in files.items():
        (seeds / file).write_text(text, encoding="utf-8", newline="\n")
    for file in stale:
        (seeds / file).unlink()
    marks = dict.fromkeys(existing, "replaced ") | dict.fromkeys(stale, "removed ")
    return [marks.get(file, "") + place.relative_name(seeds / file) for file in [*files, *stale]]


def _stale_seeds(properties: Path, files: Sequence[str]) -> list[str]:
    """Return the seeds of an earlier draft that a new one lacks."""
    if not properties.exists():
        return []
    seeds = re.findall(r"^  - name: (\w+)$", properties.read_text(encoding="utf-8"), re.MULTILINE)
    stale = [f"{seed}.csv" for seed in seeds if f"{seed}.csv" not in files]
    return [file for file in stale if (properties.parent / file).exists()]


def _check_owned(place: Place, name: str, files: Sequence[str]) -> None:
    """Raise a `ProjectError` if another anonymization reads a seed that would be replaced."""
    for spec in sorted((place.project.root / "anonymizations").glob("*.yml")):
        if spec.stem == name:
            continue
        words = set(re.findall(r"\w+", spec.read_text(encoding="utf-8")))
        if shared := next((file for file in files if file.removesuffix(".csv") in words), None):
            raise ProjectError(
                f"{place.relative_name(place.project.seeds / shared)}: must not be replaced, since "
                f"anonymizations/{spec.name} reads it too. Give it a hierarchy of its own first."
            )
