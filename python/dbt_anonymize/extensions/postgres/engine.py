"""Postgres hands its rows over by COPY, through a pipe, to a DuckDB in memory."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dbt_anonymize.extensions.postgres.grants import check_grants, is_closed
from dbt_anonymize.extensions.postgres.plain import PLAIN
from dbt_anonymize.extensions.postgres.server import diagnose, settings
from dbt_anonymize.extensions.postgres.text import write_as_postgres
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.project.engines import CopyReader, open_copies

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from dbt_anonymize.project.warehouse import Warehouse

# Parts of the engine that lie beside this file.
__all__ = ["PLAIN", "check_grants", "diagnose", "is_closed", "settings"]

literal = quote_text
READS_IN_PLACE = False
IN_ONE_PROCESS = False
HAS_TRANSACTIONS = True
TEXT_TYPE = "text"
UNSEEN_RELEASE = (
    "the release is a table of a server, so that there is no file whose mode, bytes, folder and "
    "copies could be looked at. Grants and the schema are looked at instead."
)
UNSEEN_FILES = (
    "the bytes of a server's files, where deleted rows lie until it vacuums, its log and its "
    "backups cannot be read over a connection. Ask who runs the server."
)
# SQLSTATE of a missing privilege.
_REFUSED = "42501"
_TEXT = "varchar"
# Types of DuckDB; others are read as text.
_TYPES = {
    "smallint": "smallint",
    "integer": "integer",
    "bigint": "bigint",
    "real": "float",
    "double precision": "double",
    "numeric": "double",  # of too many digits, or of values that are no number
    "boolean": "boolean",
    "date": "date",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamptz",
    "uuid": "uuid",
}
_DECIMAL = re.compile(r"numeric\((\d+),\s*(\d+)\)")
_WIDEST_DECIMAL = 38
# Types of Postgres for the columns of a data frame.
_OF_FRAMES = {"BIGINT": "bigint", "DOUBLE": "double precision", "BOOLEAN": "boolean"}
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
    types = {
        quote_name(name): _type(
            _exact_numeric_type(warehouse, relation, name) if kind == "numeric" else kind
        )
        for name, kind in warehouse.columns(relation)
        if only is None or name in only
    }
    declared = ", ".join(f"{name} {kind}" for name, kind in types.items())
    session.execute(f"create table {table} ({declared})")
    # Cast to text on the server too: it strips the padding of `char(n)`, as in labels.
    selected = ", ".join(
        f"cast({name} as text)" if kind == _TEXT else name for name, kind in types.items()
    )
    # A NULL is empty and never quoted, a text is always quoted.
    copy = f"copy (select {selected} from {relation}{rows}) to stdout (format csv, force_quote *)"  # noqa: S608
    columns = ", ".join(f"'c{place}': {quote_text(k)}" for place, k in enumerate(types.values()))
    with _copy_pipe(warehouse, copy) as file:
        session.execute(
            f"insert into {table} select * from read_csv({quote_text(file)},"  # noqa: S608
            " auto_detect = false, header = false, delim = ',', quote = '\"', escape = '\"',"
            " nullstr = '', allow_quoted_nulls = false, parallel = false,"
            f" max_line_size = 100000000, columns = {{{columns}}})"
        )


def _exact_numeric_type(warehouse: Warehouse, relation: Any, column: str) -> str:
    """Return the type that holds all values of a `numeric` without precision as they are."""
    name = quote_name(column)
    ((digits, scale, is_number),) = warehouse.rows(
        f"select max(length(cast(trunc(abs({name})) as text))), max(scale({name})), "  # noqa: S608
        f"coalesce(bool_and(scale({name}) is not null or {name} is null), true) from {relation}"
    )
    return f"numeric({(digits or 1) + (scale or 0)},{scale or 0})" if is_number else "numeric"


def _type(kind: str) -> str:
    decimal = _DECIMAL.fullmatch(kind)
    if decimal and int(decimal[1]) <= _WIDEST_DECIMAL:
        return f"decimal({decimal[1]}, {decimal[2]})"
    return _TYPES.get(kind.partition("(")[0] if decimal else kind, _TEXT)


@contextlib.contextmanager
def _copy_pipe(warehouse: Warehouse, copy: str) -> Iterator[str]:
    """Yield a path that reads the output of a COPY once; nothing touches a disk."""
    reading, writing = os.pipe()
    # Made here: dbt gives each thread a connection of its own.
    cursor = warehouse.cursor()

    def write() -> None:
        with os.fdopen(writing, "wb") as file:
            cursor.copy_expert(copy, file)

    with _in_background(write):
        try:
            yield f"/dev/fd/{reading}"
        finally:
            os.close(reading)  # whoever still writes stops
    # Else it would wait in a transaction while models are trained.
    cursor.connection.commit()


def stream(warehouse: Warehouse, sql: str) -> Iterator[list[Any]]:
    """Read a query of one column in parts; the server keeps what was not read yet."""
    connection = warehouse.cursor().connection
    with connection.cursor(f"dbt_anonymize_{secrets.token_hex(8)}") as cursor:
        cursor.execute(sql)
        while rows := cursor.fetchmany(_ROWS_AT_ONCE):
            yield [value for (value,) in rows]
    connection.commit()


@contextlib.contextmanager
def _in_background(work: Callable[[], object]) -> Iterator[None]:
    """Run a function in a thread; raise its error unless the block raised."""
    errors: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    if errors:
        raise errors[0]


def open_reader(warehouse: Warehouse) -> contextlib.AbstractContextManager[CopyReader]:
    """Open a reader of copies in memory."""
    return open_copies(warehouse, copy_relation)


def write_rows(warehouse: Warehouse, relation: Any, rows: pd.DataFrame) -> None:
    """Create or replace a table in one transaction.

    DuckDB reads the data frame, as it does that of a Python model.
    """
    import duckdb  # noqa: PLC0415 (slow to import)

    with duckdb.connect(":memory:") as session:
        session.register(_FRAME, rows)
        described = session.execute(f"describe {_FRAME}").fetchall()
        types = {quote_name(name): _OF_FRAMES.get(kind, "text") for name, kind, *_ in described}
        with warehouse.replacing(relation, types) as cursor:
            reading, writing = os.pipe()
            into = f"copy {_FRAME} to '/dev/fd/{writing}' (format csv, header false, force_quote *)"

            def write() -> None:
                try:
                    session.execute(into)
                finally:
                    os.close(writing)

            with _in_background(write), os.fdopen(reading, "rb") as file:
                cursor.copy_expert(f"copy {relation} from stdin (format csv)", file)
            cursor.execute(f"analyze {relation}")


def unreached(credentials: Any) -> None:
    """Return None: whoever connects reads rows."""
    del credentials


def is_refused(warehouse: Warehouse, error: Exception) -> bool:
    """Tell whether a right was refused; the connection can be used again."""
    if getattr(error, "pgcode", None) != _REFUSED:
        return False
    # Else every later statement of the transaction would fail.
    warehouse.cursor().connection.rollback()
    return True


def md5_by_bytes(text: str) -> str:
    """Return SQL of the digest of a text."""
    return f'cast(md5({text}) as text) collate "C"'


def write_alike(warehouse: Warehouse, session: duckdb.DuckDBPyConnection) -> None:
    """Have a DuckDB write values as this server does; points in time in the zone of the session."""
    ((zone,),) = warehouse.rows("select current_setting('TimeZone')")
    session.execute(f"set global timezone = {quote_text(zone)}")
    write_as_postgres(session)


def stored_columns(warehouse: Warehouse, schemas: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """Return schema, table, column and type of all tables of schemas, readable or not."""
    listed = ", ".join(map(quote_text, schemas)) or "null"
    columns: list[tuple[str, str, str, str]] = warehouse.rows(
        "select nspname, relname, attname, format_type(atttypid, atttypmod) from pg_class "  # noqa: S608
        "inner join pg_namespace on relnamespace = pg_namespace.oid "
        "inner join pg_attribute on attrelid = pg_class.oid "
        f"where nspname in ({listed}) and relkind in ('r', 'm') "
        "and attnum > 0 and not attisdropped order by nspname, relname, attnum"
    )
    return columns


def exact_number(column: str) -> str:
    """Return SQL of a number without its sign, by its text: a cast of a float keeps 15 digits."""
    text = f"cast({column} as text)"
    return (
        f"case when {text} not in ('NaN', 'Infinity', '-Infinity') "
        f"then abs(cast({text} as numeric)) end"
    )


def misplaced_rows(warehouse: Warehouse, relation: Any, columns: Sequence[str]) -> int:
    """Count stored rows that are not in the order of columns."""
    row = f"row({', '.join(map(quote_name, columns))})"
    ((misplaced,),) = warehouse.rows(
        f"select count(*) from (select {row} as current, lag({row}) over (order by ctid) "  # noqa: S608
        f"as earlier from {relation}) as rows_ where current < earlier"
    )
    return int(misplaced)


def count_beside(warehouse: Warehouse, relation: Any, names: Collection[str]) -> int:
    """Count other relations in the schema of a relation."""
    listed = ", ".join(map(quote_text, sorted(names)))
    ((others,),) = warehouse.rows(
        "select count(*) from pg_class inner join pg_namespace on relnamespace = pg_namespace.oid "  # noqa: S608
        f"where nspname = {quote_text(str(relation.schema))} and relkind in "
        f"('r', 'v', 'm', 'p', 'f') and relname not in ({listed})"
    )
    return int(others)


def texts_of(warehouse: Warehouse, relation: Any) -> list[str]:
    """Return comments, and defaults of columns."""
    name = quote_text(str(relation))
    rows = warehouse.rows(
        "select description from pg_description where classoid = 'pg_class'::regclass "  # noqa: S608
        f"and objoid = {name}::regclass union all select pg_get_expr(adbin, adrelid) "
        f"from pg_attrdef where adrelid = {name}::regclass"
    )
    return [str(text) for (text,) in rows if text]
