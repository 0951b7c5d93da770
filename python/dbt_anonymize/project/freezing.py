"""Freeze the effort of the last build: its number, its levels and its labels are committed."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from dbt_anonymize.errors import ProjectError, SpecError
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.results import read_results, release_location, results_are_current
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

_COLUMNS = ("attribute", "level", "leaf", "upper_bound", "label")


@dataclass(frozen=True)
class Frozen:
    """What is committed: the effort, and the text of the seed of its labels."""

    effort: int
    labels: str
    is_released: bool


def freeze_effort(warehouse: Warehouse, spec: Spec) -> Frozen:
    """Return the released effort with its labels as they are in the warehouse.

    Raises
    ------
    SpecError
        If nothing is chosen, the results are of another spec, or the effort is recoded.
    """
    if not results_are_current(warehouse, spec):
        raise SpecError(
            f"{spec.name}: the results must be of the spec as it is, to freeze what they chose; it "
            "changed since. Run `dbt-anonymize generate` and `dbt build`."
        )
    chosen = [result.effort for result in read_results(warehouse, spec.name) if result.is_chosen]
    if len(chosen) != 1:
        raise SpecError(
            f"{spec.name}: exactly one effort must be chosen to be frozen; {len(chosen)} are. See "
            f"`dbt-anonymize results {spec.name}`."
        )
    effort = spec.numbered_efforts[chosen[0]]
    if effort.levels is None or not effort.is_full_domain:
        raise SpecError(
            f"{spec.name}: a frozen effort must have levels; effort {chosen[0]} is recoded "
            f"({effort.recoding}), where new records would give the others new labels. Release an "
            "effort with levels: set release.effort, and build."
        )
    rows = list[tuple[object, ...]]()
    for name, tree in spec.quasi_identifiers.items():
        level = effort.levels[name]
        if level:
            described = {
                "name": name,
                "kind": tree.kind,
                "hierarchy": warehouse.relation_of_ref(tree.ref),
            }
            sql = warehouse.macro("_labelled_leaves", quasi_identifier=described, level=level)
            rows += [(name, level, *found) for found in sorted(warehouse.rows(sql), key=str)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_COLUMNS, *rows])
    return Frozen(chosen[0], text.getvalue(), release_location(warehouse, spec.name) is not None)


def write_labels(project: Project, spec: Spec, frozen: Frozen) -> Path:
    """Write the seed of the labels, beside the other seeds of the anonymization."""
    folder = project.seeds / spec.name
    if not folder.is_dir():
        folder = project.seeds
    if not folder.is_dir():
        raise ProjectError(
            f"{folder}: must be the folder of the seeds; there is none. Make it, and freeze again."
        )
    path = folder / f"{spec.name}_frozen_labels.csv"
    stage = path.with_name(f".{path.name}.new")
    stage.write_text(frozen.labels, encoding="utf-8", newline="\n")
    stage.replace(path)
    return path
