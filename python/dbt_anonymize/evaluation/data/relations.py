"""Read columns of DuckDB relations as arrays of numbers, ordered by a key.

Original values stay in the database, which turns texts into codes, and record keys into hashes for
comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.literals import quote_name

if TYPE_CHECKING:
    import duckdb

SOURCE = "dbt_anonymize_source"
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMBERS = (*_INTEGERS, *(f"U{name}" for name in _INTEGERS), "FLOAT", "DOUBLE", "DECIMAL")
_TEXTS = ("VARCHAR", "BOOLEAN", "ENUM", "UUID")


def value_text(value: object) -> str:
    """Return a spec's value as the database shows it as text.

    Examples
    --------
    >>> value_text(True), value_text(1)
    ('true', '1')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def text_sql(column: str) -> str:
    """Return SQL for a column as text."""
    return f"cast({quote_name(column)} as text)"


def text_rank_sql(column: str) -> str:
    """Return SQL for the 0-based dense rank of a column's text; NULL is last.

    By bytes: a collation may treat different values as equal.
    """
    return f"dense_rank() over (order by encode({text_sql(column)}) asc nulls last) - 1"


def ranked_texts(relation: duckdb.DuckDBPyRelation, column: str) -> list[str | None]:
    """Return the distinct texts of a column in the order of `text_rank_sql`."""
    sql = f"select distinct encode({text_sql(column)}) as bytes from {SOURCE}"  # noqa: S608
    ordered = f"select bytes from ({sql}) as texts order by bytes asc nulls last"  # noqa: S608
    rows = query(relation, ordered).fetchall()
    return [None if row[0] is None else row[0].decode("utf-8") for row in rows]


Kind = Literal["number", "date", "text"]


def column_kind(relation: duckdb.DuckDBPyRelation, column: str) -> Kind:
    """Return the kind of values in a column; timestamps are dates, booleans are texts.

    ``column`` is unquoted and matches in any case. A missing column, or one of another type, is an
    `EvaluationError`.
    """
    columns = zip(relation.columns, relation.types, strict=True)
    types = {name.lower(): str(kind) for name, kind in columns}
    if column.lower() not in types:
        raise EvaluationError(
            f"column `{column}` must be in the relation that is evaluated; it is not. "
            "Run `dbt-anonymize generate` and build the efforts again."
        )
    kind = kind_of_type(types[column.lower()])
    if kind:
        return kind
    raise EvaluationError(
        f"column `{column}` must be a number, a date, a text or a boolean to be used by a model; "
        f"got {types[column.lower()]}. Cast it in the source or leave it out of the features."
    )


def kind_of_type(type_: str) -> Kind | None:
    """Return the kind of values of a data type of DuckDB, None of another one.

    Examples
    --------
    >>> kind_of_type("DECIMAL(9,2)"), kind_of_type("TIMESTAMP WITH TIME ZONE"), kind_of_type("BLOB")
    ('number', 'date', None)
    """
    name = type_.split("(", maxsplit=1)[0].strip()
    if name in _NUMBERS:
        return "number"
    if name == "DATE" or name.startswith("TIMESTAMP"):
        return "date"
    return "text" if name in _TEXTS else None


def number_sql(column: str, kind: Kind) -> str:
    """Return SQL for a number as double; a date is days since 1970-01-01."""
    if kind == "date":
        return f"epoch({quote_name(column)}) / 86400.0"
    return f"cast({quote_name(column)} as double)"


def read_arrays(
    relation: duckdb.DuckDBPyRelation, expressions: Mapping[str, str], order_by: str
) -> dict[str, NDArray[Any]]:
    """Read numeric SQL expressions over a relation, one array each, in one scan.

    ``order_by`` is a unique column, unquoted. The result adds ``record_hash``, the hash of that
    column; a NULL double is NaN.
    """
    parts = [f"hash({quote_name(order_by)})", *expressions.values()]
    aliased = ", ".join(f"{sql} as c{position}" for position, sql in enumerate(parts))
    sql = f"select {aliased} from {SOURCE} order by {quote_name(order_by)}"  # noqa: S608
    fetched = query(relation, sql).fetchnumpy()
    names = ["record_hash", *expressions]
    return {name: unmasked(fetched[f"c{position}"]) for position, name in enumerate(names)}


def query(relation: duckdb.DuckDBPyRelation, sql: str) -> duckdb.DuckDBPyRelation:
    """Return the result of a select from a relation, named `SOURCE` in the SQL."""
    result = relation.query(SOURCE, sql)
    if result is None:  # only statements that are not a select
        raise TypeError("relation.query must be given a select")
    return result


def unmasked(array: NDArray[Any] | np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """Return an array that DuckDB fetched, with NaN for NULL."""
    if isinstance(array, np.ma.MaskedArray):
        return np.asarray(array.filled(np.nan))
    return np.asarray(array)
