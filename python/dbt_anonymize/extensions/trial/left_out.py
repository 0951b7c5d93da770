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
    find_absent,
    find_outlier,
)
from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.losses.measures.loss import Loss
from dbt_anonymize.extensions.search.records import Records
from dbt_anonymize.extensions.trial.alternatives import Alternative
from dbt_anonymize.hierarchies.model import IntervalHierarchy
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Attribute, Node
from dbt_anonymize.spec import Spec


def target_left_out(records: Records, is_suppressed: Bools) -> LeftOut | None:
    """Return the class of the target, or its end, that stands out among suppressed records."""
    problem = records.problem
    target = problem.targets[0]
    if target.task == "regression" and target.numbers is not None:
        return _tenth_left_out(target, is_suppressed, problem.groups)
    if target.codes is None or target.task != "classification":
        return None
    groups = _classes(target, is_suppressed, problem.groups)
    return find_outlier(groups, len(is_suppressed), int(is_suppressed.sum()))


def target_absent(records: Records, is_suppressed: Bools, k: int) -> list[Group]:
    """Return the classes of the target of k people or more that are all but suppressed."""
    problem = records.problem
    groups = _classes(problem.targets[0], is_suppressed, problem.groups)
    return find_absent(groups, len(is_suppressed), int(is_suppressed.sum()), k)


def _classes(target: Target, is_suppressed: Bools, subjects: Ints | None) -> Iterator[Group]:
    """Yield the classes of a classification with their records."""
    for code, value in enumerate(target.classes):
        has_it = np.asarray(target.codes == code)
        if has_it.any():
            people = None if subjects is None else len(np.unique(subjects[has_it]))
            lost = int((has_it & is_suppressed).sum())
            yield Group(target.name, value, int(has_it.sum()), lost, people)


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


def suppressed_rows(spec: Spec, counted: CodedTable, alternative: Alternative) -> Bools:
    """Return a mask of the rows of a coded table that an alternative suppresses."""
    table = counted.table
    guarantees = compile_guarantees(spec.guarantees.resolved, table)
    limit = Decimal(str(spec.suppression_limit))
    checker = Checker(table, guarantees, Loss(), limit)
    classes, suppressed = checker.suppressed_classes(alternative.checked.node, alternative.required)
    return classes.table_rows(suppressed)


def value_left_out(counted: CodedTable, is_suppressed: Bools) -> LeftOut | None:
    """Return the value that stands out among suppressed rows of a coded table.

    Values are those of quasi-identifiers: categories and single numbers.
    """
    table = counted.table
    groups = _values(counted, is_suppressed, FEWEST)
    return find_outlier(groups, table.total, int(table.records[is_suppressed].sum()))


def values_absent(counted: CodedTable, is_suppressed: Bools, node: Node, k: int) -> list[Group]:
    """Return the values of k people or more that levels show as they are, all but suppressed."""
    table = counted.table
    groups = _values(counted, is_suppressed, k, node)
    return find_absent(groups, table.total, int(table.records[is_suppressed].sum()), k)


def _values(
    counted: CodedTable, is_suppressed: Bools, fewest: int, node: Node | None = None
) -> Iterator[Group]:
    """Yield the values that at least so many records have, with a node those that it shows."""
    records, subject = counted.table.records, counted.table.subject
    for place, (plan, leaves) in enumerate(zip(counted.plans, counted.leaves, strict=True)):
        codes = counted.table.leaves[:, place]
        sizes = np.bincount(codes, records, len(leaves))
        lost = np.bincount(codes, records * is_suppressed, len(leaves))
        is_shown = _are_shown(counted.table.attributes[place], node[place] if node else 0)
        for code in np.flatnonzero((sizes >= fewest) & is_shown):
            if (value := _value(plan, int(leaves[code]))) is not None:
                people = None if subject is None else len(np.unique(subject[codes == code]))
                yield Group(plan.column, value, int(sizes[code]), int(lost[code]), people)


def _are_shown(attribute: Attribute, level: int) -> Bools:
    """Tell which leaves have a label of their own at a level."""
    labels = attribute.levels[level]
    is_alone: Bools = np.bincount(labels)[labels] == 1
    return is_alone & (level < attribute.height)


def _value(plan: Plan, leaf: int) -> str | None:
    """Return the value of a leaf; None for a range of numbers or dates."""
    tree = plan.hierarchy
    if leaf >= len(tree.labels[0]):
        return "NULL"
    if not isinstance(tree, IntervalHierarchy):
        return tree.values[leaf]
    label, is_date = tree.labels[0][leaf], isinstance(tree.lower_bounds[leaf], date)
    return None if is_date or label.startswith("[") else label
