"""Compiled SQL of a project, its relations and their columns."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.profile import run_dbt
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.spec import Spec


@dataclass(frozen=True)
class Relation:
    """A model, snapshot, seed or dbt source (``kind``) with its place in the database (``key``).

    ``sql`` is None where dbt compiles none for the release, ``columns`` where it is not built.
    The name of a dbt source is ``source_name.table``; ``external`` is the SQL by which it is read
    where that is not its place. ``adds_columns``: it stores more columns than its SQL gives, as
    snapshots and tokens do; ``added`` gives SQL over the others for each of these.
    """

    name: str
    kind: str
    key: tuple[str, str, str]
    sql: str | None = None
    columns: tuple[str, ...] | None = None
    adds_columns: bool = False
    external: str | None = None
    added: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_made(self) -> bool:
        """Tell whether the project builds it, so that it has upstream relations."""
        return self.kind in {"model", "snapshot"}


@dataclass(frozen=True)
class Relations:
    """All relations of a project, its dialect in sqlglot, and functions that are not built in."""

    by_name: Mapping[str, Relation]
    dialect: str = "duckdb"
    functions: frozenset[str] = frozenset()


def compile_sql(
    project: Project, spec: Spec, target: str | None, manifest: Any = None
) -> dict[str, str]:
    """Return the compiled SQL of the release and of all upstream, by unique id."""
    from dbt.adapters.factory import reset_adapters  # noqa: PLC0415 (takes more than a second)

    selected = f"+{spec.name}_anonymized"
    # Quiet, since dbt would print the SQL; --full-refresh, so that incremental models select all
    # rows; without artifacts, since those of the last build serve `dbt retry` and our own results.
    arguments = ["--quiet", "--log-level", "none", "--no-write-json", "compile", "--full-refresh"]
    arguments += [
        "--select",
        selected,
        "--exclude",
        "resource_type:test",
        "resource_type:unit_test",
    ]
    arguments += ["--target", target] if target else []
    with contextlib.chdir(project.root):
        outcome = run_dbt(arguments, manifest)
    reset_adapters()
    if not outcome.success:
        # Raises where the profile, the vault or the warehouse is the reason.
        with open_warehouse(project, target):
            pass
        raise VerificationError(
            f"{spec.name}: the models must compile, else their provenance is not known; dbt does "
            f"not compile them. See `dbt compile --select {selected}`."
        )
    results: Any = outcome.result
    nodes = [result.node for result in results.results]
    return {
        node.unique_id: str(node.compiled_code)
        for node in nodes
        if node.resource_type in {"model", "snapshot"} and node.language == "sql"
    }


def reached_from(manifest: Any, names: Collection[str]) -> set[str]:
    """Return the unique ids of the nodes with these names, and of all upstream."""
    waiting = [i for i, node in manifest.nodes.items() if node.name in names]
    reached: set[str] = set()
    while waiting:
        unique_id = waiting.pop()
        if unique_id not in reached:
            reached.add(unique_id)
            node = manifest.nodes.get(unique_id)
            waiting += getattr(node.depends_on, "nodes", []) if node else []
    return reached


def read_relations(warehouse: Warehouse, compiled: Mapping[str, str], spec: Spec) -> Relations:
    """Combine the nodes of dbt, their compiled SQL, and the columns in the database."""
    manifest = warehouse.manifest
    reached = reached_from(manifest, {f"{spec.name}_anonymized"})
    relations: dict[str, Relation] = {}
    nodes = {**manifest.nodes, **manifest.sources}
    for unique_id in sorted(nodes, key=lambda i: i not in reached):
        node = nodes[unique_id]
        kind = str(node.resource_type)
        # Ephemeral models have no relation: dbt writes them into those that read them.
        if kind in {"model", "snapshot", "seed", "source"} and node.relation_name is not None:
            name = f"{node.source_name}.{node.name}" if kind == "source" else str(node.name)
            if getattr(node, "version", None) is not None and not node.is_latest_version:
                name = str(node.search_name)  # `ref` without a version is the latest one
            name = unique_id if name in relations else name
            table = node.identifier if kind == "source" else node.alias
            materialized = getattr(node.config, "materialized", None)
            relations[name] = Relation(
                name,
                kind,
                (str(node.database or ""), str(node.schema), str(table)),
                sql=_rows_of(warehouse, node, compiled.get(unique_id)),
                columns=_columns(warehouse, node) if unique_id in reached else None,
                adds_columns=materialized in {"snapshot", "dbt_anonymize_tokens"},
                external=warehouse.external(node),
                added=_columns_of_snapshot(node.config) if kind == "snapshot" else {},
            )
    return Relations(relations, str(warehouse.adapter.type()), _functions(warehouse))


def _rows_of(warehouse: Warehouse, node: Any, sql: str | None) -> str | None:
    """Return the SQL of the distinct rows of a node: a counted release repeats them."""
    declared = node.config.meta.get("dbt_anonymize", {}) if sql else {}
    if not declared.get("is_counted"):
        return sql
    columns = ", ".join(map(warehouse.adapter.quote, declared["columns"]))
    return f"select {columns} from (\n{sql}\n) as counted"  # noqa: S608 (quoted)


def _columns(warehouse: Warehouse, node: Any) -> tuple[str, ...] | None:
    relation = warehouse.find_node(node)
    return relation and tuple(name for name, _ in warehouse.columns(relation))


def _columns_of_snapshot(config: Any) -> dict[str, tuple[str, ...]]:
    """Return the sources of the columns that dbt adds to a snapshot.

    The key of a custom strategy is left out: its sources are unknown.
    """
    names = config.snapshot_table_column_names
    time = (str(config.updated_at),) if config.updated_at else ()
    sources: dict[str, tuple[str, ...]] = {
        name.lower(): time for kind, name in names.items() if kind != "dbt_scd_id"
    }
    if config.strategy in {"check", "timestamp"}:
        keys = [config.unique_key] if isinstance(config.unique_key, str) else config.unique_key
        sources[names["dbt_scd_id"].lower()] = (*keys, *time)
    return sources


def _functions(warehouse: Warehouse) -> frozenset[str]:
    if not warehouse.is_duckdb:
        return frozenset()
    sql = "select distinct lower(function_name) from duckdb_functions() where not internal"
    return frozenset(str(name) for (name,) in warehouse.rows(sql))
