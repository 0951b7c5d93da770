"""DuckDB reads its own relations, as a Python model of dbt would, and data frames."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt_anonymize.literals import quote_name, quote_text

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from dbt_anonymize.project.engines import Drawn
    from dbt_anonymize.project.warehouse import Warehouse

literal = quote_text
READS_IN_PLACE = True
IN_ONE_PROCESS = False
HAS_TRANSACTIONS = True
TEXT_TYPE = "text"
_FRAME = "dbt_anonymize_rows"


@dataclass(frozen=True)
class InPlace:
    """Relations of the warehouse itself."""

    warehouse: Warehouse
    session: Any

    def relation(self, name: str, drawn: Drawn) -> duckdb.DuckDBPyRelation:
        """Return a model or seed as a whole; the caller draws the sample."""
        sql = f"select * from {self.warehouse.relation_of_ref(name)}"  # noqa: S608 (our name)
        result: duckdb.DuckDBPyRelation = self.session.sql(sql)
        return result


@contextlib.contextmanager
def open_reader(warehouse: Warehouse) -> Iterator[InPlace]:
    """Read over the connection of dbt."""
    yield InPlace(warehouse, warehouse.cursor())


def copy_relation(
    warehouse: Warehouse,
    relation: Any,
    session: duckdb.DuckDBPyConnection,
    table: str,
    *,
    rows: str = "",
    only: Collection[str] | None = None,
) -> None:
    """Make a table of another DuckDB of a relation; see `Engine`."""
    types = {
        quote_name(name): "text" if kind.upper().startswith("ENUM") else kind
        for name, kind in warehouse.columns(relation)
        if only is None or name in only
    }
    columns = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in types.items())
    frame = warehouse.cursor().execute(f"select {columns} from {relation}{rows}").df()  # noqa: S608
    session.register(_FRAME, frame)
    try:
        # pandas types object columns by their values: look at all of them.
        session.execute(f"set pandas_analyze_sample = {max(len(frame), 1)}")
        session.execute(f"create table {table} as select {columns} from {_FRAME}")  # noqa: S608
    finally:
        session.unregister(_FRAME)


def write_rows(warehouse: Warehouse, relation: Any, rows: pd.DataFrame) -> None:
    """Create or replace a table in one transaction."""
    session = warehouse.cursor()
    session.register(_FRAME, rows)
    try:
        session.execute(f"create or replace table {relation} as select * from {_FRAME}")  # noqa: S608
    finally:
        session.unregister(_FRAME)


def md5_by_bytes(text: str) -> str:
    """Return SQL of the digest of a text."""
    return f"md5({text})"
