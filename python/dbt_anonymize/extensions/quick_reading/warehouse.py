"""A warehouse that is read without dbt: the last build tells the places of relations."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dbt_anonymize.extensions.quick_reading.last_build import manifest_of_last_build
from dbt_anonymize.extensions.quick_reading.profile import PlainProfile, plain_of
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.driver_errors import explain_driver_errors
from dbt_anonymize.project.engines import engine_of
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.vault_places import protect_vaults
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.vault.files import (
    existing_attachments,
    missing_files,
    private_files,
)
from dbt_anonymize.versions import PACKAGE


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
    """A warehouse whose models and seeds are read, and nothing else."""

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

    def cursor(self) -> Any:
        """Return a cursor of the driver; settings are those of this connection of DuckDB."""
        return self.connection if self.is_duckdb else self.connection.cursor()

    def place(self, node: Any) -> PlainRelation:
        """Return where the relation of a model, seed or snapshot lies."""
        return PlainRelation(node.database, node.schema, node.alias)

    def find(self, relation: Any) -> PlainRelation | None:
        """Return a relation as it exists, or None where it does not."""
        path = (relation.database, relation.schema, relation.identifier)
        return PlainRelation(*path) if path in self._existing_paths else None

    def find_node(self, node: Any) -> PlainRelation | None:
        """Return the relation of a node as it exists, or None where it does not."""
        return self.find(self.place(node))

    @cached_property
    def _existing_paths(self) -> set[tuple[Any, ...]]:
        return set(self.rows(plain_of(self.kind).relations))

    def columns(self, relation: Any) -> list[tuple[str, str]]:
        """Return name and data type of each column of a relation."""
        return plain_of(self.kind).columns(self, relation)

    def macro(self, name: str, /, *, package: str = PACKAGE, **arguments: Any) -> str:
        """Return the SQL of a macro that calls only macros of its own file and literals.

        Reading needs no other macros.
        """
        from jinja2 import Environment  # noqa: PLC0415 (slow to import)

        called = self.manifest.macros[f"macro.{package}.{name}"]
        macros = [m for m in self.manifest.macros.values() if m.path == called.path]
        # A template calls macros without their package, and only those above the call.
        text = "".join(m.macro_sql for m in sorted(macros, key=lambda m: m is called))
        for macro in macros:
            text = text.replace(f"{package}.{macro.name}(", f"{macro.name}(")
        call = ", ".join(f"{argument}={argument}" for argument in arguments)
        template = Environment(autoescape=False).from_string(f"{text}{{{{ {name}({call}) }}}}")  # noqa: S701 (SQL)
        packages = {
            package: {"_literal": lambda value: engine_of(self).literal(str(value))},
            "dbt": {"type_timestamp": lambda: "timestamp"},
        }
        return template.render(**packages, **arguments).strip()


@contextlib.contextmanager
def open_plain(project: Project, profile: PlainProfile | None) -> Iterator[PlainWarehouse | None]:
    """Open a warehouse to read its models and seeds; None where dbt must, and to report errors."""
    with contextlib.chdir(project.root), contextlib.ExitStack() as stack:
        warehouse = _open(project, profile) if profile else None
        if warehouse is None:
            yield None
            return
        stack.callback(warehouse.connection.close)
        with explain_driver_errors():
            if warehouse.is_duckdb:
                database = warehouse.profile.credentials.database
                protect_vaults(warehouse, project, database, is_writing=False)
            stack.enter_context(private_files())
            yield warehouse


def _open(project: Project, profile: PlainProfile) -> PlainWarehouse | None:
    manifest = manifest_of_last_build(project.root, profile)
    if manifest is None:
        return None
    credentials: Any = profile.credentials
    missing = missing_files(credentials)
    if not all(path.absolute().parent.is_dir() for path in missing.values()):
        return None
    if missing:
        credentials = replace(credentials, attach=tuple(existing_attachments(credentials)))
    try:
        connection = plain_of(credentials.type).connect(credentials)
    except Exception:  # drivers have errors of their own; dbt reports them
        return None
    return PlainWarehouse(
        adapter=None, manifest=manifest, missing=missing, profile=profile, connection=connection
    )
