"""Spark hands its rows over as Arrow, in the session of this process, to a DuckDB in memory."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.extensions.spark.settings import diagnose, settings, unreached
from dbt_anonymize.extensions.spark.text import write_as_spark
from dbt_anonymize.literals import quote_text
from dbt_anonymize.project.engines import CopyReader, open_copies

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec
    from dbt_anonymize.verify.finding import Finding

# Parts of the engine that lie beside this file.
__all__ = ["diagnose", "settings", "unreached"]

PLAIN = None
READS_IN_PLACE = False
# Its embedded metastore lets one process in.
IN_ONE_PROCESS = True
HAS_TRANSACTIONS = False
TEXT_TYPE = "string"
UNSEEN_RELEASE = (
    "Spark has no grants, and who may read or write the folders of release and vault is up to the "
    "file system, which it does not show. Look there."
)
UNSEEN_FILES = (
    "the bytes of files, where the file system may keep dropped tables, cannot be read through "
    "Spark. Ask who runs the file system, and look for its versions and backups."
)
_FRAME = "dbt_anonymize_rows"
_ROWS_AT_ONCE = 100_000


def copy_relation(
    warehouse: Warehouse,
    relation: Any,
    session: duckdb.DuckDBPyConnection,
    table: str,
    *,
    rows: str = "",
    only: Collection[str] | None = None,
) -> None:
    """Make a table of DuckDB of a relation; see `Engine`."""
    columns = [name for name, _ in warehouse.columns(relation) if only is None or name in only]
    query = f"select {_listed(columns)} from {relation}{rows}"  # noqa: S608 (quoted)
    session.register(_FRAME, _spark(warehouse).sql(query).toArrow())
    try:
        session.execute(f"create table {table} as select * from {_FRAME}")  # noqa: S608
    finally:
        session.unregister(_FRAME)


def _spark(warehouse: Warehouse) -> Any:
    """Return the session that dbt works in."""
    if reason := unreached(warehouse.adapter.config.credentials):
        raise WarehouseError(reason)
    from pyspark.sql import SparkSession  # noqa: PLC0415 (not installed elsewhere)

    warehouse.rows("select 1")  # starts it with the parameters of the profile
    return SparkSession.builder.getOrCreate()


def open_reader(warehouse: Warehouse) -> contextlib.AbstractContextManager[CopyReader]:
    """Open a reader of copies in memory."""
    return open_copies(warehouse, copy_relation)


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


def is_refused(warehouse: Warehouse, error: Exception) -> bool:
    """Return false: nobody has rights that could be refused."""
    del warehouse, error
    return False


def check_grants(warehouse: Warehouse, spec: Spec) -> Iterator[Finding]:
    """Return no finding: nobody has rights."""
    del warehouse, spec
    return iter(())


def is_closed(warehouse: Warehouse, schema: str) -> bool:
    """Return false: there are no rights that could close a schema."""
    del warehouse, schema
    return False


def md5_by_bytes(text: str) -> str:
    """Return SQL of the digest of a text."""
    return f"md5({text})"


def literal(text: str) -> str:
    """Return a text as a literal: a backslash begins an escape there, and two quotes are none."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def write_alike(warehouse: Warehouse, session: duckdb.DuckDBPyConnection) -> None:
    """Have a DuckDB write values as Spark does; points in time in the zone of the session."""
    ((zone,),) = warehouse.rows("select current_timezone()")
    session.execute(f"set global timezone = {quote_text(zone)}")
    write_as_spark(session)


def stream(warehouse: Warehouse, sql: str) -> Iterator[list[Any]]:
    """Read a query of one column in parts."""
    rows = _spark(warehouse).sql(sql).toLocalIterator()
    while part := [value for (value,) in itertools.islice(rows, _ROWS_AT_ONCE)]:
        yield part


def stored_columns(warehouse: Warehouse, schemas: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """Return schema, table, column and type of all tables of schemas."""
    existing = {name.lower() for (name,) in warehouse.rows("show schemas")}  # as Hive keeps names
    return [
        (schema, table, column, kind)
        for schema in schemas
        if schema.lower() in existing
        for table in sorted(
            _table_names(warehouse, "tables", schema) - _table_names(warehouse, "views", schema)
        )
        for column, kind, _ in _described_columns(warehouse, f"{_quote(schema)}.{_quote(table)}")
    ]


def exact_number(column: str) -> str:
    """Return SQL of a number without its sign, of up to 28 digits before the point."""
    return f"abs(try_cast({column} as decimal(38, 10)))"


def misplaced_rows(warehouse: Warehouse, relation: Any, columns: Sequence[str]) -> int:
    """Count rows that are not in the order of columns, in the files that a release reads."""
    row = f"struct({_listed(columns)})"
    ((misplaced,),) = warehouse.rows(
        f"select count(*) from (select {row} as current, lag({row}) over "  # noqa: S608
        "(order by _metadata.file_name, _metadata.row_index) as earlier "
        f"from {_folder(warehouse, relation)}) as rows_ where current < earlier"
    )
    return int(misplaced)


def count_beside(warehouse: Warehouse, relation: Any, names: Collection[str]) -> int:
    """Count tables in the database of a release that are neither releases nor their folders."""
    tables = _table_names(warehouse, "tables", relation.schema)
    views = [relation.incorporate(path={"identifier": name}) for name in tables.intersection(names)]
    return len(tables - {*names, *(_folder_name(warehouse, view) for view in views)})


def texts_of(warehouse: Warehouse, relation: Any) -> list[str]:
    """Return comments of a release, the folder that it reads, and their columns."""
    texts = []
    for name in (relation, _folder(warehouse, relation)):
        texts += [comment for _, _, comment in _described_columns(warehouse, name)]
        about = warehouse.rows(f"describe table extended {name}")
        texts += [value for key, value, _ in about if key == "Comment"]
    return [text for text in texts if text]


def _table_names(warehouse: Warehouse, kind: str, schema: str) -> set[str]:
    """Return the names of all tables (with views) or views of a schema, without temporary ones."""
    rows = warehouse.rows(f"show {kind} in {_quote(schema)}")
    return {str(name) for _, name, is_temporary, *_ in rows if not is_temporary}


def _described_columns(warehouse: Warehouse, name: Any) -> list[tuple[str, str, str | None]]:
    """Return name, type and comment of each column; Spark's other lines begin with `#`."""
    rows = warehouse.rows(f"describe table {name}")
    described: list[tuple[str, str, str | None]] = list(
        itertools.takewhile(lambda row: row[0] and not row[0].startswith("# "), rows)
    )
    return described


def _folder(warehouse: Warehouse, release: Any) -> Any:
    """Return the table of files behind a release, which is a view."""
    name = _folder_name(warehouse, release)
    if name is None:
        raise WarehouseError(
            f"{release}: must be a view of the folder that a build has written; it is not. Run "
            "`dbt build` again."
        )
    return release.incorporate(path={"identifier": name})


def _folder_name(warehouse: Warehouse, view: Any) -> str | None:
    """Return the name of that table; None for a view without one, such as ``<n>_about``."""
    ((statement,),) = warehouse.rows(f"show create table {view}")
    match = re.search(rf"\b{re.escape(view.identifier)}__[0-9]{{20}}\b", statement)
    return match[0] if match else None


def _listed(columns: Iterable[str]) -> str:
    return ", ".join(map(_quote, columns))


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
