"""Places that others read, which are searched for identifiers: cells and files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from dbt_anonymize.extensions.identifier_search.text_variants import (
    LONG,
    comparable_bytes,
    variants_in_bytes,
    variants_in_cells,
)
from dbt_anonymize.extensions.identifier_search.values import Patterns, Variants
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.release.copies import places_of_copies
from dbt_anonymize.spec import Spec
from dbt_anonymize.verify.relations import Released, belongs_to

_ROWS_AT_ONCE = 100_000

_IN_RELEASE = (
    "Remove the column from the release (role identifier), or clean it in a model before. If the "
    "values are ordinary words that many people share, they do not name a person: give that "
    "column another role, or rename the labels that repeat them."
)
_IN_TEXTS = "Release the table without comments and defaults."
_IN_WAREHOUSE = (
    "Whoever opens the warehouse reads it. Keep the table in the vault, or drop the column; then "
    "build into a new database file, since dropped values stay in the bytes of this one."
)
_IN_RELEASE_FILE = (
    "Do not hand out this file. Every build writes the release anew: if the next one has them too, "
    "look for the column that they come from."
)
_IN_WAREHOUSE_FILE = (
    "Load the source into the vault and build into a new database file: this one keeps what was "
    "once written unprotected, also when no table has it any more."
)
_NUMBERS = re.compile(
    r"(?:u?(?:tiny|small|big|huge)?int(?:eger)?|float|real|double(?: precision)?|decimal|numeric"
    r"|bignum)(?:\(.*\))?",
    re.IGNORECASE,
)
# Dates name nobody, and no identifier fits into the others.
_NOT_SEARCHED = re.compile(
    r"(?:date|time|boolean|bool|interval|bit)\b.*|timestamp.*", re.IGNORECASE
)
SMALLEST_NUMBER = 10 ** (LONG - 1)
_TEXTS_OF_THE_FILE = (
    "select comment from duckdb_tables() union all select comment from duckdb_views() "
    "where not internal union all select comment from duckdb_columns() where not internal "
    "union all select column_default from duckdb_columns() where not internal"
)


@dataclass(frozen=True)
class Place:
    """A place to search, and the remedy if it holds identifiers.

    ``search`` reads it once for values written in ``variants``; ``has_keys``: record keys must not
    be there either, as in a release.
    """

    subject: str
    remedy: str
    variants: Variants
    search: Callable[[Patterns], NDArray[Any]]
    has_keys: bool


def released_places(
    released: Released, spec: Spec, texts: Sequence[str] | None = None
) -> Iterator[Place]:
    """Yield every column of the release, and its comments and defaults, if it has any.

    ``texts`` are the comments and defaults of a release that is no file.
    """
    for name, data_type in released.columns.items():
        sql = _distinct_cells(released.relation, quote_name(name), data_type)
        if sql is not None:
            cells = partial(_stream, lambda: released.cursor, sql)
            subject = f"{spec.name}_anonymized.{name}"
            yield cells_place(subject, _IN_RELEASE, cells, has_keys=True)
    if texts is None:
        texts = [text for (text,) in released.rows(_TEXTS_OF_THE_FILE) if text]
    if texts:
        subject = f"{spec.name}_anonymized (comments and defaults)"
        yield cells_place(subject, _IN_TEXTS, lambda: [texts], has_keys=True)


def warehouse_places(warehouse: Warehouse, spec: Spec) -> Iterator[Place]:
    """Yield every column of every table of the warehouse that may hold identifiers."""
    database, _ = database_of(warehouse)
    columns = warehouse.rows(
        "select c.schema_name, c.table_name, c.column_name, c.data_type "  # noqa: S608
        "from duckdb_columns() as c inner join duckdb_tables() as t "
        "on c.table_oid = t.table_oid and c.database_oid = t.database_oid "
        f"where c.database_name = {quote_text(database)} "
        "order by c.schema_name, c.table_name, c.column_index"
    )
    source = warehouse.relation_of(spec.source).identifier
    for schema, table, column, data_type in columns:
        # Working tables have the record key, which may equal a number of somebody.
        is_ours = belongs_to(warehouse, spec, table) or table == source
        relation = ".".join(map(quote_name, (database, schema, table)))
        sql = _distinct_cells(relation, quote_name(column), data_type)
        if sql is not None and not (is_ours and column.lower() == spec.record_key.lower()):
            cells = partial(_stream, warehouse.cursor, sql)
            yield cells_place(f"{schema}.{table}.{column}", _IN_WAREHOUSE, cells, has_keys=False)


def file_places(project: Project, release: Path, database: Path | None) -> Iterator[Place]:
    """Yield the files of release and warehouse, leftovers of builds included."""
    # Leftovers of a killed build beside the release are as readable as the release.
    beside = sorted(release.parent.glob(f".{release.name}.*"))
    copies = places_of_copies(release).values()
    files = [(path, _IN_RELEASE_FILE) for path in (release, *copies, *beside)]
    if database is not None:
        # Its log, and spilled memory.
        paths = (database, Path(f"{database}.wal"), *sorted(Path(f"{database}.tmp").glob("*")))
        files += [(path, _IN_WAREHOUSE_FILE) for path in paths]
    root = project.root.resolve()
    for path, remedy in files:
        if path.is_file():
            resolved = path.resolve()
            name = resolved.relative_to(root) if resolved.is_relative_to(root) else resolved
            has_keys = remedy is _IN_RELEASE_FILE
            yield Place(str(name), remedy, variants_in_bytes, partial(_in_file, path), has_keys)


def database_of(warehouse: Warehouse) -> tuple[str, Path | None]:
    """Return the name and the file of the warehouse; no file for one in memory."""
    ((name, path),) = warehouse.rows(
        "select database_name, path from duckdb_databases() "
        "where database_name = current_database()"
    )
    return str(name), Path(path) if path else None


def cells_place(
    subject: str,
    remedy: str,
    batches: Callable[[], Iterable[Sequence[str]]],
    *,
    has_keys: bool,
) -> Place:
    """Return cells as a place; ``batches`` reads them anew."""

    def search(patterns: Patterns) -> NDArray[Any]:
        # Cells are read only if there are values to search for.
        read = batches() if len(patterns.search) else ()
        texts = (text for cells in read for text in comparable_bytes(cells))
        return patterns.by_value(patterns.search.occur_in(texts))

    return Place(subject, remedy, variants_in_cells, search, has_keys)


def _in_file(path: Path, patterns: Patterns) -> NDArray[Any]:
    return patterns.by_value(patterns.search.occur_in_file(path))


def is_searched(data_type: str) -> bool:
    """Tell whether a column of a type may hold identifiers."""
    return not _NOT_SEARCHED.fullmatch(data_type)


def has_numbers(data_type: str) -> bool:
    """Tell whether a column of a type holds numbers."""
    return bool(_NUMBERS.fullmatch(data_type))


def _distinct_cells(relation: str, column: str, data_type: str) -> str | None:
    """Return SQL of the distinct cells as text, of numbers the whole ones without their sign."""
    if not is_searched(data_type):
        return None
    text, condition = f"cast({column} as varchar)", f"{column} is not null"
    if has_numbers(data_type):
        whole = f"try_cast({column} as hugeint)"
        text = f"cast(abs({whole}) as varchar)"
        condition = f"{whole} = {column} and abs({whole}) >= {SMALLEST_NUMBER}"
    return f"select distinct {text} from {relation} where {condition}"  # noqa: S608


def _stream(cursor: Callable[[], Any], sql: str) -> Iterator[list[str]]:
    reading = cursor()
    reading.execute(sql)
    while batch := reading.fetchmany(_ROWS_AT_ONCE):
        yield [row[0] for row in batch]
