"""First efforts for a draft: searched among the hierarchies that were just planned."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from dbt_anonymize.drafting.plans import Plan
from dbt_anonymize.hierarchies.model import ROOT, IntervalHierarchy
from dbt_anonymize.information_loss.registry import make_loss
from dbt_anonymize.literals import quote_name
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Attribute, IntArray, Table
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.search.chain import chain

# More combinations are not counted for a draft: classes of a part are smaller, so efforts are
# rather too strong than too weak.
_MOST_COMBINATIONS = 200_000
_SECONDS = 20.0


def first_efforts(
    warehouse: Warehouse,
    relation: Any,
    plans: Sequence[Plan],
    *,
    k: int,
    suppression_limit: float,
    length: int,
) -> list[dict[str, int]]:
    """Return levels from weak to strong that keep k within the limit; none if nothing does."""
    if not plans:
        return []
    table = _table(warehouse, relation, plans)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": k}], table)
    limit = Decimal(str(suppression_limit))
    found = chain(table, guarantees, make_loss("loss"), limit, length, time_limit=_SECONDS)
    nodes = [checked.node for _, checked in found.points if any(checked.node)]
    return [{plan.column: level for plan, level in zip(plans, node, strict=True)} for node in nodes]


def _table(warehouse: Warehouse, relation: Any, plans: Sequence[Plan]) -> Table:
    raw = [_raw(warehouse, plan) for plan in plans]
    keys = ", ".join(str(number) for number in range(1, len(plans) + 1))
    rows = warehouse.rows(
        f"select {', '.join(raw)}, count(*) from {relation} "  # noqa: S608 (quoted)
        f"group by {keys} limit {_MOST_COMBINATIONS}"
    )
    columns = list(zip(*rows, strict=True))
    attributes, leaves = [], []
    for plan, values in zip(plans, columns, strict=False):
        attribute, codes = _coded(plan, values)
        attributes.append(attribute)
        leaves.append(codes)
    return Table(
        attributes=tuple(attributes),
        leaves=np.column_stack(leaves).astype(np.int64, order="F"),
        records=np.array([int(count) for count in columns[-1]], dtype=np.int64),
    )


def _raw(warehouse: Warehouse, plan: Plan) -> str:
    quoted = quote_name(plan.column)
    if plan.kind == "interval":
        return quoted
    return str(warehouse.macro("_as_text", expression=quoted))


def _coded(plan: Plan, values: Sequence[Any]) -> tuple[Attribute, IntArray]:
    """Return the attribute from its leaves on, and the leaf of each value; NULL is a leaf too.

    Raw values are their leaves here: an effort of a draft releases no raw number.
    """
    hierarchy = plan.hierarchy
    size = len(hierarchy.labels[0])
    is_interval = isinstance(hierarchy, IntervalHierarchy)
    positions = {} if is_interval else {v: n for n, v in enumerate(hierarchy.values)}  # type: ignore[union-attr]
    places = {value: _leaf(hierarchy, positions, value) for value in set(values)}
    found = np.array([places[value] for value in values], dtype=np.int64)
    present, codes = np.unique(found, return_inverse=True)
    levels, shares = [np.arange(len(present))], [np.full(len(present), 1.0 / size)]
    for labels in hierarchy.labels:
        named = [ROOT if place == size else labels[place] for place in present]
        distinct, of_leaf = np.unique(np.array(named), return_inverse=True)
        counts = {label: labels.count(label) for label in set(named)}
        levels.append(of_leaf.reshape(-1).astype(np.int64))
        shares.append(np.array([1.0 if one == ROOT else counts[one] / size for one in distinct]))
    attribute = Attribute(
        name=plan.column,
        levels=tuple(levels),
        shares=tuple(shares),
        domain_size=size,
        smallest_share=0.0 if plan.kind == "interval" else 1.0 / size,
        lowest=1 if plan.kind == "interval" else 0,
    )
    return attribute, codes.reshape(-1).astype(np.int64)


def _leaf(hierarchy: Any, positions: dict[str, int], value: Any) -> int:
    if value is None:
        return len(hierarchy.labels[0])
    if not isinstance(hierarchy, IntervalHierarchy):
        return positions[value]
    if isinstance(value, date):
        bound: Any = value.date() if isinstance(value, datetime) else value
    else:
        bound = Decimal(str(value))
    found = hierarchy.leaf(bound)
    return len(hierarchy.labels[0]) if found is None else found
