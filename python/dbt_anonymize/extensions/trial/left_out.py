"""Values whose records an alternative suppresses far more often than others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

import numpy as np

from dbt_anonymize.arrays import Bools, Ints
from dbt_anonymize.evaluation.problem import Target
from dbt_anonymize.extensions.drafting.coded_table import CodedTable
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.left_out.outliers import (
    FEWEST,
    MOST_OF_A_TENTH,
    TENTHS,
    Group,
    LeftOut,
    find_outlier,
)
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.losses.measures.loss import Loss
from dbt_anonymize.extensions.search.records import Records
from dbt_anonymize.extensions.trial.alternatives import Alternative
from dbt_anonymize.hierarchies.model import IntervalHierarchy
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.spec import Spec


def target_left_out(records: Records, is_suppressed: Bools) -> LeftOut | None:
    """Return the class of the target, or its end, that stands out among suppressed records."""
    problem = records.problem
    target = problem.targets[0]
    if target.task == "regression" and target.numbers is not None:
        return _tenth_left_out(target, is_suppressed, problem.groups)
    if target.codes is None or target.task != "classification":
        return None
    groups = (
        Group(
            *(target.name, value, int(has_it.sum()), int((has_it & is_suppressed).sum())),
            people=None if problem.groups is None else len(np.unique(problem.groups[has_it])),
        )
        for code, value in enumerate(target.classes)
        if (has_it := target.codes == code).any()
    )
    return find_outlier(groups, len(is_suppressed), int(is_suppressed.sum()))


def _tenth_left_out(target: Target, is_suppressed: Bools, subjects: Ints | None) -> LeftOut | None:
    """Return the end of a number that stands out among suppressed records."""
    numbers, groups = target.numbers, list[Group]()
    assert numbers is not None
    known = np.sort(numbers[~np.isnan(numbers)])
    for end, share in TENTHS.items():
        limit = known[max(0, int(np.ceil(share * len(known))) - 1)]  # as SQL has it
        has_it = numbers <= limit if end == "lowest" else numbers > limit
        size = int(has_it.sum())
        if size <= MOST_OF_A_TENTH * len(numbers):
            people = None if subjects is None else len(np.unique(subjects[has_it]))
            lost = int((has_it & is_suppressed).sum())
            groups.append(Group(target.name, end, size, lost, people, is_tenth=True))
    return find_outlier(groups, len(numbers), int(is_suppressed.sum()))


def most_left_out(spec: Spec, counted: CodedTable, alternative: Alternative) -> LeftOut | None:
    """Return the value whose records an alternative suppresses far more often than others."""
    table = counted.table
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit = Decimal(str(spec.suppression_limit))
    checker = Checker(table, guarantees, Loss(), limit)
    classes, suppressed = checker.suppressed_classes(alternative.checked.node, alternative.required)
    return value_left_out(counted, classes.table_rows(suppressed))


def value_left_out(counted: CodedTable, is_suppressed: Bools) -> LeftOut | None:
    """Return the value that stands out among suppressed rows of a coded table.

    Values are those of quasi-identifiers: categories and single numbers.
    """
    table = counted.table
    records, subject = table.records, table.subject
    groups = (
        Group(
            *(column, value, int(records[rows].sum()), int(records[rows & is_suppressed].sum())),
            people=None if subject is None else len(np.unique(subject[rows])),
        )
        for column, value, rows in _values(counted)
    )
    return find_outlier(groups, table.total, int(records[is_suppressed].sum()))


def _values(counted: CodedTable) -> Iterator[tuple[str, str, Bools]]:
    """Yield column, value and rows of each value that many records have."""
    for place, (plan, leaves) in enumerate(zip(counted.plans, counted.leaves, strict=True)):
        codes = counted.table.leaves[:, place]
        records = np.bincount(codes, counted.table.records, len(leaves))
        for code in np.flatnonzero(records >= FEWEST):
            if (value := _value(plan, int(leaves[code]))) is not None:
                yield plan.column, value, codes == code


def _value(plan: Plan, leaf: int) -> str | None:
    """Return the value of a leaf; None for a range of numbers or dates."""
    tree = plan.hierarchy
    if leaf >= len(tree.labels[0]):
        return "NULL"
    if not isinstance(tree, IntervalHierarchy):
        return tree.values[leaf]
    label, is_date = tree.labels[0][leaf], isinstance(tree.lower_bounds[leaf], date)
    return None if is_date or label.startswith("[") else label
