"""Read the warehouse of a dbt project through dbt's own connection, whatever the adapter."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import VaultError, WarehouseError, safe_reason
from dbt_anonymize.project.driver_errors import explain_driver_errors
from dbt_anonymize.project.inserting import insert_rows
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.manifest import parse_project
from dbt_anonymize.project.profile import dbt_arguments, read_profile, read_profile_by_dbt
from dbt_anonymize.project.vault_places import protect_vaults, vaults_of
from dbt_anonymize.spec.problems import did_you_mean
from dbt_anonymize.vault.files import (
    database_file,
    existing_attachments,
    key_beside,
    missing_files,
    missing_vault,
    private_files,
    require_folders,
)
from dbt_anonymize.versions import PACKAGE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dbt_anonymize.spec import Source

_ROWS_AT_ONCE = 100_000


@dataclass(frozen=True)
class Warehouse:
    """The warehouse of a project: an adapter with an open connection, and the manifest.

    ``missing`` are files of attached databases that did not exist, by alias.
    """

    adapter: Any
    manifest: Any
    missing: Mapping[str, Path] = field(default_factory=dict, kw_only=True)

    def meta(self, name: str) -> dict[str, Any]:
        """Return the meta data of a generated model."""
        node = self._node(name)
        return dict(node.config.meta.get("dbt_anonymize", {}))

    def relation_of_ref(self, name: str, *, remedy: str | None = None) -> Any:
        """Return the existing relation of a model, seed or snapshot; else raise with the remedy."""
        node = self._node(name, remedy)
        if node.config.materialized == "ephemeral":
            raise WarehouseError(
                f"{name}: must be a table or a view; the model is ephemeral, so that the warehouse "
                "does not hold it. Materialize it, in the vault where it has identifiers."
            )
        remedy = remedy or "Run `dbt build` first."
        return self._find_existing(name, node, remedy)

    def place_of_ref(self, name: str) -> Any:
        """Return where the relation of a model, seed or snapshot lies, whether or not it exists."""
        return self.place(self._node(name))

    def place(self, node: Any) -> Any:
        """Return where the relation of a model, seed or snapshot lies."""
        return self.adapter.Relation.create(
            database=node.database, schema=node.schema, identifier=node.alias
        )

    def identifier_of(self, name: str) -> str:
        """Return the identifier of a node's relation, which `generate_alias_name` may change."""
        node = self._nodes.get(name)
        return name if node is None else str(node.alias)

    @cached_property
    def _nodes(self) -> dict[str, Any]:
        return {
            node.name: node
            for node in self.manifest.nodes.values()
            if node.resource_type in {"model", "seed", "snapshot"}
        }

    def _node(self, name: str, remedy: str | None = None) -> Any:
        if name not in self._nodes:
            sources = [source for source in self.manifest.sources.values() if source.name == name]
            otherwise = "Write its name as in ref()."
            if sources:
                otherwise = f"Did you mean the source {sources[0].source_name}.{name}?"
            raise WarehouseError(
                f"{name}: must be a model or seed of the project. "
                + (remedy or did_you_mean(name, self._nodes, otherwise))
            )
        return self._nodes[name]

    def relation_of_source(self, source: str, table: str) -> Any:
        """Return the existing relation of a dbt source."""
        sources = {(node.source_name, node.name): node for node in self.manifest.sources.values()}
        name = f"{source}.{table}"
        if (source, table) not in sources:
            otherwise = "Write its name as in source()."
            raise WarehouseError(
                f"{name}: must be a source of the project. "
                + (
                    self._declaration(source, table)
                    or did_you_mean(name, map(".".join, sources), otherwise)
                )
            )
        return self._find_existing(name, sources[source, table], "Load it first.")

    def _declaration(self, schema: str, table: str) -> str | None:
        """Return how to declare a table of the warehouse as a source, or None if there is none."""
        database = self.adapter.config.credentials.database
        if self.adapter.get_relation(database=database, schema=schema, identifier=table) is None:
            return None
        source = json.dumps({"sources": [{"name": schema, "tables": [{"name": table}]}]})
        return f"The warehouse has that table: write this line to models/sources.yml.\n{source}"

    def relation_of(self, source: Source) -> Any:
        """Return the existing relation of a model, seed, snapshot or dbt source."""
        if source.ref is not None:
            return self.relation_of_ref(source.ref)
        return self.relation_of_source(*(source.source or ("", "")))

    def find(self, relation: Any) -> Any:
        """Return a relation as it exists, or None where it does not."""
        return self.adapter.get_relation(
            database=relation.database, schema=relation.schema, identifier=relation.identifier
        )

    def find_in_vault(self, anonymization: str, kind: str, *, beside: str = "identifiers") -> Any:
        """Return the existing table ``<n>_<kind>`` beside that of a model of the vault, or None."""
        stored = self.relation_of_ref(f"{anonymization}_{beside}")
        return self.find(stored.incorporate(path={"identifier": f"{anonymization}_{kind}"}))

    def find_node(self, node: Any) -> Any:
        """Return the relation of a node as it exists, or None where it does not."""
        if external := self._external(node):
            return external
        identifier = getattr(node, "alias", None) or node.identifier
        return self.adapter.get_relation(
            database=node.database, schema=node.schema, identifier=identifier
        )

    def external(self, node: Any) -> str | None:
        """Return the SQL by which dbt-duckdb reads an external source, or None."""
        relation = self._external(node)
        return relation and str(relation)

    def _external(self, node: Any) -> Any:
        # Making the relation of a plugin's source would load it again.
        if not self.is_duckdb or node.resource_type != "source" or "plugin" in node.meta:
            return None
        relation = self.adapter.Relation.create_from(self.adapter.config, node)
        return relation if relation.external else None

    def columns(self, relation: Any) -> list[tuple[str, str]]:
        """Return name and data type of each column of a relation."""
        columns = self.adapter.get_columns_in_relation(relation)
        return [(str(column.name), str(column.data_type)) for column in columns]

    @property
    def kind(self) -> str:
        """The type of the adapter."""
        return str(self.adapter.type())

    @property
    def target_name(self) -> str:
        """The target of the profile."""
        return str(self.adapter.config.target_name)

    @property
    def is_duckdb(self) -> bool:
        """Tell whether databases are DuckDB files."""
        return self.kind == "duckdb"

    @property
    def has_transactions(self) -> bool:
        """Tell whether a failed statement is rolled back with its transaction."""
        from dbt_anonymize.project.engines import engine_of  # noqa: PLC0415 (it types by this)

        return engine_of(self).HAS_TRANSACTIONS

    def cursor(self) -> Any:
        """Return a cursor of the driver, whose statements stay out of the log of dbt."""
        return self.adapter.connections.get_thread_connection().handle.cursor()

    def rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query, of which ``values`` are the parameters."""
        cursor = self.cursor()
        cursor.execute(sql, *([list(values)] if values else []))
        return [tuple(row) for row in cursor.fetchall()]

    def macro(self, name: str, /, *, package: str = PACKAGE, **arguments: Any) -> Any:
        """Return the result of a macro or, without one, its text."""
        return self.adapter.execute_macro(name, project=package, kwargs=arguments)

    def numbers(self, sql: str) -> dict[str, NDArray[Any]]:
        """Return a query of numbers that are never NULL, as one array per column."""
        import numpy as np  # noqa: PLC0415 (keeps other commands fast)

        cursor = self.cursor()
        cursor.execute(sql)
        if hasattr(cursor, "fetchnumpy"):  # DuckDB: no Python object for each number
            return {name: np.asarray(column) for name, column in cursor.fetchnumpy().items()}
        names = [str(column[0]) for column in cursor.description]
        parts: list[NDArray[Any]] = []
        while batch := cursor.fetchmany(_ROWS_AT_ONCE):
            parts.append(np.array(batch).reshape(len(batch), len(names)))
        rows = np.concatenate(parts) if parts else np.zeros((0, len(names)), dtype=np.int64)
        return {name: np.ascontiguousarray(rows[:, place]) for place, name in enumerate(names)}

    def replace_table(
        self, relation: Any, types: Mapping[str, str], rows: Sequence[Sequence[Any]]
    ) -> None:
        """Create or replace a table in one transaction, with the SQL type of each quoted column."""
        from dbt_anonymize.project.engines import engine_of  # noqa: PLC0415 (it types by this)

        with self.replacing(relation, types) as cursor:
            insert_rows(cursor, str(relation), rows, engine_of(self).literal)

    @contextlib.contextmanager
    def replacing(self, relation: Any, types: Mapping[str, str]) -> Iterator[Any]:
        """Yield a cursor to fill a new table that replaces an earlier one, in one transaction.

        Without transactions, a failure leaves no table, which its readers report.
        """
        declared = ", ".join(f"{name} {kind}" for name, kind in types.items())
        with self.transaction() as cursor:
            try:
                cursor.execute(f"drop table if exists {relation}")
                cursor.execute(f"create table {relation} ({declared})")
                yield cursor
            except BaseException:
                if not self.has_transactions:
                    cursor.execute(f"drop table if exists {relation}")
                raise

    def begin(self) -> None:
        """Begin a transaction: after dbt's COMMIT some drivers begin none themselves."""
        self.adapter.connections.begin()
        statement = self.macro("_begin_transaction")
        if statement:
            self.cursor().execute(statement)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Any]:
        """Yield a cursor whose statements all take effect or, with transactions, none."""
        connections = self.adapter.connections
        if self.has_transactions:
            connections.clear_transaction()
            self.begin()
        try:
            # Not through the adapter, which would write every row into the log of dbt.
            yield self.cursor()
            if self.has_transactions:
                connections.commit()
        except BaseException:
            if self.has_transactions:
                connections.rollback_if_open()
            raise

    def _find_existing(self, name: str, node: Any, remedy: str) -> Any:
        relation = self.find_node(node)
        if relation is None:
            if file := self.missing.get(str(node.database).lower()):
                raise VaultError(
                    f"{name}: must exist in the warehouse; {missing_vault(file)} Else: {remedy}"
                )
            raise WarehouseError(
                f"{name}: must exist in the warehouse; {node.database}.{node.schema} does not hold "
                f"it. {remedy}"
            )
        if self._external(node):
            try:
                self.columns(relation)
            except Exception as error:  # Drivers have errors of their own, which may quote values.
                raise WarehouseError(
                    f"{name}: must be readable by its `external_location`; it is not "
                    f"({safe_reason(error)}). Correct it, or put the file there."
                ) from error
        return relation


@contextlib.contextmanager
def open_warehouse(
    project: Project,
    target: str | None = None,
    *,
    writes_vault: bool = False,
    creates_vault: bool = False,
    manifest: Any = None,
) -> Iterator[Warehouse]:
    """Open the warehouse of a project, with the profile and target that dbt itself would use.

    The project is the working directory meanwhile. ``writes_vault`` closes the vault to others
    first, as a build does; reading leaves it as it is. Only with ``creates_vault`` a missing one is
    made; else databases without a file are not attached. ``manifest`` is that of the project, where
    this command has parsed it before.

    Raises
    ------
    ProjectError
        If dbt has no profile and target to use.
    VaultError
        If a vault has no folder, or cannot be closed to others.
    WarehouseError
        If the project cannot be parsed, or the warehouse cannot be read.
    """
    # dbt takes more than a second to import; commands that do not need it must not wait.
    from dbt.adapters.factory import get_adapter, register_adapter, reset_adapters  # noqa: PLC0415
    from dbt.config.runtime import RuntimeConfig  # noqa: PLC0415
    from dbt.context.providers import generate_runtime_macro_context  # noqa: PLC0415
    from dbt.mp_context import get_mp_context  # noqa: PLC0415

    # Paths in profiles.yml are relative to the project.
    with contextlib.chdir(project.root), contextlib.ExitStack() as stack:
        # Read it ourselves first: dbt would print lines of a broken profile, with passwords.
        read_profile_by_dbt(project.root, target)
        target = target or os.environ.get("DBT_TARGET")
        choice = ["--target", target] if target else []
        manifest = manifest or parse_project(project, choice)
        # The defaults of dbt; parsing has shown that they lead to a profile.
        config = RuntimeConfig.from_args(dbt_arguments(project.root, target))
        require_folders(config.credentials)
        missing = missing_files(config.credentials)
        if missing and not creates_vault:
            config.credentials.attach = existing_attachments(config.credentials)
        reset_adapters()
        register_adapter(config, get_mp_context())
        adapter = get_adapter(config)
        adapter.set_macro_resolver(manifest)
        adapter.set_macro_context_generator(generate_runtime_macro_context)
        try:
            with explain_driver_errors(), adapter.connection_named("dbt_anonymize"):
                warehouse = Warehouse(adapter=adapter, manifest=manifest, missing=missing)
                if warehouse.is_duckdb:
                    database = config.credentials.database
                    protect_vaults(warehouse, project, database, is_writing=writes_vault)
                # Only now: a new warehouse file is for others too.
                stack.enter_context(private_files())
                yield warehouse
        finally:
            adapter.cleanup_connections()
            if adapter.type() == "duckdb":
                # Else the next project of this process would read the databases of this one.
                adapter.connections.close_all_connections()
            reset_adapters()


@contextlib.contextmanager
def closed_vaults(project: Project, target: str | None) -> Iterator[None]:
    """Protect vault files during the dbt calls of the block, where dbt itself cannot.

    Files that those calls create are private too. Does nothing with Python models, or where the
    vault is no file.
    """
    if project.has_python or read_profile(project.root, target).credentials.type != "duckdb":
        yield
        return
    with open_warehouse(project, target, writes_vault=True, creates_vault=True) as warehouse:
        database, session = warehouse.adapter.config.credentials.database, warehouse.cursor()
        files = [database_file(session, vault) for vault in vaults_of(warehouse, database)]
    with contextlib.ExitStack() as stack:
        for file in filter(None, files):
            stack.enter_context(key_beside(project.root / file))
        stack.enter_context(private_files())
        yield
