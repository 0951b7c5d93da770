"""Words for the levels of a spec, from seed files or from built hierarchies."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from dbt_anonymize.errors import HierarchyError, WarehouseError
from dbt_anonymize.hierarchies.bounds import parse_value
from dbt_anonymize.hierarchies.model import CategoricalHierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.seed_csv import read_table
from dbt_anonymize.hierarchies.words import level_words
from dbt_anonymize.project.descriptions import Words
from dbt_anonymize.project.engines import text_type
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Hierarchy, Spec
from dbt_anonymize.spec.hierarchy_levels import ProjectFiles


def words_of_seeds(files: ProjectFiles, spec: Spec) -> Words:
    """Return words from the seeds of a project; hierarchies without a readable seed are missing."""
    trees = spec.described_trees
    words = {}
    for name, tree in trees.items():
        with contextlib.suppress(HierarchyError):
            if (seed := files.seed(tree.ref)) and (hierarchy := _read_seed(seed)):
                words[name] = level_words(hierarchy)
    return {name: known for name, known in words.items() if len(known) == trees[name].levels}


def _read_seed(path: Path) -> CategoricalHierarchy | IntervalHierarchy | None:
    """Read labels and bounds of a seed."""
    table = read_table(path)
    cells = [row.cells for row in table.rows]
    if any(len(row) != len(table.columns) for row in cells):
        return None
    is_interval = table.kind == "interval"
    return _hierarchy_of([row if is_interval else row[1:] for row in cells], is_interval)


def words_of_relations(warehouse: Warehouse, spec: Spec) -> Words:
    """Return words from built hierarchies; unreadable ones are missing."""
    words = {}
    for name, tree in spec.described_trees.items():
        with contextlib.suppress(WarehouseError):
            if hierarchy := _read_labels(warehouse, tree):
                words[name] = level_words(hierarchy)
    return words


def _read_labels(
    warehouse: Warehouse, tree: Hierarchy
) -> CategoricalHierarchy | IntervalHierarchy | None:
    """Read labels and bounds of a hierarchy, but no values below them."""
    relation = warehouse.relation_of_ref(tree.ref)
    text = text_type(warehouse.kind)
    ends = ["lower_bound", "upper_bound"] if tree.kind == "interval" else []
    columns = [*ends, *(f"level_{level}" for level in range(1, tree.levels + 1))]
    listed = ", ".join(f"cast({column} as {text})" for column in columns)
    rows = warehouse.rows(f"select distinct {listed} from {relation}")  # noqa: S608 (our own names)
    return _hierarchy_of(rows, bool(ends))


def _hierarchy_of(
    rows: Sequence[tuple[str, ...]], is_interval: bool
) -> CategoricalHierarchy | IntervalHierarchy | None:
    """Return the hierarchy of rows with bounds, if it has any, and labels; None if some lack."""
    if not rows or not all(cell for row in rows for cell in row):
        return None
    if not is_interval:
        labels = tuple(zip(*rows, strict=True))
        return CategoricalHierarchy(labels[0], labels)
    bounds = [(parse_value(lower), parse_value(upper), labels) for lower, upper, *labels in rows]
    complete = [(a, b, labels) for a, b, labels in bounds if a is not None and b is not None]
    types = {type(end) for lower, upper, _ in complete for end in (lower, upper)}
    if len(complete) < len(bounds) or len(types) > 1:
        return None
    lowers, uppers, labels = zip(*sorted(complete), strict=True)
    return IntervalHierarchy(lowers, uppers, tuple(zip(*labels, strict=True)))
