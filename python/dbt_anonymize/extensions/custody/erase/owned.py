"""The relations that an anonymization has in warehouse and vault, and how each forgets a person."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from dbt_anonymize.project.generate import render
from dbt_anonymize.project.steps import steps_of
from dbt_anonymize.project.vault_owner import TABLE as OWNER
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.relations import ALL, HISTORY, KEPT, MODELS
from dbt_anonymize.spec import Spec

# Shared by all anonymizations: the budget is cleared of digests; the history of efforts and the
# owner of the vault name no person.
BUDGET = "dbt_anonymize_budget"
SHARED = frozenset({BUDGET, HISTORY, OWNER})
# Materializations that a build makes anew without earlier rows; of partitions, the changed ones.
_REBUILT = frozenset(
    {"table", "view", "dbt_anonymize_partitions", "dbt_anonymize_vault", "dbt_anonymize_release"}
)
# Suffixes of relations that a killed build leaves.
_LEFT_OVER = ("__dbt_tmp", "__dbt_backup", "__dbt_tmp__counts")

Account = Literal[
    "erased",
    "rebuilt",
    "holds nobody",
    "left over",
    "of the project",
    "of another target",
    "unknown",
]


@dataclass(frozen=True)
class Owned:
    """A relation, and how erasing treats it; ``name`` is quoted.

    ``identifier`` is the name of its model, whatever `generate_alias_name` calls the relation.
    """

    name: str
    identifier: str
    database: str
    schema: str
    columns: tuple[str, ...]
    is_view: bool
    account: Account


def _models_of(spec: Spec) -> set[str]:
    return {PurePath(file).stem for file in render(spec) if not file.endswith(".yml")}


def names_of(spec: Spec) -> set[str]:
    """Return the names of all relations that an anonymization may have."""
    rows = {step.rows for step in steps_of(spec)}
    kinds = {*KEPT, *(kind for kind, model in MODELS.items() if model.is_in_vault)}
    return _models_of(spec) | rows | {f"{spec.name}_{kind}" for kind in kinds}


def places_of(warehouse: Warehouse, names: Collection[str]) -> set[tuple[str, str]]:
    """Return the databases and schemas in which this target has models and seeds."""
    return {
        (node.database, node.schema)
        for node in warehouse.manifest.nodes.values()
        if node.resource_type in {"model", "seed"} and node.name in names
    }


def owned_relations(warehouse: Warehouse, spec: Spec, others: Collection[str] = ()) -> list[Owned]:
    """Return all relations that are called ``<n>_…``, wherever they are attached.

    ``others`` are the names of further anonymizations, whose relations are theirs.
    """
    names, models = names_of(spec), _models_of(spec)
    places = places_of(warehouse, names)
    longer = [f"{name}_" for name in others if name.startswith(f"{spec.name}_")]
    rows = warehouse.rows(
        "select c.database_name, c.schema_name, c.table_name, list(c.column_name), "
        "bool_or(v.view_name is not null) from duckdb_columns() as c left join duckdb_views() as v "
        "on c.database_oid = v.database_oid and c.schema_oid = v.schema_oid "
        "and c.table_name = v.view_name where not c.internal and c.database_name <> 'temp' "
        "group by all order by all"
    )
    named = {
        (node.database, node.schema, node.alias): str(node.name)
        for node in warehouse.manifest.nodes.values()
        if node.resource_type in {"model", "seed", "snapshot"}
    }
    owned = []
    for database, schema, identifier, columns, is_view in rows:
        suffix = _suffix(identifier)
        stem = identifier.removesuffix(suffix)
        table = named.get((database, schema, stem), stem) + suffix
        is_ours = table.removesuffix(suffix) in names
        if not table.startswith(f"{spec.name}_"):
            continue
        if table.startswith(tuple(longer)) and not is_ours:
            continue
        name = str(
            warehouse.adapter.Relation.create(
                database=database, schema=schema, identifier=identifier
            )
        )
        account = _account(warehouse, spec, table, (database, schema, identifier), models)
        is_elsewhere = (database, schema) not in places and account != "of the project"
        if is_elsewhere and is_ours:
            account = "of another target"
        owned.append(Owned(name, table, database, schema, tuple(columns), is_view, account))
    return owned


def _suffix(table: str) -> str:
    """Return the suffix of a name that a killed build left, or nothing."""
    return next((suffix for suffix in _LEFT_OVER if table.endswith(suffix)), "")


def _account(
    warehouse: Warehouse,
    spec: Spec,
    table: str,
    place: tuple[str, str, str],
    models: Collection[str],
) -> Account:
    kind = table.removeprefix(f"{spec.name}_")
    if _suffix(kind):
        return "left over"
    if (registered := ALL.get(kind)) and registered.erased_by:
        return "erased"
    if registered and registered.nobody:
        return "holds nobody"
    for node in (*warehouse.manifest.nodes.values(), *warehouse.manifest.sources.values()):
        alias = getattr(node, "alias", None) or getattr(node, "identifier", None)
        if (node.database, node.schema, alias) == place:
            if node.name not in models:
                return "of the project"
            if node.config.materialized in _REBUILT:
                return "rebuilt"
    return "unknown"
