"""Freeze the effort of the last build: its number, its levels and its labels are committed."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import ProjectError, SpecError
from dbt_anonymize.literals import quote_name
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
    spec: Spec
    is_released: bool

    @property
    def remembers(self) -> bool:
        """Whether the vault must know who is released."""
        return self.is_released and self.spec.waits


def freeze_effort(warehouse: Warehouse, spec: Spec) -> Frozen:
    """Return the released effort with its labels as they are in the warehouse.

    Raises
    ------
    SpecError
        If nothing is chosen, the results belong to another spec, or the effort is recoded.
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
    release = spec.release.model_copy(update={"effort": chosen[0]})
    frozen = Frozen(
        chosen[0],
        text.getvalue(),
        spec.model_copy(update={"freeze": True, "release": release}),
        release_location(warehouse, spec.name) is not None,
    )
    if frozen.remembers:
        _require_known_release(warehouse, frozen)
    return frozen


def _require_known_release(warehouse: Warehouse, frozen: Frozen) -> None:
    """Stop where the released rows are not those of the effort, or others are remembered."""
    spec = frozen.spec
    members = _members(warehouse, spec)
    if warehouse.find(members) is not None:
        raise SpecError(
            f"{spec.name}: the vault must not remember the members of an earlier freeze; {members} "
            "does. Let a custodian drop it, if the releases since then may be intersected with the "
            "earlier ones."
        )
    effort = warehouse.relation_of_ref(f"{spec.name}_effort_{frozen.effort}")
    released = warehouse.relation_of_ref(f"{spec.name}_anonymized")
    columns = ", ".join(map(quote_name, [*spec.generalized_columns, *spec.kept_columns]))
    rows = [
        f"select {columns} from {effort} where not is_suppressed",  # noqa: S608 (quoted)
        f"select {columns} from {released}",  # noqa: S608
    ]
    differing = sum(
        int(warehouse.rows(f"select count(*) from ({a} except all {b}) as rows_")[0][0])  # noqa: S608
        for a, b in (rows, rows[::-1])
    )
    if differing:
        raise SpecError(
            f"{spec.name}: the release must be that of the effort as it is, to be remembered; "
            f"{differing:,} rows differ. Run `dbt build`, and freeze again."
        )


def remember_members(warehouse: Warehouse, frozen: Frozen) -> None:
    """Write who is released into the vault: from then on new records wait."""
    spec = frozen.spec
    members = _members(warehouse, spec)
    sql = warehouse.macro(
        "_first_members",
        effort=warehouse.relation_of_ref(f"{spec.name}_effort_{frozen.effort}"),
        record_key=spec.record_key,
        columns=[*spec.generalized_columns, *spec.kept_columns],
        labels=spec.labels_digest,
    )
    closing = warehouse.macro("_closed_to_others", relation=members, rights="select")
    with warehouse.transaction() as cursor:
        cursor.execute(f"create table {members} as {sql}; {closing or ''}")


def _members(warehouse: Warehouse, spec: Spec) -> Any:
    identifiers = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    return warehouse.macro("_members_relation", beside=identifiers, anonymization=spec.name)


def labels_file(project: Project, spec: Spec) -> Path:
    """Return where the seed of the labels lies: beside the other seeds of the anonymization."""
    folder = project.seeds / spec.name
    folder = folder if folder.is_dir() else project.seeds
    if not folder.is_dir():
        raise ProjectError(
            f"{folder}: must be the folder of the seeds; there is none. Make it, and freeze again."
        )
    return folder / f"{spec.name}_frozen_labels.csv"


def write_labels(path: Path, frozen: Frozen) -> None:
    """Write the seed of the labels."""
    stage = path.with_name(f".{path.name}.new")
    stage.write_text(frozen.labels, encoding="utf-8", newline="\n")
    stage.replace(path)
