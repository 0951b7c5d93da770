"""First efforts for a draft: searched among the hierarchies that were just planned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from dbt_anonymize.drafting.plans import Plan
from dbt_anonymize.hierarchies.bounds import Bound
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy, Hierarchy
from dbt_anonymize.information_loss.registry import make_loss
from dbt_anonymize.literals import quote_name
from dbt_anonymize.privacy.registry import compile_guarantees
from dbt_anonymize.privacy.table import Attribute, IntArray, Table
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.search.chain import chain

# More combinations are not counted for a draft: classes of a part are smaller, so efforts are
# rather too strong than too weak.
_MOST_COMBINATIONS, _MOST_CELLS = 200_000, 2_000_000
_SECONDS = 20.0


def first_efforts(
    warehouse: Warehouse,
    relation: Any,
    plans: Sequence[Plan],
    *,
    k: int,
    suppression_limit: float,
    length: int,
    subject: str | None = None,
) -> list[dict[str, int]]:
    """Return levels from weak to strong that keep k within the limit; none if nothing does.

    With a ``subject``, a column, k counts its values.
    """
    if not plans:
        return []
    table = _table(warehouse, relation, plans, subject)
    guarantees = compile_guarantees([{"model": "k_anonymity", "k": k}], table)
    limit = Decimal(str(suppression_limit))
    found = chain(table, guarantees, make_loss("loss"), limit, length, time_limit=_SECONDS)
    nodes = [checked.node for _, checked in found.points if any(checked.node)]
    return [{plan.column: level for plan, level in zip(plans, node, strict=True)} for node in nodes]


def _table(
    warehouse: Warehouse, relation: Any, plans: Sequence[Plan], subject: str | None
) -> Table:
    raw = [_raw(warehouse, plan) for plan in plans]
    raw += [quote_name(subject)] if subject else []
    keys = ", ".join(str(number) for number in range(1, len(raw) + 1))
    most = min(_MOST_COMBINATIONS, _MOST_CELLS // len(plans))
    rows = warehouse.rows(
        f"select {', '.join(raw)}, count(*) from {relation} "  # noqa: S608 (quoted)
        f"group by {keys} limit {most}"
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
        subject=_codes(columns[len(plans)]) if subject else None,
    )


def _codes(values: Sequence[Any]) -> IntArray:
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return np.array([places[value] for value in values], dtype=np.int64)


def _raw(warehouse: Warehouse, plan: Plan) -> str:
    quoted = quote_name(plan.column)
    if plan.kind == "interval":
        return quoted
    return str(warehouse.macro("_as_text", expression=quoted))


def _coded(plan: Plan, values: Sequence[Any]) -> tuple[Attribute, IntArray]:
    """Return the attribute from its leaves on, and the leaf of each value; NULL is a leaf too."""
    # Raw values are their leaves here: an effort of a draft releases no raw number.
    size = len(plan.hierarchy.labels[0])
    found = np.array([size if one is None else one for one in _leaves(plan.hierarchy, values)])
    present, codes = np.unique(found, return_inverse=True)
    levels, shares = [np.arange(len(present))], [np.full(len(present), 1.0 / size)]
    for labels in plan.hierarchy.labels:
        counts = {**Counter(labels), ROOT: size}
        named = [*labels, ROOT]
        distinct, of_leaf = np.unique([named[leaf] for leaf in present], return_inverse=True)
        levels.append(of_leaf.reshape(-1).astype(np.int64))
        shares.append(np.array([counts[label] / size for label in distinct.tolist()]))
    is_interval = plan.kind == "interval"
    attribute = Attribute(
        name=plan.column,
        levels=tuple(levels),
        shares=tuple(shares),
        domain_size=size,
        smallest_share=0.0 if is_interval else 1.0 / size,
        lowest=1 if is_interval else 0,
    )
    return attribute, codes.reshape(-1).astype(np.int64)


def _leaves(hierarchy: Hierarchy, values: Sequence[Any]) -> list[int | None]:
    if isinstance(hierarchy, CategoricalHierarchy):
        places = {value: place for place, value in enumerate(hierarchy.values)}
        return [None if value is None else places[value] for value in values]
    leaves = {value: hierarchy.leaf(_bound(value)) for value in set(values) - {None}}
    return [leaves.get(value) for value in values]


def _bound(value: Any) -> Bound:
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else Decimal(str(value))
