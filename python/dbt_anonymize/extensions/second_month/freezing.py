"""Freeze the effort of the last build: its number, its levels and its labels are committed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import ProjectError, SpecError
from dbt_anonymize.extensions.second_month.declared import labels_digest_of
from dbt_anonymize.extensions.second_month.frozen_classes import (
    Label,
    Labels,
    Leaf,
    Tree,
    add_coarser_classes,
    order_classes,
)
from dbt_anonymize.hierarchies.model import ROOT
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.results import read_results, release_location, results_are_current
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.validation import Hierarchy

_COLUMNS = ("attribute", "level", "leaf", "upper_bound", "label")
# Column of recoded efforts: the number of the class, NULL in rows of leaves.
_CLASS = "class_number"


@dataclass(frozen=True)
class Frozen:
    """Committed labels: the effort, and the text of the seed."""

    effort: int
    labels: str
    spec: Spec
    is_released: bool

    @property
    def remembers(self) -> bool:
        """Tell whether the vault must remember the released people."""
        return self.is_released and self.spec.holds_back_joiners


def freeze_effort(warehouse: Warehouse, spec: Spec) -> Frozen:
    """Return the released effort with its labels as they are in the warehouse.

    Raises
    ------
    SpecError
        If nothing is chosen, the results belong to another spec, or labels do not follow from
        values.
    """
    if not results_are_current(warehouse, spec):
        raise SpecError(
            f"{spec.name}: the results must be of the spec as it is, to freeze what they chose; it "
            "changed since. Run `dbt-anonymize generate` and `dbt build`."
        )
    if spec.external_efforts:
        raise SpecError(
            f"{spec.name}: efforts must be our own to freeze one of them; effort "
            f"{min(spec.external_efforts)} is a relation of another tool. Remove such efforts, and "
            "build."
        )
    chosen = [result.effort for result in read_results(warehouse, spec.name) if result.is_chosen]
    if len(chosen) != 1:
        raise SpecError(
            f"{spec.name}: exactly one effort must be chosen to be frozen; {len(chosen)} are. See "
            f"`dbt-anonymize results {spec.name}`."
        )
    effort = spec.numbered_efforts[chosen[0]]
    if effort.has_means or effort.has_modes or effort.aggregates:
        raise SpecError(
            f"{spec.name}: a frozen effort must not release means or modes, which are of those who "
            f"are in a group now; effort {chosen[0]} does. Release another one: set "
            "release.effort, and build."
        )
    own, beside = spec.quasi_identifiers, effort.levels_shown_beside(spec.trees_beside)
    of_tables = _leaf_rows(warehouse, spec.trees_beside, beside)
    if effort.is_full_domain and effort.levels is not None:
        levels = {name: [level] for name, level in effort.levels.items()}
        rows = [*_leaf_rows(warehouse, own, levels), *of_tables]
    else:
        rows = [*class_rows(warehouse, spec, chosen[0]), *((*row, None) for row in of_tables)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_COLUMNS if effort.is_full_domain else (*_COLUMNS, _CLASS), *rows])
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


def _leaf_rows(
    warehouse: Warehouse, trees: Mapping[str, Hierarchy], levels: Mapping[str, Sequence[int]]
) -> Iterator[tuple[object, ...]]:
    """Yield every leaf with its labels at the levels of its quasi-identifier; 0 has none."""
    for quasi_identifier in _macro_arguments(warehouse, trees):
        name = quasi_identifier["name"]
        for level in filter(None, levels[name]):
            sql = warehouse.macro(
                "_labelled_leaves", quasi_identifier=quasi_identifier, level=level
            )
            yield from ((name, level, *row) for row in sorted(warehouse.rows(sql), key=str))


def class_rows(warehouse: Warehouse, spec: Spec, number: int) -> Iterator[tuple[object, ...]]:
    """Yield every leaf with its label at each level, then the labels of each class in order."""
    quasi_identifiers = _macro_arguments(warehouse, spec.quasi_identifiers)
    trees = list[Tree]()
    for quasi_identifier in quasi_identifiers:
        sql = warehouse.macro("_ordered_leaves", quasi_identifier=quasi_identifier)
        leaves = [Leaf(row[0], row[1], tuple(row[2:])) for row in warehouse.rows(sql)]
        trees.append(Tree(quasi_identifier["kind"] == "interval", leaves))
        for level in range(1, quasi_identifier["levels"] + 1):
            for leaf in leaves:
                yield (
                    quasi_identifier["name"],
                    level,
                    leaf.text,
                    leaf.upper,
                    leaf.labels[level - 1],
                    None,
                )
    arguments = {
        "effort": warehouse.relation_of_ref(f"{spec.name}_effort_{number}"),
        "microdata": warehouse.relation_of_ref(f"{spec.name}_microdata"),
        "record_key": spec.record_key,
        "quasi_identifiers": quasi_identifiers,
    }
    classes = dict[str, Labels]()
    for name, *row in warehouse.rows(warehouse.macro("_released_classes", **arguments)):
        cells, labels = iter(row), list[Label]()
        for tree in trees:
            text, level = next(cells), next(cells)
            if not tree.is_interval:
                labels.append(Label(text, level))
                continue
            lower, upper, leaf = next(cells), next(cells), next(cells)
            is_value = lower is None and text != ROOT
            labels.append(Label(text, level, lower, upper, leaf if is_value else None))
        classes[name] = tuple(labels)
    exact = spec.numbered_efforts[number].exact(spec.quasi_identifiers)
    sql = warehouse.macro("_overlapping_classes", **arguments, exact=exact)
    ordered = order_classes(classes, trees, warehouse.rows(sql))
    if ordered is None:
        raise SpecError(
            f"{spec.name}: the labels of a frozen effort must follow from the values of a record; "
            f"effort {number} ({spec.numbered_efforts[number].kind}) has classes that hold the "
            "same values, and no order of them gives every record its own. Release an effort with "
            "levels, local recoding, or multidimensional with strict: true: set release.effort, "
            "and build."
        )
    for place, class_labels in enumerate(add_coarser_classes(ordered, trees), start=1):
        for quasi_identifier, label in zip(quasi_identifiers, class_labels, strict=True):
            yield quasi_identifier["name"], label.level, label.lower, label.upper, label.text, place


def _macro_arguments(warehouse: Warehouse, trees: Mapping[str, Hierarchy]) -> list[dict[str, Any]]:
    """Return the quasi-identifiers as arguments of macros."""
    return [
        {
            "name": name,
            "kind": tree.kind,
            "levels": tree.levels,
            "hierarchy": warehouse.relation_of_ref(tree.ref),
        }
        for name, tree in trees.items()
    ]


def _require_known_release(warehouse: Warehouse, frozen: Frozen) -> None:
    """Stop if the released rows differ from the effort, or the vault remembers other members."""
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
    columns = ", ".join(map(quote_name, [*spec.released_labels, *spec.kept_columns]))
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
    """Write the released members into the vault: from then on new records wait."""
    spec = frozen.spec
    members = _members(warehouse, spec)
    sql = warehouse.macro(
        "_first_members",
        effort=warehouse.relation_of_ref(f"{spec.name}_effort_{frozen.effort}"),
        record_key=spec.record_key,
        columns=[*spec.generalized_columns, *spec.kept_columns],
        labels=labels_digest_of(spec),
    )
    closing = warehouse.macro("_closed_to_others", relation=members, rights="select")
    with warehouse.transaction() as cursor:
        cursor.execute(f"create table {members} as {sql}; {closing or ''}")


def _members(warehouse: Warehouse, spec: Spec) -> Any:
    identifiers = warehouse.relation_of_ref(f"{spec.name}_identifiers")
    return warehouse.macro("_members_relation", beside=identifiers, anonymization=spec.name)


def labels_file(project: Project, spec: Spec) -> Path:
    """Return the path of the seed of labels, beside the other seeds of the anonymization."""
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
