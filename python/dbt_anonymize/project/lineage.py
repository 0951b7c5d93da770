"""Lineage: anonymizations whose sources hold the same people, directly or through models."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Source, Spec

# Least share of the keys of a source that an upstream relation of the same people holds. A table of
# regions that also counts from 1 holds fewer.
_SHARE = 0.5


def share_people(warehouse: Warehouse, first: Spec, second: Spec) -> bool:
    """Tell whether two anonymizations are about the same people.

    They are if they have the same source, or if a relation upstream of both has their record key
    and most records of each. Unreadable relations are ignored.
    """
    if first.source == second.source:
        return True
    if first.record_key != second.record_key:
        return False
    manifest, key = warehouse.manifest, first.record_key
    ancestors = set(_ancestors(manifest, first.source)) & set(_ancestors(manifest, second.source))
    return any(
        _holds_most(warehouse, common, first.source, key)
        and _holds_most(warehouse, common, second.source, key)
        for common in ancestors
    )


def _ancestors(manifest: Any, source: Source) -> Iterator[str]:
    """Yield the ids of a source and of everything upstream of it."""
    queue = [
        node.unique_id
        for node in [*manifest.nodes.values(), *manifest.sources.values()]
        if _is_node_of(node, source)
    ]
    seen = set[str]()
    while queue:
        unique_id = queue.pop()
        if unique_id not in seen:
            seen.add(unique_id)
            yield unique_id
            node = manifest.nodes.get(unique_id)
            queue += getattr(getattr(node, "depends_on", None), "nodes", ())


def _is_node_of(node: Any, source: Source) -> bool:
    if node.resource_type == "source":
        return source.source is not None and (node.source_name, node.name) == tuple(source.source)
    return node.resource_type in {"model", "seed", "snapshot"} and node.name == source.ref


def _holds_most(warehouse: Warehouse, common: str, source: Source, key: str) -> bool:
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
    ((records, shared),) = warehouse.rows(f"{sql} from {ours}")
    return bool(shared > _SHARE * records)
