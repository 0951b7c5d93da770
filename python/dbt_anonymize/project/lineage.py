"""Sources of anonymizations that hold the same people, also where models lie between them."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Source, Spec

# Share of the people of a source who are those of a relation before it: a table of regions that
# also counts from 1 holds few of them.
_SHARE = 0.5


def share_people(warehouse: Warehouse, one: Spec, other: Spec) -> bool:
    """Tell whether two anonymizations are of the same people.

    They are if their source is the same, or if both sources come of one relation, which has the
    record key of both, and most of the records of each. A relation that cannot be read tells
    nothing: it is left out.
    """
    if one.source == other.source:
        return True
    if one.record_key != other.record_key:
        return False
    manifest, key = warehouse.manifest, one.record_key
    before = set(_ancestors(manifest, one.source)) & set(_ancestors(manifest, other.source))
    return any(
        _holds(warehouse, common, one.source, key) and _holds(warehouse, common, other.source, key)
        for common in before
    )


def _ancestors(manifest: Any, source: Source) -> Iterator[str]:
    """Yield the ids of a source and of all that it is built from."""
    left = [
        node.unique_id
        for node in [*manifest.nodes.values(), *manifest.sources.values()]
        if _is(node, source)
    ]
    seen = set[str]()
    while left:
        found = left.pop()
        if found not in seen:
            seen.add(found)
            yield found
            node = manifest.nodes.get(found)
            left += getattr(getattr(node, "depends_on", None), "nodes", ())


def _is(node: Any, source: Source) -> bool:
    if node.resource_type == "source":
        return source.source is not None and (node.source_name, node.name) == tuple(source.source)
    return node.resource_type in {"model", "seed", "snapshot"} and node.name == source.ref


def _holds(warehouse: Warehouse, common: str, source: Source, key: str) -> bool:
    """Tell whether a relation has the key, and most of the records of a source."""
    manifest = warehouse.manifest
    try:
        relation = warehouse.find_node(manifest.nodes.get(common) or manifest.sources[common])
        ours = warehouse.relation_of(source)
    except WarehouseError:
        return False
    if relation is None or key not in dict(warehouse.columns(relation)):
        return False
    if str(relation) == str(ours):
        return True
    name = quote_name(key)
    sql = f"select count(*), count(case when {name} in (select {name} from {relation}) then 1 end)"
    ((records, known),) = warehouse.rows(f"{sql} from {ours}")
    return bool(known > _SHARE * records)
