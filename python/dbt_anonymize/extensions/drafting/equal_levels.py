"""Levels that tell the same values of a table apart, of which the finest is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.drafting.coded_table import CodedTable
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.literals import quote_name
from dbt_anonymize.privacy.table import Attribute, Node
from dbt_anonymize.project.warehouse import Warehouse


@dataclass(frozen=True)
class DistinctLevels(CodedTable):
    """A coded table of which a search uses only levels that merge values.

    A level at which no two values share a label loses nothing, for its values can stay as they are:
    the equivalence classes are the same.

    Attributes
    ----------
    finest_levels : tuple of tuple of int
        For each quasi-identifier and level the finest level with the same classes. Level 0 of
        numbers and dates is among them only if each leaf holds one value of the table, since leaves
        were counted instead of raw values.
    """

    finest_levels: tuple[tuple[int, ...], ...]

    def finest(self, node: Node) -> Node:
        """Return the finest levels with the same classes.

        The untouched table is no effort: if no level is left, one column keeps its labels.
        """
        found = [levels[level] for levels, level in zip(self.finest_levels, node, strict=True)]
        if not any(found):
            labelled = [axis for axis, levels in enumerate(self.finest_levels) if 0 in levels[1:]]
            # Labels of a category say as much as its values do; those of a number say less.
            for axis in sorted(labelled, key=lambda axis: self.plans[axis].kind == "interval")[:1]:
                found[axis] = self.finest_levels[axis].index(0, 1)
        return tuple(found)

    def are_counted(self, node: Node) -> bool:
        """Tell whether the classes of levels were counted, not those of leaves in their place."""
        return all(
            level >= levels[0] for levels, level in zip(self.finest_levels, node, strict=True)
        )


def with_distinct_levels(
    warehouse: Warehouse, relation: Any, counted: CodedTable
) -> DistinctLevels:
    """Return a coded table without levels that merge no two values of a relation."""
    attributes, finest_levels = [], []
    exact = _are_exact(warehouse, relation, counted)
    for attribute, plan, is_exact in zip(
        counted.table.attributes, counted.plans, exact, strict=True
    ):
        first = 1 if plan.kind == "interval" and not is_exact else 0
        finest_levels.append(_finest_levels(attribute, first))
        attributes.append(_without_equal_levels(attribute, finest_levels[-1], first))
    table = replace(counted.table, attributes=tuple(attributes))
    return DistinctLevels(table, counted.plans, counted.leaves, tuple(finest_levels))


def _are_exact(warehouse: Warehouse, relation: Any, counted: CodedTable) -> list[bool]:
    """Tell of each column of numbers or dates whether each leaf holds one value at most."""
    intervals = [plan for plan in counted.plans if plan.kind == "interval"]
    sizes = {
        plan.column: int((present < len(plan.hierarchy.labels[0])).sum())
        for plan, present in zip(counted.plans, counted.leaves, strict=True)
    }
    values = _distinct_values(warehouse, relation, intervals)
    return [values.get(plan.column) == sizes[plan.column] for plan in counted.plans]


def _distinct_values(warehouse: Warehouse, relation: Any, plans: Sequence[Plan]) -> dict[str, int]:
    if not plans:
        return {}
    counts = ", ".join(
        f"count(distinct {quote_name(plan.column)}) as c{place}" for place, plan in enumerate(plans)
    )
    found = warehouse.numbers(f"select {counts} from {relation}")  # noqa: S608 (quoted)
    return {plan.column: int(found[f"c{place}"][0]) for place, plan in enumerate(plans)}


def _finest_levels(attribute: Attribute, first: int) -> tuple[int, ...]:
    """Return for each level the finest one, from ``first`` on, with as many labels in the table.

    Levels are nested, so that as many labels are the same classes. The root is a level of its own,
    which gives up a column.
    """
    sizes = [_size(labels) for labels in attribute.levels]
    levels = [
        next(finer for finer in range(first, attribute.height + 1) if sizes[finer] <= size)
        for size in sizes[:-1]
    ]
    return (*levels, attribute.height)


def _without_equal_levels(
    attribute: Attribute, finest_levels: tuple[int, ...], first: int
) -> Attribute:
    """Return an attribute without the levels that merge no more than the first, nor lose more."""
    equal = [
        level
        for level in range(first, min(attribute.top, attribute.height - 1) + 1)
        if finest_levels[level] == first
    ]
    shares = list(attribute.shares)
    for level in equal:
        shares[level] = np.zeros(len(shares[level]))
        shares[level][attribute.levels[level]] = attribute.shares[first][attribute.levels[first]]
    return replace(attribute, lowest=max(equal, default=first), shares=tuple(shares))


def _size(labels: Ints) -> int:
    return int(labels.max(initial=-1)) + 1
