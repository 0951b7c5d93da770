"""How commands read and write the tables of a warehouse, one module per engine.

Each has `open_reader`, which gives relations of DuckDB whatever the engine, and `write_rows`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from dbt_anonymize.errors import WarehouseError

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from dbt_anonymize.project.warehouse import Warehouse

ENGINES = ("duckdb", "postgres", "spark")


@dataclass(frozen=True)
class Drawn:
    """Which records are read: all, or those with an SQL condition that names no table."""

    record_key: str
    condition: str | None = None


class Reader(Protocol):
    """Gives relations of a warehouse to code that asks DuckDB.

    ``session`` is the connection that they belong to.
    """

    session: Any

    def relation(self, name: str, drawn: Drawn) -> duckdb.DuckDBPyRelation:
        """Return a model or seed; of one with the record key, the drawn records."""


class Engine(Protocol):
    """A module of this package."""

    # Whether the reader leaves it to the caller to draw a sample.
    READS_IN_PLACE: bool
    # Whether dbt works in a session of its process, beside which no other may get in.
    IN_ONE_PROCESS: bool
    open_reader: Callable[[Warehouse], contextlib.AbstractContextManager[Reader]]
    write_rows: Callable[[Warehouse, Any, pd.DataFrame], None]
    # The MD5 of a text as SQL, ordered by its bytes: a collation may have another order.
    md5_by_bytes: Callable[[str], str]
    # A text as an SQL literal.
    literal: Callable[[str], str]


def engine_of(warehouse: Warehouse) -> Engine:
    """Return the module of a warehouse; a `WarehouseError` if there is none."""
    kind = str(warehouse.adapter.type())
    if kind not in ENGINES:
        raise WarehouseError(
            f"{kind}: must be an engine that commands can read ({', '.join(ENGINES)}). See "
            "docs/engines.md."
        )
    return _module(kind)


def works_in_one_process(kind: str) -> bool:
    """Whether commands must call dbt in their own process, for the adapter of a profile."""
    return kind in ENGINES and _module(kind).IN_ONE_PROCESS


def _module(kind: str) -> Engine:
    return cast(Engine, import_module(f"{__name__}.{kind}"))
