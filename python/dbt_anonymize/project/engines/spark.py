"""Spark hands its rows over as Arrow, in the session of this process, to a DuckDB in memory."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.engines import Copies, copies_in_memory

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from dbt_anonymize.project.warehouse import Warehouse

READS_IN_PLACE = False
# Its embedded metastore lets one process in.
IN_ONE_PROCESS = True
_FRAME = "dbt_anonymize_rows"


def _collect(
    warehouse: Warehouse,
    relation: Any,
    session: duckdb.DuckDBPyConnection,
    table: str,
    *,
    rows: str,
) -> None:
    found = _spark(warehouse).sql(f"select * from {relation}{rows}").toArrow()  # noqa: S608
    session.register(_FRAME, found)
    try:
        session.execute(f"create table {table} as select * from {_FRAME}")  # noqa: S608
    finally:
        session.unregister(_FRAME)


def _spark(warehouse: Warehouse) -> Any:
    """Return the session that dbt works in."""
    method = str(warehouse.adapter.config.credentials.method)
    if method != "session":
        raise WarehouseError(
            "spark: the method of the profile must be session, in which rows are handed over as "
            f"Arrow; got {method}. See docs/engines.md."
        )
    from pyspark.sql import SparkSession  # noqa: PLC0415 (not installed elsewhere)

    warehouse.rows("select 1")  # starts it with the parameters of the profile
    return SparkSession.builder.getOrCreate()


def open_reader(warehouse: Warehouse) -> contextlib.AbstractContextManager[Copies]:
    """Read into memory, and forget it again."""
    return copies_in_memory(warehouse, _collect)


def write_rows(warehouse: Warehouse, relation: Any, rows: pd.DataFrame) -> None:
    """Create or replace a table; where that fails in the middle, there is none.

    DuckDB reads the data frame, as it does that of a Python model.
    """
    import duckdb  # noqa: PLC0415 (slow to import)

    spark = _spark(warehouse)
    with duckdb.connect(":memory:") as session:
        session.register(_FRAME, rows)
        table = session.sql(f"select * from {_FRAME}").to_arrow_table()  # noqa: S608
    writer = spark.createDataFrame(table).write.format("parquet").mode("overwrite")
    writer.saveAsTable(str(relation))


def md5_by_bytes(text: str) -> str:
    """Return SQL of the digest of a text."""
    return f"md5({text})"


def literal(text: str) -> str:
    """Return a text as a literal: a backslash begins an escape there, and two quotes are none."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
