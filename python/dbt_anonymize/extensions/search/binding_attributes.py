"""Binding attributes: quasi-identifiers of the optimum that may not be one level finer."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.efforts import SearchOutcome, Task
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.privacy.table import Node

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


def binding_attributes_of(task: Task, outcome: SearchOutcome) -> tuple[list[BindingAttribute], int]:
    """Return the binding attributes, the closest first, and the number of suppressible records.

    A quasi-identifier is binding if guarantees break when it alone is one level finer.
    """
    best, checker = outcome.result.optimum, _checker(task)
    limits = []
    for axis, name in enumerate(task.spec.quasi_identifiers if best is not None else ()):
        if best is not None and (finer := _finer(task, best.node, axis)):
            result = checker.check(finer).result
            if not result.is_feasible:
                limits.append(BindingAttribute(name, finer[axis], result.suppressed))
    return sorted(limits, key=lambda attribute: attribute.at_least), checker.most_suppressed


def is_flat(task: Task, outcome: SearchOutcome) -> bool:
    """Tell whether informative levels are feasible, but none loses less than the root."""
    best, checker = outcome.result.optimum, _checker(task)
    top = Lattice.of(task.table).root_of(task.table)
    if best is None or top is None:
        return False
    root = checker.check(top).result
    if not root.is_feasible or best.loss < root.loss * (1.0 - _ROUNDING):
        return False
    finer = (_finer(task, top, axis) for axis in range(len(top)))
    return best.node != top or any(checker.check(n).result.is_feasible for n in finer if n)


def _checker(task: Task) -> Checker:
    return Checker(task.table, task.guarantees, task.loss(), task.suppression_limit)


def _finer(task: Task, node: Node, axis: int) -> Node | None:
    """Return a node one level finer in one quasi-identifier, if there is one."""
    if node[axis] <= Lattice.of(task.table).lowest[axis]:
        return None
    return (*node[:axis], node[axis] - 1, *node[axis + 1 :])
