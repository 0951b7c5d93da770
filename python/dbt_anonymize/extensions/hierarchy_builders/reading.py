"""Read hierarchy seeds, and check them."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from dbt_anonymize.extensions.hierarchy_builders.rules import raise_violations, violations
from dbt_anonymize.hierarchies.bounds import Bound, parse_bound
from dbt_anonymize.hierarchies.model import CategoricalHierarchy, Hierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.seed_csv import read_table
from dbt_anonymize.hierarchies.table import LEAF_COLUMNS


def read_hierarchy(path: Path, *, nested: bool = True) -> Hierarchy:
    """Read a hierarchy seed and check it: intervals ascend, values are in the order of the file.

    A file that cannot be read, or breaks rules, is a `HierarchyError`.
    """
    table = read_table(path)
    raise_violations(violations(table, nested=nested), name=str(path))
    leaf_cells = len(LEAF_COLUMNS[table.kind])
    if table.kind == "categorical":
        values = tuple(row.cells[0] for row in table.rows)
        return CategoricalHierarchy(values, _labels([row.cells[leaf_cells:] for row in table.rows]))
    rows = sorted((row.cells for row in table.rows), key=lambda cells: _bound(cells[0]))
    return IntervalHierarchy(
        tuple(_bound(cells[0]) for cells in rows),
        tuple(_bound(cells[1]) for cells in rows),
        _labels([cells[leaf_cells:] for cells in rows]),
    )


def _bound(cell: str) -> Bound:
    return cast("Bound", parse_bound(cell))  # the rules were checked before


def _labels(rows: list[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    return tuple(zip(*rows, strict=True))
