"""Insert rows of Python into a table of any warehouse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

# Rows of one `insert ... values`: few enough for the limits of every warehouse.
_ROWS_OF_A_STATEMENT = 500


def insert_rows(
    cursor: Any, relation: str, rows: Sequence[Sequence[Any]], literal: Callable[[str], str]
) -> None:
    """Fill a table; DuckDB reads a data frame a hundred times as fast as a statement."""
    if hasattr(cursor, "register") and rows:
        import pandas as pd  # noqa: PLC0415 (keeps other commands fast)

        cursor.register("dbt_anonymize_rows", pd.DataFrame(rows, dtype=object))
        cursor.execute(f"insert into {relation} select * from dbt_anonymize_rows")  # noqa: S608
        cursor.unregister("dbt_anonymize_rows")
        return
    for start in range(0, len(rows), _ROWS_OF_A_STATEMENT):
        part = rows[start : start + _ROWS_OF_A_STATEMENT]
        values = ", ".join(f"({', '.join(_value(v, literal) for v in row)})" for row in part)
        cursor.execute(f"insert into {relation} values {values}")  # noqa: S608


def _value(value: Any, literal: Callable[[str], str]) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return literal(value) if isinstance(value, str) else repr(value)
