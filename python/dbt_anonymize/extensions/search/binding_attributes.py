"""Binding attributes: quasi-identifiers of the optimum that may not be one level finer."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.efforts import Found, Task
from dbt_anonymize.extensions.search.lattice import Lattice
from dbt_anonymize.privacy.table import Node

# Losses are sums in double precision.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Limit:
    """A quasi-identifier, its level one below the optimum, and the records that break there.

    ``at_least`` so many break a guarantee, more than may be suppressed.
    """

    quasi_identifier: str
    level: int
    at_least: int


def limits_of_optimum(task: Task, found: Found) -> tuple[list[Limit], int]:
    """Return what limits the optimum, the nearest first, and how many records may be suppressed.

    Each quasi-identifier is made finer by one level alone; it limits where guarantees then break.
    """
    best, checker = found.result.optimum, _checker(task)
    limits = []
    for axis, name in enumerate(task.spec.quasi_identifiers if best is not None else ()):
        if best is not None and (finer := _finer(task, best.node, axis)):
            checked = checker.check(finer, counts_all=True).result
            if not checked.is_feasible:
                limits.append(Limit(name, finer[axis], checked.suppressed))
    return sorted(limits, key=lambda one: one.at_least), checker.most_suppressed


def is_flat(task: Task, found: Found) -> bool:
    """Tell whether levels that tell something are feasible, and none loses less than the root."""
    best, checker = found.result.optimum, _checker(task)
    top = Lattice.of(task.table).root_of(task.table)
    if best is None or top is None:
        return False
    root = checker.check(top).result
    if not root.is_feasible or best.loss < root.loss * (1.0 - _ROUNDING):
        return False
    finer = (_finer(task, top, axis) for axis in range(len(top)))
    return best.node != top or any(checker.check(n).result.is_feasible for n in finer if n)


def _checker(task: Task) -> Checker:
    lowest = Lattice.of(task.table).lowest
    return Checker(task.table, task.guarantees, task.loss(), task.suppression_limit, lowest)


def _finer(task: Task, node: Node, axis: int) -> Node | None:
    """Return a node one level finer in one quasi-identifier, if there is one."""
    if node[axis] <= Lattice.of(task.table).lowest[axis]:
        return None
    return (*node[:axis], node[axis] - 1, *node[axis + 1 :])
