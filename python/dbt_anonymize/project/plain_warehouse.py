"""A warehouse that is read without dbt: where relations lie is known from the last build."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.project.driver_errors import explaining
from dbt_anonymize.project.last_build import manifest_of_last_build
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.plain_profile import Attachment, DuckDB, PlainProfile, Postgres
from dbt_anonymize.project.profile import read_plain_profile
from dbt_anonymize.project.vault_places import protect_vaults
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.vault.files import private_files, require_folders
from dbt_anonymize.versions import PACKAGE

# Database, schema and name of all that there is.
_RELATIONS = {
    "duckdb": "select table_catalog, table_schema, table_name "
    "from system.information_schema.tables",
    "postgres": "select current_database(), schemaname, tablename from pg_tables union all "
    "select current_database(), schemaname, viewname from pg_views union all "
    "select current_database(), schemaname, matviewname from pg_matviews",
}

_COLUMNS = (
    "select column_name, data_type from information_schema.columns "
    "where table_schema = %s and table_name = %s order by ordinal_position"
)


@dataclass(frozen=True)
class PlainRelation:
    """A place of a relation, whether or not it exists."""

    database: str
    schema: str
    identifier: str

    def __str__(self) -> str:
        """Return its quoted name."""
        return ".".join(map(quote_name, (self.database, self.schema, self.identifier)))

    def incorporate(self, *, path: dict[str, str]) -> PlainRelation:
        """Return it with another name, schema or database."""
        return replace(self, **path)


@dataclass(frozen=True)
class PlainWarehouse(Warehouse):
    """A warehouse of DuckDB or Postgres whose models and seeds are read, and nothing else."""

    profile: PlainProfile
    connection: Any

    @property
    def kind(self) -> str:
        """The type of the adapter."""
        return self.profile.credentials.type

    @property
    def target_name(self) -> str:
        """The target of the profile."""
        return self.profile.target_name

    @property
    def text_type(self) -> str:
        """The data type of texts."""
        return "text"

    def cursor(self) -> Any:
        """Return a cursor of the driver; settings are those of this connection of DuckDB."""
        return self.connection if self.is_duckdb else self.connection.cursor()

    def place(self, node: Any) -> PlainRelation:
        """Return where the relation of a model, seed or snapshot lies."""
        return PlainRelation(node.database, node.schema, node.alias)

    def find(self, relation: Any) -> PlainRelation | None:
        """Return a relation as it exists, or None where it does not."""
        path = (relation.database, relation.schema, relation.identifier)
        return PlainRelation(*path) if path in self._known else None

    def find_node(self, node: Any) -> PlainRelation | None:
        """Return the relation of a node as it exists, or None where it does not."""
        return self.find(self.place(node))

    @cached_property
    def _known(self) -> set[tuple[Any, ...]]:
        return set(self.rows(_RELATIONS[self.kind]))

    def columns(self, relation: Any) -> list[tuple[str, str]]:
        """Return name and data type of each column of a relation."""
        if self.is_duckdb:
            return [(name, kind) for name, kind, *_ in self.rows(f"describe {relation}")]
        return self.rows(_COLUMNS, [relation.schema, relation.identifier])

    def macro(self, name: str, /, *, package: str = PACKAGE, **arguments: Any) -> str:
        """Return the SQL of a macro that calls macros of its own file, and how values are written.

        Of the many macros, reading needs one.
        """
        from jinja2 import Environment  # noqa: PLC0415 (slow to import)

        own = self.manifest.macros[f"macro.{package}.{name}"]
        file = [one for one in self.manifest.macros.values() if one.path == own.path]
        # A template knows its macros by their names alone, those above the one that calls them.
        text = "".join(one.macro_sql for one in sorted(file, key=lambda one: one is own))
        for one in file:
            text = text.replace(f"{package}.{one.name}(", f"{one.name}(")
        call = ", ".join(f"{argument}={argument}" for argument in arguments)
        template = Environment(autoescape=False).from_string(f"{text}{{{{ {name}({call}) }}}}")  # noqa: S701 (SQL)
        known = {
            package: {"_literal": lambda value: quote_text(str(value))},
            "dbt": {"type_timestamp": lambda: "timestamp"},
        }
        return template.render(**known, **arguments).strip()


@contextlib.contextmanager
def open_to_read(project: Project, target: str | None = None) -> Iterator[Warehouse]:
    """Open the warehouse of a project to read its models and seeds, without dbt where that can be.

    What dbt needs to be asked for, and what is wrong, is left to `open_warehouse`.
    """
    with contextlib.chdir(project.root), contextlib.ExitStack() as until_closed:
        warehouse = _opened(project, target)
        if warehouse is None:
            yield until_closed.enter_context(open_warehouse(project, target))
            return
        until_closed.callback(warehouse.connection.close)
        with explaining():
            if warehouse.is_duckdb:
                database = warehouse.profile.credentials.database
                protect_vaults(warehouse, project, database, is_writing=False)
            until_closed.enter_context(private_files())
            yield warehouse


def _opened(project: Project, target: str | None) -> PlainWarehouse | None:
    profile = read_plain_profile(project.root, target)
    manifest = manifest_of_last_build(project.root, profile) if profile else None
    if profile is None or manifest is None:
        return None
    require_folders(profile.credentials)
    try:
        connection = _connect(profile.credentials)
    except Exception:  # drivers have errors of their own; dbt meets them again
        return None
    return PlainWarehouse(adapter=None, manifest=manifest, profile=profile, connection=connection)


def _connect(credentials: DuckDB | Postgres) -> Any:
    """Connect as dbt does."""
    if isinstance(credentials, Postgres):
        import psycopg2  # type: ignore[import-untyped]  # noqa: PLC0415 (an extra)

        named = {"keepalives_idle": credentials.keepalives_idle, "sslmode": credentials.sslmode}
        return psycopg2.connect(
            dbname=credentials.database,
            user=credentials.user,
            host=credentials.host,
            password=credentials.password,
            port=credentials.port,
            connect_timeout=credentials.connect_timeout,
            application_name="dbt",
            **{name: value for name, value in named.items() if value},
        )
    import duckdb  # noqa: PLC0415 (slow to import)

    connection = duckdb.connect(credentials.path, config=dict(credentials.config_options or {}))
    try:
        for attachment in credentials.attach or ():
            connection.execute(_attaching(attachment))
        for name, value in (credentials.settings or {}).items():
            connection.execute(f"set {name} = {quote_text(str(value))}")
    except duckdb.Error:
        connection.close()
        raise
    return connection


def _attaching(attachment: Attachment) -> str:
    """Return the statement by which dbt-duckdb attaches a file."""
    options = ["READ_ONLY"] if attachment.read_only else []
    for name, value in (attachment.options or {}).items():
        options.append(f"{name} {quote_text(value) if isinstance(value, str) else value}")
    alias = f" as {attachment.alias}" if attachment.alias else ""
    listed = f" ({', '.join(options)})" if options else ""
    return f"attach if not exists {quote_text(attachment.path)}{alias}{listed}"
