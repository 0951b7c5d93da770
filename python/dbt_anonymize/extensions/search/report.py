"""``<n>_lattice``: a table of the warehouse with the visited nodes of a search."""

from __future__ import annotations

import math
from typing import Any

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.efforts import SearchOutcome, Task
from dbt_anonymize.extensions.search.results import CheckedNode, Status
from dbt_anonymize.privacy.table import Node
from dbt_anonymize.project.warehouse import Warehouse

# Kind of each column beside the levels: a macro of dbt, or of this package, that returns its type.
_COLUMNS = {
    "k": "bigint",
    "suppressed_records": "bigint",
    "loss": "double",
    "status": "string",
    "is_feasible": "boolean",
    "is_optimal": "boolean",
    "is_on_pareto_front": "boolean",
    "effort": "int",
}


def lattice_rows(task: Task, outcome: SearchOutcome) -> list[tuple[Any, ...]]:
    """Return one row per visited node.

    Number from 1 in the order of the levels; level of each quasi-identifier; k, suppressed records
    and loss (None if the node is infeasible or not checked; suppressed records of an infeasible
    node are those to suppress, as far as counted); status; flags for feasible (None: unknown),
    optimum and Pareto front; number in the chain of efforts or None.
    """
    checks = _visited(outcome)
    on_front = {checked.node for _, checked in outcome.front.points}
    in_chain = _effort_numbers(outcome)
    unchecked = (on_front | in_chain.keys()) - {
        node for node, (status, _) in checks.items() if status == Status.CHECKED
    }
    if unchecked:
        # Nodes of the chain and the front that the search of the optimum did not check.
        checker = Checker(task.table, task.guarantees, task.loss(), task.suppression_limit)
        for node in sorted(unchecked):
            checks[node] = (Status.CHECKED, checker.check(node).result)
    best = outcome.result.optimum
    rows = []
    for number, (node, (status, checked)) in enumerate(sorted(checks.items()), start=1):
        is_feasible = {Status.CHECKED: checked.is_feasible, Status.INFEASIBLE: False}.get(status)
        rows.append(
            (
                number,
                *node,
                checked.k if checked.is_feasible else None,
                checked.suppressed if checked.suppressed >= 0 else None,
                None if math.isnan(checked.loss) else float(checked.loss),
                status.name.lower(),
                is_feasible,
                best is not None and node == best.node,
                node in on_front,
                in_chain.get(node),
            )
        )
    return rows


def _visited(outcome: SearchOutcome) -> dict[Node, tuple[Status, CheckedNode]]:
    visited = outcome.result.visited
    checks = {checked.node: (Status.CHECKED, checked) for checked in visited.checked}
    for levels, status in zip(visited.levels.tolist(), visited.status.tolist(), strict=True):
        node = tuple(levels)
        checks[node] = Status(status), CheckedNode(node, -1, -1, math.nan, False)
    return checks


def _effort_numbers(outcome: SearchOutcome) -> dict[Node, int]:
    """Return the number of each node that is an effort; local recodings are no nodes."""
    efforts = enumerate(outcome.efforts, start=1)
    return {
        tuple(effort.levels.values()): number
        for number, effort in efforts
        if effort.levels is not None
    }


def write_lattice(
    warehouse: Warehouse, name: str, quasi_identifiers: list[str], rows: list[tuple[Any, ...]]
) -> str:
    """Replace ``<n>_lattice``, beside ``<n>_frequencies``; return its name.

    Rows are those of `lattice_rows`, with levels in the order of ``quasi_identifiers``.
    """
    relation = warehouse.relation_of_ref(f"{name}_frequencies").incorporate(
        path={"identifier": f"{name}_lattice"}
    )
    kinds = {"bigint": "type_bigint", "string": "type_string", "boolean": "type_boolean"}
    types = {kind: warehouse.macro(macro, package="dbt") for kind, macro in kinds.items()}
    types["int"] = warehouse.macro("type_int", package="dbt")
    types["double"] = warehouse.macro("_type_double")
    levels = {
        warehouse.macro("_quote", name=f"{column}_level"): types["int"]
        for column in quasi_identifiers
    }
    others = {column: types[kind] for column, kind in _COLUMNS.items()}
    warehouse.replace_table(relation, {"node": types["int"], **levels, **others}, rows)
    return str(relation.identifier)
