"""``<n>_lattice``: what a search learned about each node, as a table of the warehouse."""

from __future__ import annotations

import math
from typing import Any

from dbt_anonymize.extensions.search.checking import Checker
from dbt_anonymize.extensions.search.efforts import Found, Task
from dbt_anonymize.extensions.search.lattice import Lattice
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


def lattice_rows(task: Task, found: Found) -> list[tuple[Any, ...]]:
    """Return one row per visited node.

    Number from 1 in the order of the levels; level of each quasi-identifier; k, suppressed records
    and loss (None where the node is infeasible or not checked; an infeasible node has the records
    that would have to go, as far as they were counted); status; whether it is feasible (None:
    unknown), the optimum, on the Pareto front; number in the chain of efforts or None.
    """
    known = _visited(found)
    on_front = {checked.node for _, checked in found.front.points}
    in_chain = _numbered(found)
    unchecked = (on_front | in_chain.keys()) - {
        node for node, (status, _) in known.items() if status == Status.CHECKED
    }
    if unchecked:
        # The chain and the front looked at nodes that were of no use for the optimum.
        lowest = Lattice.of(task.table).lowest
        limit = task.suppression_limit
        checker = Checker(task.table, task.guarantees, task.loss(), limit, lowest)
        for node in sorted(unchecked):
            known[node] = (Status.CHECKED, checker.check(node, counts_all=True).result)
    best = found.result.optimum
    rows = []
    for number, (node, (status, checked)) in enumerate(sorted(known.items()), start=1):
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


def _visited(found: Found) -> dict[Node, tuple[Status, CheckedNode]]:
    visited = found.result.visited
    columns = (visited.levels, visited.k, visited.suppressed, visited.loss, visited.status)
    known: dict[Node, tuple[Status, CheckedNode]] = {}
    for levels, k, suppressed, loss, status in zip(*(c.tolist() for c in columns), strict=True):
        node = tuple(levels)
        is_feasible = status == Status.CHECKED and not math.isnan(loss)
        known[node] = (Status(status), CheckedNode(node, k, suppressed, loss, is_feasible))
    return known


def _numbered(found: Found) -> dict[Node, int]:
    """Return the number of each node that is an effort; rounds of a local recoding are none."""
    numbered = enumerate(found.efforts, start=1)
    return {
        tuple(effort.levels.values()): number
        for number, effort in numbered
        if effort.levels is not None
    }


def write_lattice(
    warehouse: Warehouse, name: str, quasi_identifiers: list[str], rows: list[tuple[Any, ...]]
) -> str:
    """Replace ``<n>_lattice``, beside ``<n>_frequencies``; return its name.

    Each row is as `lattice_rows` returns it, with levels in the order of ``quasi_identifiers``.
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
