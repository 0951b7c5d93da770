"""Read and write the tables of a warehouse, one module per engine.

Each has `open_reader`, which gives relations of DuckDB whatever the engine, and `write_rows`. Those
that are not DuckDB have more, which `verify` asks for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.profile import read_profile

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from dbt_anonymize.project.layout import Project
    from dbt_anonymize.project.warehouse import Warehouse

ENGINES = ("duckdb", "postgres", "spark")


CopyRelation = Callable[..., None]


@dataclass(frozen=True)
class Drawn:
    """Records to read: all, or those with an SQL condition that names no table."""

    record_key: str
    condition: str | None = None


class Reader(Protocol):
    """Gives relations of a warehouse to code that asks DuckDB.

    ``session`` is the connection that they belong to.
    """

    session: Any

    def relation(self, name: str, drawn: Drawn) -> duckdb.DuckDBPyRelation:
        """Return a model or seed; of one with the record key, the drawn records."""


@dataclass(frozen=True)
class Copied:
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
    """Give a DuckDB in memory, of which nothing is ever written: it may hold people."""
    import duckdb  # noqa: PLC0415 (slow to import)

    with duckdb.connect(":memory:") as session:
        session.execute("set temp_directory = ''")
        yield session


@contextlib.contextmanager
def reading_copies(warehouse: Warehouse, copy_relation: CopyRelation) -> Iterator[Copied]:
    """Read into memory, and forget it again."""
    with in_memory() as session:
        yield Copied(warehouse, session, copy_relation)


class Engine(Protocol):
    """A module of this package."""

    # Whether the reader leaves it to the caller to draw a sample.
    READS_IN_PLACE: bool
    # Whether dbt works in a session of its process, beside which no other may get in.
    IN_ONE_PROCESS: bool
    open_reader: Callable[[Warehouse], contextlib.AbstractContextManager[Reader]]
    write_rows: Callable[[Warehouse, Any, pd.DataFrame], None]
    # Makes a table of a DuckDB of a relation; see `postgres.copy_relation`.
    copy_relation: CopyRelation
    # The MD5 of a text as SQL, ordered by its bytes: a collation may have another order.
    md5_by_bytes: Callable[[str], str]
    # A text as an SQL literal.
    literal: Callable[[str], str]


class Server(Engine, Protocol):
    """A module of an engine that serves tables where DuckDB has files: what checks ask of it."""

    # Whether roles have rights.
    HAS_GRANTS: bool
    # What `verify` cannot look at: around a release, and where dropped rows lie.
    UNSEEN_RELEASE: str
    UNSEEN_FILES: str
    # Has a DuckDB write values as the engine does, by `postgres_text.WRITTEN`.
    write_alike: Callable[[Warehouse, duckdb.DuckDBPyConnection], None]
    # A query of one column, read in parts.
    stream: Callable[[Warehouse, str], Iterator[list[Any]]]
    # Schema, table, column and data type of all that is stored in schemas.
    stored_columns: Callable[[Warehouse, Sequence[str]], list[tuple[str, str, str, str]]]
    # SQL of the numbers of a column, exact and without sign; NULL where one is none.
    exact_number: Callable[[str], str]
    # How many stored rows of a relation are not in the order of all its columns.
    misplaced_rows: Callable[[Warehouse, Any, Sequence[str]], int]
    # How many tables and views lie beside a relation that have none of these names.
    count_beside: Callable[[Warehouse, Any, Collection[str]], int]
    # What a relation says beside its rows: comments, and defaults of columns.
    texts_of: Callable[[Warehouse, Any], list[str]]


def server_of(warehouse: Warehouse) -> Server:
    """Return the module of a warehouse that is not DuckDB."""
    return cast(Server, engine_of(warehouse))


def engine_of(warehouse: Warehouse) -> Engine:
    """Return the module of a warehouse; a `WarehouseError` if there is none."""
    kind = str(warehouse.adapter.type())
    if kind not in ENGINES:
        raise WarehouseError(
            f"{kind}: must be an engine that commands can read ({', '.join(ENGINES)}). See "
            "docs/engines.md."
        )
    return _module(kind)


def unreached(method: str) -> str:
    """Return why commands read no rows of a Spark that is not in their process."""
    return (
        f"spark: evaluate and verify reach only a Spark with `method: session`, in their own "
        f"process; the profile says {method}. dbt itself builds with any: give the commands a "
        "target with a session of the same metastore. See docs/engines.md."
    )


def require_reached(project: Project, target: str | None) -> None:
    """Stop before anything is read where rows of the target cannot be."""
    credentials: Any = read_profile(project.root, target).credentials
    if credentials.type == "spark" and credentials.method != "session":
        raise WarehouseError(unreached(str(credentials.method)))


def works_in_one_process(kind: str) -> bool:
    """Tell whether commands must call dbt in their own process, for the adapter of a profile."""
    return kind in ENGINES and _module(kind).IN_ONE_PROCESS


def _module(kind: str) -> Engine:
    return cast(Engine, import_module(f"{__name__}.{kind}"))
