"""The value whose records an alternative leaves out far more often than others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import numpy as np

from dbt_anonymize.extensions.drafting.counted import Counted
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.trial.alternatives import Alternative
from dbt_anonymize.hierarchies.model import IntervalHierarchy
from dbt_anonymize.information_loss.measures.loss import Loss
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import BoolArray, Table
from dbt_anonymize.project.left_out import FEWEST, Group, LeftOut, find_outlier
from dbt_anonymize.spec import Spec


def left_out_of(spec: Spec, counted: Counted, one: Alternative) -> LeftOut | None:
    """Return the value that stands out among those whose records an alternative leaves out."""
    table = counted.table
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit = Decimal(str(spec.suppression_limit))
    checker = Checker(table, guarantees, Loss(), limit, Lattice.of(table).lowest)
    classes, suppressed = checker.suppressed_classes(one.checked.node, one.required)
    return value_left_out(counted, classes.table_rows(suppressed))


def value_left_out(counted: Counted, gone: BoolArray) -> LeftOut | None:
    """Return the value that stands out where some rows of a counted table are left out.

    Values are those of quasi-identifiers: categories and single numbers.
    """
    table = counted.table
    groups = (
        Group(column, value, _size(table, rows), _size(table, rows & gone))
        for column, value, rows in _values(counted)
    )
    return find_outlier(groups, _size(table, np.ones_like(gone)), _size(table, gone))


def _size(table: Table, rows: BoolArray) -> int:
    """Count the people of some rows, or their records where each is a person."""
    if table.subject is None:
        return int(table.records[rows].sum())
    return len(np.unique(table.subject[rows]))


def _values(counted: Counted) -> Iterator[tuple[str, str, BoolArray]]:
    """Yield column, value and rows of each value that many records have."""
    for place, (plan, leaves) in enumerate(zip(counted.plans, counted.leaves, strict=True)):
        codes = counted.table.leaves[:, place]
        records = np.bincount(codes, counted.table.records, len(leaves))
        for code in np.flatnonzero(records >= FEWEST):
            if (value := _value(plan, int(leaves[code]))) is not None:
                yield plan.column, value, codes == code


def _value(plan: Plan, leaf: int) -> str | None:
    """Return the value of a leaf; None of one that is a range of numbers or dates."""
    tree = plan.hierarchy
    if leaf >= len(tree.labels[0]):
        return "NULL"
    if not isinstance(tree, IntervalHierarchy):
        return tree.values[leaf]
    label, is_date = tree.labels[0][leaf], isinstance(tree.lower_bounds[leaf], date)
    return None if is_date or label.startswith("[") else label
