"""The coded table of a relation, for hierarchies that are not in the warehouse yet.

The warehouse codes and counts: only whole numbers are fetched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.hierarchies.bounds import Bound
from dbt_anonymize.hierarchies.model import (
    ROOT,
    CategoricalHierarchy,
    Hierarchy,
    IntervalHierarchy,
)
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.privacy.label_shares import shares_of_labels, width
from dbt_anonymize.privacy.table import Attribute, SensitiveAttribute, Table
from dbt_anonymize.project.engines import engine_of
from dbt_anonymize.project.warehouse import Warehouse


@dataclass(frozen=True)
class CodedTable:
    """A coded table with the hierarchy leaf of each code of its quasi-identifiers.

    ``leaves`` has an array per quasi-identifier; NULL comes after all leaves.
    """

    table: Table
    plans: Sequence[Plan]
    leaves: tuple[Ints, ...]


def count_combinations(
    warehouse: Warehouse,
    relation: Any,
    plans: Sequence[Plan],
    *,
    subject: str | None = None,
    sensitive: Sequence[str] = (),
    limit: int | None = None,
    highest: Mapping[str, int] | None = None,
) -> CodedTable:
    """Count the records of each combination of leaves, for at most ``limit`` combinations.

    With a ``subject``, a column, combinations also differ by person, and by the values of the
    ``sensitive`` columns. Raw values are coded as leaves, so that level 0 of numbers and dates is
    that of leaves (`equal_levels` knows where these are the same). A search may use levels up to
    ``highest``.
    """
    codes = [leaf_sql(warehouse, plan, place) for place, plan in enumerate(plans)]
    ranked = [*([subject] if subject else []), *sensitive]
    ranks = [f"dense_rank() over (order by origin.{quote_name(name)}) - 1" for name in ranked]
    names = [f"c{place}" for place in range(len(codes) + len(ranks))]
    expressions = [*(sql for sql, _ in codes), *ranks]
    listed = ", ".join(f"{sql} as {n}" for n, sql in zip(names, expressions, strict=True))
    joins = "".join(join for _, join in codes)
    coded = f"select {listed} from {relation} as origin{joins}"  # noqa: S608 (quoted)
    keys, limit_sql = ", ".join(names), "" if limit is None else f" limit {limit}"
    counts = warehouse.numbers(
        f"select {keys}, count(*) as records from ({coded}) as coded "  # noqa: S608 (our names)
        f"group by {keys} order by {keys}{limit_sql}"
    )
    arrays = [counts[name].astype(np.int64, copy=False) for name in names]
    attributes, rows, leaves = [], [], []
    for plan, values in zip(plans, arrays, strict=False):
        present, of_row = np.unique(values, return_inverse=True)
        attributes.append(_attribute(plan, present, (highest or {}).get(plan.column)))
        rows.append(of_row.reshape(-1))
        leaves.append(present)
    ranks_by_column = dict(zip(ranked, arrays[len(plans) :], strict=True))
    table = Table(
        attributes=tuple(attributes),
        leaves=np.column_stack(rows).astype(np.int64, order="F"),
        records=counts["records"].astype(np.int64, copy=False),
        sensitive=tuple(
            (
                SensitiveAttribute(name, int(ranks_by_column[name].max(initial=-1)) + 1),
                ranks_by_column[name],
            )
            for name in sensitive
        ),
        subject=ranks_by_column[subject] if subject else None,
    )
    return CodedTable(table, plans, tuple(leaves))


def leaves_of(plan: Plan, values: Sequence[Any]) -> Ints:
    """Return the leaf of each value; NULL and missing values come after all leaves."""
    tree, size = plan.hierarchy, len(plan.hierarchy.labels[0])
    leaf_by_value: dict[Any, int | None]
    if isinstance(tree, CategoricalHierarchy):
        leaf_by_value = {value: place for place, value in enumerate(tree.values)}
    else:
        leaf_by_value = {value: tree.leaf(_bound(value)) for value in {*values} - {None}}
    leaves = [leaf_by_value.get(value) for value in values]
    return np.array([size if leaf is None else leaf for leaf in leaves], dtype=np.int64)


def leaf_sql(warehouse: Warehouse, plan: Plan, place: int) -> tuple[str, str]:
    """Return the SQL of the leaf of a column, and of its join."""
    column, size = f"origin.{quote_name(plan.column)}", len(plan.hierarchy.labels[0])
    tree = plan.hierarchy
    if isinstance(tree, IntervalHierarchy):
        cases = [
            f"when {column} < {_literal(bound)} then {leaf}"
            for leaf, bound in enumerate(tree.upper_bounds)
        ]
        return f"case when {column} is null then {size} {' '.join(cases)} else {size} end", ""
    literal = engine_of(warehouse).literal
    values = ", ".join(f"({literal(value)}, {leaf})" for leaf, value in enumerate(tree.values))
    text = warehouse.macro("_as_text", expression=column)
    join = f" left join (values {values}) as t{place}(value, leaf) on {text} = t{place}.value"
    return f"coalesce(t{place}.leaf, {size})", join


def _literal(bound: Bound) -> str:
    if isinstance(bound, Decimal):
        return format(bound, "f")
    return f"date {quote_text(bound.isoformat())}"


def whole_attribute(plan: Plan) -> Attribute:
    """Return a quasi-identifier with all leaves, and that of NULL after them."""
    return _attribute(plan, np.arange(len(plan.hierarchy.labels[0]) + 1), None)


def _attribute(plan: Plan, present: Ints, highest: int | None) -> Attribute:
    """Return a quasi-identifier with its present leaves; the leaf after all others is NULL."""
    size, is_interval = len(plan.hierarchy.labels[0]), plan.kind == "interval"
    bounds = _relative_bounds(plan.hierarchy)
    is_null = present == size
    levels = [np.arange(len(present))]
    shares = [np.where(is_null, 1.0, 0.0 if is_interval else 1.0 / size)]
    for labels in plan.hierarchy.labels:
        distinct, of_leaf = np.unique([*labels, ROOT], return_inverse=True)
        of_leaf = of_leaf.reshape(-1).astype(np.int64)
        covered = np.ones(len(distinct))
        of_labels = shares_of_labels(of_leaf[:size], bounds)
        covered[: len(of_labels)] = of_labels
        covered[of_leaf[size]] = 1.0
        occurring, codes = np.unique(of_leaf[present], return_inverse=True)
        levels.append(codes.reshape(-1).astype(np.int64))
        shares.append(covered[occurring])
    return Attribute(
        name=plan.column,
        levels=tuple(levels),
        shares=tuple(shares),
        domain_size=size,
        smallest_share=0.0 if is_interval else 1.0 / size,
        lowest=1 if is_interval else 0,
        highest=highest,
    )


def _relative_bounds(tree: Hierarchy) -> tuple[Floats, Floats] | None:
    """Return start and end of each leaf, relative to the first start; None of categories."""
    if isinstance(tree, CategoricalHierarchy):
        return None
    start: Any = tree.lower_bounds[0]
    ends = (
        [width(bound - start) for bound in of_leaves]
        for of_leaves in (tree.lower_bounds, tree.upper_bounds)
    )
    lower, upper = (np.array(end, dtype=np.float64) for end in ends)
    return lower, upper


def _bound(value: Any) -> Bound:
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else Decimal(str(value))
