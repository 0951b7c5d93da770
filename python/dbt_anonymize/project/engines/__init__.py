"""Engines that commands read and write: DuckDB, and those of extensions.

The module of an engine is an `Engine`; one that is not DuckDB is a `Server` too. It imports its
driver only where it connects.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extension import engines
from dbt_anonymize.literals import quote_name
from dbt_anonymize.spec.of_extensions import owner_of

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from dbt_anonymize.project.engines.plain import Plain
    from dbt_anonymize.project.engines.settings import Setting
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec
    from dbt_anonymize.verify.finding import Finding

# SQL of a value as text, as a server writes it, with braces for the value; see `write_alike`.
WRITTEN = "dbt_anonymize_text({})"
_CORE = "duckdb"


CopyRelation = Callable[..., None]


@dataclass(frozen=True)
class Drawn:
    """Records to read: all, or those with an SQL condition that names no table."""

    record_key: str
    condition: str | None = None


class Reader(Protocol):
    """Gives relations of a warehouse to code that queries DuckDB.

    ``session`` is the connection that they belong to.
    """

    session: Any

    def relation(self, name: str, drawn: Drawn) -> duckdb.DuckDBPyRelation:
        """Return a model or seed; of one with the record key, the drawn records."""


@dataclass(frozen=True)
class CopyReader:
    """Relations that an engine copied into a DuckDB in memory, each once."""

    warehouse: Warehouse
    session: duckdb.DuckDBPyConnection
    copy_relation: CopyRelation
    names: dict[str, str] = field(default_factory=dict)

    def relation(self, name: str, drawn: Drawn) -> duckdb.DuckDBPyRelation:
        """Return a model or seed; of one with the record key, the drawn records."""
        if name not in self.names:
            table = quote_name(name)
            relation = self.warehouse.relation_of_ref(name)
            is_drawn = drawn.condition is not None and any(
                column == drawn.record_key for column, _ in self.warehouse.columns(relation)
            )
            rows = f" where {drawn.condition}" if is_drawn else ""
            self.copy_relation(self.warehouse, relation, self.session, table, rows=rows)
            self.names[name] = table
        return self.session.table(self.names[name])


@contextlib.contextmanager
def in_memory() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a DuckDB in memory that never spills to disk, because it may hold people."""
    import duckdb  # noqa: PLC0415 (slow to import)

    with duckdb.connect(":memory:") as session:
        session.execute("set temp_directory = ''")
        yield session


@contextlib.contextmanager
def open_copies(warehouse: Warehouse, copy_relation: CopyRelation) -> Iterator[CopyReader]:
    """Yield a reader that copies relations into memory, and drop the copies at the end."""
    with in_memory() as session:
        yield CopyReader(warehouse, session, copy_relation)


class Diagnosis(NamedTuple):
    """One line of `doctor`."""

    check: str
    status: Literal["ok", "note", "stop"]
    text: str


class Engine(Protocol):
    """A module by which commands read and write a warehouse."""

    # Whether the reader leaves it to the caller to draw a sample.
    READS_IN_PLACE: bool
    # Whether dbt holds the only session, so that commands must run dbt in their process.
    IN_ONE_PROCESS: bool
    # Whether a failed statement is rolled back with its transaction.
    HAS_TRANSACTIONS: bool
    # The data type of texts.
    TEXT_TYPE: str
    open_reader: Callable[[Warehouse], contextlib.AbstractContextManager[Reader]]
    write_rows: Callable[[Warehouse, Any, pd.DataFrame], None]
    # Copies a relation into a table of a DuckDB: all columns or ``only`` some, all rows or
    # those of ``rows``, SQL that follows the relation in the query.
    copy_relation: CopyRelation
    # The MD5 of a text as SQL, ordered by its bytes: a collation may have another order.
    md5_by_bytes: Callable[[str], str]
    # A text as an SQL literal.
    literal: Callable[[str], str]


class Server(Engine, Protocol):
    """A module of an engine that serves tables where DuckDB has files."""

    # Reader that needs no dbt; None if there is none.
    PLAIN: Plain | None
    # The settings that dbt_project.yml in a folder must have.
    settings: Callable[[Path], Iterator[Setting]]
    # Lines of `doctor` about dbt_project.yml and the credentials of dbt's profile.
    diagnose: Callable[[Mapping[str, Any], Any], Iterator[Diagnosis]]
    # The reason why commands cannot read rows with these credentials, or None.
    unreached: Callable[[Any], str | None]
    # Whether an error is a missing right; makes the connection usable again.
    is_refused: Callable[[Warehouse, Exception], bool]
    # Findings of `verify` on who has rights on release and vault; none where there are no rights.
    check_grants: Callable[[Warehouse, Spec], Iterator[Finding]]
    # Whether rights close a schema to all but its owner and custodians.
    is_closed: Callable[[Warehouse, str], bool]
    # Sentences on what `verify` cannot see: around a release, and where dropped rows lie.
    UNSEEN_RELEASE: str
    UNSEEN_FILES: str
    # Makes a DuckDB write values as text like the engine, by `WRITTEN`.
    write_alike: Callable[[Warehouse, duckdb.DuckDBPyConnection], None]
    # A query of one column, read in parts.
    stream: Callable[[Warehouse, str], Iterator[list[Any]]]
    # Schema, table, column and data type of all that is stored in schemas.
    stored_columns: Callable[[Warehouse, Sequence[str]], list[tuple[str, str, str, str]]]
    # SQL of the numbers of a column, exact and without sign; NULL where one is none.
    exact_number: Callable[[str], str]
    # The number of stored rows of a relation that are not in the order of all its columns.
    misplaced_rows: Callable[[Warehouse, Any, Sequence[str]], int]
    # The number of tables and views beside a relation that have none of these names.
    count_beside: Callable[[Warehouse, Any, Collection[str]], int]
    # The texts of a relation beside its rows: comments, and defaults of columns.
    texts_of: Callable[[Warehouse, Any], list[str]]


def engine_names() -> tuple[str, ...]:
    """Return the types of the adapters of all engines that are here."""
    return (_CORE, *engines())


@cache
def find_engine(kind: str) -> Engine | None:
    """Return the engine of a type of adapter, or None without its extension."""
    module = f"{__name__}.duckdb" if kind == _CORE else engines().get(kind)
    return cast(Engine, import_module(module)) if module else None


def find_server(kind: str) -> Server | None:
    """Return the server of a type of adapter; None for DuckDB or without its extension."""
    return None if kind == _CORE else cast("Server | None", find_engine(kind))


def missing_engine(kind: str) -> str | None:
    """Return a message that names the missing extension of an engine, or None."""
    owner = owner_of(f"adapter.{kind}") if find_engine(kind) is None else None
    return owner and (
        f"{kind}: needs the extension {owner}, which is not here. Add it, or choose another target."
    )


def engine_of(warehouse: Warehouse) -> Engine:
    """Return the engine of a warehouse; a `WarehouseError` if there is none."""
    engine = find_engine(warehouse.kind)
    if engine is None:
        raise WarehouseError(
            missing_engine(warehouse.kind)
            or f"{warehouse.kind}: must be an engine that commands can read "
            f"({', '.join(engine_names())}). See docs/engines.md."
        )
    return engine


def server_of(warehouse: Warehouse) -> Server:
    """Return the engine of a warehouse that is not DuckDB."""
    return cast(Server, engine_of(warehouse))


def is_refused(warehouse: Warehouse, error: Exception) -> bool:
    """Tell whether a server refused a right; the connection can be used again."""
    server = find_server(warehouse.kind)
    return server is not None and server.is_refused(warehouse, error)


def works_in_one_process(kind: str) -> bool:
    """Tell whether commands must call dbt in their own process, for the adapter of a profile."""
    engine = find_engine(kind)
    return engine is not None and engine.IN_ONE_PROCESS


def text_type(kind: str) -> str:
    """Return the data type of texts, for a type of adapter."""
    engine = find_engine(kind)
    return "text" if engine is None else engine.TEXT_TYPE
