"""The audit of a release file: it holds its tables, complete, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from dbt_anonymize.errors import PublishError, safe_reason
from dbt_anonymize.literals import quote_name

# Every kind of object in a DuckDB file: the function that lists it without objects of the engine,
# and the column of its name.
_CATALOG = {
    "duckdb_tables() where not internal": "table_name",
    "duckdb_schemas() where not internal": "schema_name",
    "duckdb_views() where not internal": "view_name",
    "duckdb_types() where not internal": "type_name",
    "duckdb_functions() where not internal": "function_name",
    "duckdb_sequences() where true": "sequence_name",
    "duckdb_indexes() where true": "index_name",
}


@dataclass(frozen=True)
class Content:
    """Fingerprint of a table: columns with types, rows, sum of row hashes."""

    columns: list[tuple[str, str]]
    records: int
    checksum: int | None


def about_table(table: str) -> str:
    """Return the name of the table that describes a release, from the name of the released table.

    Examples
    --------
    >>> about_table("people_anonymized")
    'people_about'
    """
    return f"{table.removesuffix('_anonymized')}_about"


def audit(session: DuckDBPyConnection, *, relations: Mapping[str, str], stage: Path) -> None:
    """Read a closed file back before it is published.

    Raises a `PublishError`, without a value, if ``stage`` is not alone in its folder (a log), holds
    anything but the tables of ``relations``, or if a table differs from its committed relation in
    columns or records (count and sum of 64-bit hashes). Relations are quoted names, tables plain
    ones.
    """
    files = sorted(path.name for path in stage.parent.iterdir())
    _require(files == [stage.name], "be one file without a log", ", ".join(files))
    with open_file(session, stage, access_mode="read_only") as file:
        objects = objects_of(file)
        names = ", ".join(sorted(name for _, name in objects))
        wanted = [("main", table) for table in sorted(relations)]
        _require(objects == wanted, f"hold nothing but {', '.join(relations)}", names or "nothing")
        contents = {table: content_of(file, f"main.{quote_name(table)}") for table in relations}
    for table, content in contents.items():
        expected = content_of(session.cursor(), relations[table])
        _require(content.columns == expected.columns, "have the columns of the relation", "others")
        _require(
            content.records == expected.records,
            f"have {expected.records} records",
            f"{content.records}",
        )
        _require(
            content.checksum == expected.checksum,
            "have the records of the relation",
            "the same number of records with another checksum",
        )


def holds_release(
    session: DuckDBPyConnection,
    *,
    relation: str,
    table: str,
    file: Path,
    beside: Collection[str] = (),
) -> bool:
    """Tell whether a published file holds exactly the rows of a committed relation.

    The file may hold the table that describes the release too, and those ``beside`` it, and nothing
    else. A build killed
    between publishing and its commit leaves a file newer than the relation. Missing or unreadable
    files and symbolic links return False. Columns, count and the sum of 64-bit hashes are compared,
    in one pass over each that spills nothing to disk.
    """
    # The owner of a link's target could change the release later.
    if file.is_symlink() or not file.is_file():
        return False
    expected = content_of(session, relation)
    try:
        with open_file(session, file, access_mode="read_only") as release:
            others = {name for _, name in objects_of(release)} - {table}
            return others <= {about_table(table), *beside} and (
                content_of(release, f"main.{quote_name(table)}") == expected
            )
    except duckdb.Error:  # not a database, or broken
        return False


def read_error(session: DuckDBPyConnection, file: Path) -> str | None:
    """Read a release file completely; return the reason in one line if that fails, else None.

    A broken block shows only when it is read. The line holds no value of the file.
    """
    try:
        with open_file(session, file, access_mode="read_only") as release:
            tables = release.execute(
                "select schema_name, table_name from duckdb_tables() where not internal"
            ).fetchall()
            for schema, table in tables:
                content_of(release, f"{quote_name(schema)}.{quote_name(table)}")
    except duckdb.Error as error:
        return safe_reason(error)
    return None


def open_file(session: DuckDBPyConnection, file: Path, **options: str) -> DuckDBPyConnection:
    """Open a database file, new or not, in an engine of its own with the limits of the session.

    Never attached to the session: all threads of a build would see it there, and a transaction of
    another thread would keep it open and unwritten. ``options`` are further settings.
    """
    ((memory_limit, threads),) = (
        session.cursor()
        .execute("select current_setting('memory_limit'), current_setting('threads')")
        .fetchall()
    )
    # Absolute, so that no name is taken for an address (`s3:`) or the kind of a database.
    return duckdb.connect(
        str(file.absolute()), config={"memory_limit": memory_limit, "threads": threads, **options}
    )


def _require(holds: bool, rule: str, got: str) -> None:
    if not holds:
        raise PublishError(
            f"the file to be published must {rule}; got {got}. The earlier release is unchanged. "
            "Build again; if it happens again, check the disk."
        )


def objects_of(file: DuckDBPyConnection, database: str | None = None) -> list[tuple[str, str]]:
    """Return schema and name of all objects of a database, by default the current one."""
    return sorted(
        (schema, name)
        for objects, column in _CATALOG.items()
        for schema, name in file.execute(
            f"select schema_name, {column} from {objects} "  # noqa: S608
            "and database_name = coalesce(?, current_database())",
            [database],
        ).fetchall()
    )


def content_of(cursor: DuckDBPyConnection, relation: str) -> Content:
    """Return the fingerprint of a table, which a copy must share."""
    described = cursor.execute(f"describe {relation}").fetchall()
    columns = [(name, kind) for name, kind, *_ in described]
    row = ", ".join(quote_name(name) for name, _ in columns)
    # Sums of 64-bit numbers as 128-bit ones do not depend on the order and do not overflow.
    ((records, checksum),) = cursor.execute(
        f"select count(*), sum(hash({row})::hugeint) from {relation}"  # noqa: S608
    ).fetchall()
    return Content(columns, records, checksum)
