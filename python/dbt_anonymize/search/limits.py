"""What keeps the optimum from losing less: quasi-identifiers that may not be one level finer."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.search.checking import Checker
from dbt_anonymize.search.efforts import Found, Task
from dbt_anonymize.search.lattice import Lattice


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
    best = found.result.optimum
    lowest = Lattice.of(task.table).lowest
    limit = task.suppression_limit
    checker = Checker(task.table, task.guarantees, task.loss(), limit, lowest)
    limits = []
    for axis, name in enumerate(task.spec.quasi_identifiers if best is not None else ()):
        if best is not None and best.node[axis] > lowest[axis]:
            level = best.node[axis] - 1
            finer = (*best.node[:axis], level, *best.node[axis + 1 :])
            checked = checker.check(finer, counts_all=True).result
            if not checked.is_feasible:
                limits.append(Limit(name, level, checked.suppressed))
    return sorted(limits, key=lambda one: one.at_least), checker.most_suppressed
