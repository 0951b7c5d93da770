"""Binding attributes: quasi-identifiers of the optimum that may not be one level finer."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.efforts import Task
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.extensions.search.results import CheckedNode

# Losses are sums in double precision.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class BindingAttribute:
    """A quasi-identifier, and the level below the optimum at which guarantees break.

    ``at_least`` records break a guarantee there, more than may be suppressed.
    """

    quasi_identifier: str
    level: int
    at_least: int


def binding_attributes_of(task: Task, best: CheckedNode) -> tuple[list[BindingAttribute], int]:
    """Return the binding attributes, the closest first, and the number of suppressible records.

    A quasi-identifier is binding if guarantees break when it alone is one level finer.
    """
    checker, lowest = _checker(task), Lattice.of(task.table).lowest
    limits = []
    for axis, name in enumerate(task.spec.quasi_identifiers):
        level = best.node[axis] - 1
        if level >= lowest[axis]:
            finer = (*best.node[:axis], level, *best.node[axis + 1 :])
            result = checker.check(finer).result
            if not result.is_feasible:
                limits.append(BindingAttribute(name, level, result.suppressed))
    return sorted(limits, key=lambda attribute: attribute.at_least), checker.most_suppressed


def is_flat(task: Task, best: CheckedNode) -> bool:
    """Tell whether informative levels are feasible, but none loses less than the root."""
    checker, lattice = _checker(task), Lattice.of(task.table)
    top = lattice.root_of(task.table)
    if top is None:
        return False
    root = checker.check(top).result
    if not root.is_feasible or best.loss < root.loss * (1.0 - _ROUNDING):
        return False
    finer = lattice.just_finer(top)
    return best.node != top or any(checker.check(node).result.is_feasible for node in finer)


def _checker(task: Task) -> Checker:
    return Checker(task.table, task.guarantees, task.loss(), task.suppression_limit)
