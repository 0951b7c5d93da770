"""What dbt makes of the models that a release reads: compiled SQL, relations and their columns."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dbt_anonymize.errors import VerificationError
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.spec.models import Source, Spec
from dbt_anonymize.verify.lineage.trusted import upstream

RelationKey = tuple[str, str, str]
_KINDS = ("model", "seed", "snapshot", "source")
_DIALECTS = {"postgres": "postgres", "spark": "spark", "databricks": "databricks"}


@dataclass(frozen=True)
class Node:
    """A model, seed, snapshot or source.

    Parameters
    ----------
    name : str
        Name of the node; of a dbt source ``source_name.table``.
    kind : {"model", "seed", "snapshot", "source"}
        What dbt calls it.
    relation : tuple of str
        Database, schema and identifier.
    sql : str or None
        Compiled SQL; None for what SQL does not make (seeds, sources, Python models).
    materialized : str
        How dbt stores it; empty for seeds and sources.
    columns : tuple of str or None
        Columns of the relation in the database; None if it is not built.
    is_view : bool or None
        Whether the database holds a view; None if it is not built.
    is_unreached : bool
        Whether it has SQL that is not compiled, because the release does not depend on the node.
    """

    name: str
    kind: Literal["model", "seed", "snapshot", "source"]
    relation: RelationKey
    sql: str | None = None
    materialized: str = ""
    columns: tuple[str, ...] | None = None
    is_view: bool | None = None
    is_unreached: bool = False

    @property
    def is_opaque(self) -> bool:
        """Whether a program makes it that cannot be read."""
        return self.sql is None and self.kind in {"model", "snapshot"}


@dataclass(frozen=True)
class Models:
    """All nodes of a project by name, in one dialect of SQL.

    Parameters
    ----------
    nodes : mapping
        Node by name.
    dialect : str
        Name of the dialect in sqlglot.
    functions : tuple of str
        Functions that somebody has defined in the database: they may read what they like.
    declared : frozenset of str
        Nodes that the spec names.
    """

    nodes: Mapping[str, Node]
    dialect: str = "duckdb"
    functions: tuple[str, ...] = ()
    declared: frozenset[str] = frozenset()
    _by_relation: dict[RelationKey, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for node in sorted(self.nodes.values(), key=self._rank):
            key = _lowered(node.relation)
            other = self.nodes[self._by_relation.setdefault(key, node.name)]
            if other is node:
                continue
            # Two sources may mean one table. What dbt makes must be made by one node.
            if node.kind != "source" and node.columns is not None and other.columns is not None:
                raise VerificationError(
                    f"{node.name}: must have a relation of its own; {'.'.join(node.relation)} is "
                    f"also that of {other.name}. Give one of them another alias."
                )

    def _rank(self, node: Node) -> tuple[bool, bool, bool]:
        """Return what comes first where several nodes have one relation.

        That is what shows most about it: what SQL or a program makes, then what the spec names.
        """
        is_made = node.kind in {"model", "snapshot"}
        return not is_made, node.name not in self.declared, node.columns is None

    def at(self, database: str, schema: str, identifier: str) -> Node | None:
        """Return the node that makes a relation; None if dbt does not know the relation."""
        name = self._by_relation.get(_lowered((database, schema, identifier)))
        return None if name is None else self.nodes[name]


def _lowered(relation: RelationKey) -> RelationKey:
    database, schema, identifier = relation
    return fold_ascii(database), fold_ascii(schema), fold_ascii(identifier)


def fold_ascii(name: str) -> str:
    """Return a name in lower case as databases see it: letters that are not ASCII stay.

    Examples
    --------
    >>> fold_ascii("Key") == "key", fold_ascii("\u212aey") == "key"
    (True, False)
    """
    return "".join(c.lower() if c.isascii() else c for c in name)


def source_name(source: Source) -> str:
    """Return the name of the node that a spec refers to."""
    return source.ref if source.ref is not None else ".".join(source.source or ())


def compile_models(project: Project, spec: Spec, *, target: str | None = None) -> Models:
    """Compile the models of an anonymization and read the columns of their relations.

    Parameters
    ----------
    project : Project
        The dbt project.
    spec : Spec
        The anonymization.
    target : str, optional
        Target of the profile; by default that of dbt.

    Returns
    -------
    Models
        Every node of the project; SQL and columns of those that the release can depend on.

    Raises
    ------
    VerificationError
        If dbt cannot compile the models.
    WarehouseError
        If the warehouse cannot be read.
    """
    compiled = compile_sql(project, spec, target)
    with open_warehouse(project, target) as warehouse:
        return read_models(warehouse, compiled, spec)


def compile_sql(project: Project, spec: Spec, target: str | None) -> dict[str, str]:
    """Return the compiled SQL of the release and of all that is upstream, by unique id."""
    from dbt.adapters.factory import reset_adapters  # noqa: PLC0415 (takes more than a second)
    from dbt.cli.main import dbtRunner  # noqa: PLC0415

    selected = [f"+{spec.name}_anonymized"]
    if spec.mapping == "token":
        selected.append(f"+{spec.name}_identifiers")
    # Not a word of dbt: it would print the SQL. Of incremental models, the SQL that gives all rows.
    # What the last build did is left to `dbt retry` and to our own results.
    arguments = ["--quiet", "--log-level", "none", "--no-write-json", "compile", "--full-refresh"]
    arguments += ["--select", *selected]
    arguments += ["--exclude", "resource_type:test", "resource_type:unit_test"]
    arguments += ["--target", target] if target else []
    with contextlib.chdir(project.root):
        outcome = dbtRunner().invoke(arguments)
    reset_adapters()  # type: ignore[no-untyped-call]
    if not outcome.success:
        # Raises where the profile, the vault or the warehouse is the reason.
        with open_warehouse(project, target):
            pass
        raise VerificationError(
            f"{spec.name}: the models must compile, else nothing is known about them; dbt does not "
            f"compile them. See `dbt compile --select {' '.join(selected)}`."
        )
    # dbt types neither what a command returns nor what its nodes have in common.
    results: Any = outcome.result
    return {
        result.node.unique_id: result.node.compiled_code
        for result in results.results
        if result.node.resource_type in {"model", "snapshot"} and result.node.language == "sql"
    }


def read_models(warehouse: Warehouse, compiled: Mapping[str, str], spec: Spec) -> Models:
    """Put together what dbt declares, what it compiled, and what the database holds."""
    manifest = warehouse.manifest
    reached = upstream(manifest, {f"{spec.name}_anonymized", f"{spec.name}_identifiers"})
    found = {
        unique_id: node
        for unique_id, node in {**manifest.nodes, **manifest.sources}.items()
        # Ephemeral models have no relation: dbt writes them into those that read them.
        if str(node.resource_type) in _KINDS and node.relation_name is not None
    }
    names = _names(found, reached)
    nodes = {
        names[i]: _node(warehouse, node, names[i], compiled.get(i), is_read=i in reached)
        for i, node in found.items()
    }
    dialect = _DIALECTS.get(warehouse.adapter.type(), warehouse.adapter.type())
    relations = [spec.source, *([spec.population_relation] if spec.population_relation else [])]
    hierarchies = [*spec.quasi_identifiers.values(), *spec.sensitive_hierarchies.values()]
    declared = frozenset(source_name(r) for r in relations) | {h.ref for h in hierarchies}
    return Models(nodes, dialect, _functions(warehouse), declared)


def _names(found: Mapping[str, Any], reached: Collection[str]) -> dict[str, str]:
    """Return the name of each node by its unique id; what nobody reads may have any."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for unique_id in sorted(found, key=lambda i: i not in reached):
        node = found[unique_id]
        name = str(node.name)
        if str(node.resource_type) == "source":
            name = f"{node.source_name}.{name}"
        elif getattr(node, "version", None) is not None and not node.is_latest_version:
            # `ref` without a version is the latest one.
            name = str(node.search_name)
        if name in taken and unique_id in reached:
            raise VerificationError(
                f"{name}: must be the name of one model or seed, because findings name them; "
                "several packages have it. Rename one."
            )
        names[unique_id] = unique_id if name in taken else name
        taken.add(name)
    return names


def _functions(warehouse: Warehouse) -> tuple[str, ...]:
    """Return the functions of the database that are not its own, where they can hide its own."""
    if warehouse.adapter.type() != "duckdb":
        return ()
    sql = "select distinct lower(function_name) from duckdb_functions() where not internal"
    return tuple(sorted(str(name) for (name,) in warehouse.rows(sql)))


def _node(warehouse: Warehouse, found: Any, name: str, sql: str | None, *, is_read: bool) -> Node:
    """Return one node; the database is asked only about what the release may read."""
    kind = str(found.resource_type)
    is_source = kind == "source"
    identifier = found.identifier if is_source else found.alias
    relation = (str(found.database or ""), str(found.schema), str(identifier))
    existing = None
    if is_read:
        existing = warehouse.adapter.get_relation(
            database=found.database, schema=found.schema, identifier=identifier
        )
    columns = None if existing is None else tuple(n for n, _ in warehouse.columns(existing))
    return Node(
        name=name,
        kind=kind,  # type: ignore[arg-type]
        relation=relation,
        sql=sql,
        materialized="" if is_source or kind == "seed" else str(found.config.materialized),
        columns=columns,
        is_view=None if existing is None else str(existing.type) == "view",
        is_unreached=not is_read and str(getattr(found, "language", "")) == "sql",
    )
