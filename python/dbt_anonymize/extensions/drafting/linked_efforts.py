"""Levels of linked tables for each effort, found by the extension of these tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.errors import SpecError
from dbt_anonymize.extension import draft_of
from dbt_anonymize.extensions.drafting.coded_table import leaf_sql, whole_attribute
from dbt_anonymize.extensions.drafting.linked_tables import (
    KNOWN_RECORDS,
    MOST_LOST,
    LinkedDraft,
)
from dbt_anonymize.extensions.drafting.plans import Plan
from dbt_anonymize.extensions.drafting.table import K
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec.of_extensions import owner_of

EXTENSION_KEY = "linked"
# Subjects who are read. Of a part of them classes are smaller, so levels are too strong rather than
# too weak.
_MOST_SUBJECTS = 200_000
# Part of the records of people who are left out that do not count as lost: no levels release them.
_SPARED = 0.5


def can_draft() -> bool:
    """Tell whether the extension of linked tables is here."""
    return draft_of(EXTENSION_KEY) is not None


def drafting_function() -> Any:
    """Return the function that finds levels; a `SpecError` says which extension is missing.

    It is given the ``subjects`` and, by name, the ``tables`` that lead to them, each a mapping:
    ``rows`` (arrays by name: ``number`` of the record, ``parent``, the number of that to which it
    leads, and the leaf of each quasi-identifier), ``over`` (the table that it leads over, "" for
    the subjects), ``labels`` (for each quasi-identifier and level, from the lowest, the label of
    each leaf), ``shares`` (of the hierarchy, that these cover) and ``smallest`` (that of a raw
    value). Of a linked table ``most_lost`` is the share of its records that may be lost, beside
    the part ``spared`` of those of people who are left out. By keyword it is given ``efforts``
    (places of levels of the subjects), ``k`` and ``known_records``. It returns, for each effort,
    the place of a level of each quasi-identifier, by table.
    """
    found = draft_of(EXTENSION_KEY)
    if found is None:
        raise SpecError(
            f"--linked drafts `{EXTENSION_KEY}`. It belongs to the extension "
            f"{owner_of(EXTENSION_KEY)}, which is not here. Add that, or leave the option out."
        )
    return found


def linked_levels(
    warehouse: Warehouse,
    relation: Any,
    key: str,
    plans: Mapping[str, Plan],
    drafts: Sequence[LinkedDraft],
    *,
    efforts: Sequence[Mapping[str, int]],
) -> list[dict[str, dict[str, int]]]:
    """Return the levels of the quasi-identifiers of linked tables for each effort."""
    by_name = {draft.name: draft for draft in drafts}
    own = _numbered(warehouse, relation, key, None, "")
    numbered = {"": f"{own} order by 1 limit {_MOST_SUBJECTS}"}
    tables = {}
    for name, draft in by_name.items():
        table = warehouse.relation_of(draft.source)
        parent = draft.link.column
        numbered[name] = _numbered(warehouse, table, draft.key, parent, numbered[draft.over])
        rows = _rows(warehouse, table, draft.key, (parent, numbered[draft.over]), draft.plans)
        limits = {"most_lost": MOST_LOST, "spared": _SPARED}
        tables[name] = {"rows": rows, "over": draft.over, **limits, **_levels_of(draft.plans)}
    rows = _rows(warehouse, relation, key, (key, numbered[""]), plans)
    places = drafting_function()(
        {"rows": rows, "over": "", **_levels_of(plans)},
        tables,
        efforts=[_places(levels, plans) for levels in efforts],
        k=K,
        known_records=KNOWN_RECORDS,
    )
    return [
        {
            name: {c: at + _lowest(by_name[name].plans[c]) for c, at in levels.items()}
            for name, levels in effort.items()
        }
        for effort in places
    ]


def _lowest(plan: Plan) -> int:
    """Return the lowest level of an effort: raw numbers single out."""
    return 1 if plan.kind == "interval" else 0


def _places(levels: Mapping[str, int], plans: Mapping[str, Plan]) -> dict[str, int]:
    return {c: max(0, level - _lowest(plans[c])) for c, level in levels.items() if c in plans}


def _numbered(
    warehouse: Warehouse, relation: Any, key: str | None, parent: str | None, parents: str
) -> str:
    """Return SQL of the keys of records, as text, with their numbers and those of their parents."""
    text = _as_text(warehouse, key) if key else "cast(null as varchar)"
    order = text if key else "1"
    number = f"row_number() over (order by {order}) - 1 as number"
    if parent is None:
        return f"select {text} as link, {number} from {relation} as origin"  # noqa: S608 (quoted)
    return (
        f"select {text} as link, {number}, parents.number as parent from {relation} as origin "  # noqa: S608 (quoted)
        f"inner join ({parents}) as parents on {_as_text(warehouse, parent)} = parents.link"
    )


def _as_text(warehouse: Warehouse, column: str) -> str:
    text: str = warehouse.macro("_as_text", expression=f"origin.{quote_name(column)}")
    return text


def _rows(
    warehouse: Warehouse,
    relation: Any,
    key: str | None,
    link: tuple[str, str],
    plans: Mapping[str, Plan],
) -> dict[str, Ints]:
    """Return the number, the parent and the leaves of each record that leads to a parent.

    ``link`` is the column that leads there, and the numbered parents.
    """
    parent, parents = link
    codes = [leaf_sql(warehouse, plan, place) for place, plan in enumerate(plans.values())]
    listed = "".join(f", {sql} as c{place}" for place, (sql, _) in enumerate(codes))
    joins = "".join(join for _, join in codes)
    order = _as_text(warehouse, key) if key else "1"
    counts = warehouse.numbers(
        f"select row_number() over (order by {order}) - 1 as number, parents.number as parent"  # noqa: S608 (quoted)
        f"{listed} from {relation} as origin inner join ({parents}) as parents "
        f"on {_as_text(warehouse, parent)} = parents.link{joins}"
    )
    names = ["number", "parent", *plans]
    return {
        name: array.astype(np.int64, copy=False)
        for name, array in zip(names, counts.values(), strict=True)
    }


def _levels_of(plans: Mapping[str, Plan]) -> dict[str, dict[str, Any]]:
    """Return labels and shares of each leaf, and of NULL after them, by level from the lowest."""
    levels: dict[str, dict[str, Any]] = {"labels": {}, "shares": {}, "smallest": {}}
    for column, plan in plans.items():
        tree, lowest = plan.hierarchy, _lowest(plan)
        raw = [tree.values] if isinstance(tree, CategoricalHierarchy) else []
        attribute = whole_attribute(plan)
        by_level = zip(attribute.levels, attribute.shares, strict=True)
        levels["labels"][column] = [[*labels, ROOT] for labels in (*raw, *tree.labels)]
        levels["shares"][column] = [shares[codes] for codes, shares in by_level][lowest:]
        levels["smallest"][column] = attribute.smallest_share
    return levels
