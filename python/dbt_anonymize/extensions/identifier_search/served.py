"""Places that others read on a server: the tables of the project's schemas, without the vault.

Only distinct cells are read, column by column.
"""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from dbt_anonymize.extensions.identifier_search.places import (
    SMALLEST_NUMBER,
    Place,
    cells_place,
    has_numbers,
    is_searched,
    released_places,
)
from dbt_anonymize.project.engines import server_of
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.duckdb_mirror import CopiedWarehouse, explain_read_errors
from dbt_anonymize.verify.relations import Released, belongs_to

_REMEDY = (
    "Whoever may read the schema reads it. Keep the table in the schema of the vault, or drop the "
    "column, and build again."
)
_OF_VAULT = {"dbt_anonymize_vault", "dbt_anonymize_tokens"}


def served_release_places(warehouse: CopiedWarehouse, spec: Spec) -> Iterator[Place]:
    """Yield every column of a release that is a table, and its comments and defaults."""
    relation = str(warehouse.relation_of_ref(f"{spec.name}_anonymized"))
    columns = {
        str(row[0]): str(row[1]) for row in warehouse.rows(f"describe select * from {relation}")
    }
    released = Released(warehouse.cursor(), relation, columns)
    original = warehouse.original
    texts = server_of(original).texts_of(
        original, original.relation_of_ref(f"{spec.name}_anonymized")
    )
    return released_places(released, spec, texts)


def served_places(warehouse: Warehouse, spec: Spec) -> Iterator[Place]:
    """Yield every column of a table of the project's schemas that may hold identifiers."""
    columns = server_of(warehouse).stored_columns(warehouse, _schemas(warehouse, spec))
    source = warehouse.relation_of(spec.source).identifier
    for schema, table, column, data_type in columns:
        # Working tables have the record key, which may equal a number of somebody.
        is_ours = belongs_to(warehouse, spec, table) or table == source
        relation = ".".join(_quoted(warehouse, name) for name in (schema, table))
        if is_searched(data_type) and not (is_ours and column == spec.record_key):
            sql = _distinct_cells(warehouse, relation, _quoted(warehouse, column), data_type)
            cells = partial(_read, warehouse, relation, sql)
            yield cells_place(f"{schema}.{table}.{column}", _REMEDY, cells, has_keys=False)


def _schemas(warehouse: Warehouse, spec: Spec) -> list[str]:
    """Return the schemas of the project that belong neither to the vault nor to releases.

    Without a mapping, a closed schema with the source alone is the vault.
    """
    nodes = [
        node
        for node in warehouse.manifest.nodes.values()
        if node.resource_type in {"model", "seed", "snapshot"}
    ]
    target = str(warehouse.adapter.config.credentials.schema)
    apart = {node.schema for node in nodes if node.config.materialized in _OF_VAULT}
    # Of records, or of what an extension releases instead.
    declared = ((node.schema, node.config.meta.get("dbt_anonymize") or {}) for node in nodes)
    apart |= {schema for schema, own in declared if "folder" in own}
    source = str(warehouse.relation_of(spec.source).schema)
    if source != target and server_of(warehouse).is_closed(warehouse, source):
        apart.add(source)
    return sorted({node.schema for node in nodes} - (apart - {target}))


def _quoted(warehouse: Warehouse, name: str) -> str:
    return str(warehouse.macro("_quote", name=name))


def _distinct_cells(warehouse: Warehouse, relation: str, column: str, data_type: str) -> str:
    """Return SQL of the distinct cells as text, of numbers the whole ones without their sign."""
    is_number = has_numbers(data_type)
    text = warehouse.macro("_as_text", expression="floor(number)" if is_number else column)
    if not is_number:
        return f"select distinct {text} from {relation} where {column} is not null"
    return (
        f"select distinct {text} from (select {server_of(warehouse).exact_number(column)} as "
        f"number from {relation}) as numbers "
        f"where number = floor(number) and number >= {SMALLEST_NUMBER}"
    )


def _read(warehouse: Warehouse, relation: str, sql: str) -> Iterator[Sequence[str]]:
    with explain_read_errors(warehouse, relation):
        yield from server_of(warehouse).stream(warehouse, sql)
