"""Errors of the driver of a warehouse, as ones that say what to do."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from dbt_anonymize.errors import AnonymizeError, WarehouseError, safe_reason

# What is left of an interrupt when DuckDB and dbt have passed it on.
_INTERRUPTED = "query interrupted"
_LOCKED = "could not set lock on file"
# Kinds of errors that no connection is to blame for: of drivers as PEP 249 names them, and DuckDB.
_OF_OUR_SQL = re.compile(
    r"(Binder|Catalog|Parser|Syntax|Conversion|TypeMismatch|OutOfRange|InvalidInput|Constraint)"
    r"(Exception|Error)\b|(ProgrammingError|DataError|NotSupportedError|Undefined\w+|Ambiguous\w+)\b"
)


@contextlib.contextmanager
def explaining() -> Iterator[None]:
    """Raise errors of drivers as `explained`; ours and interrupts stay what they are."""
    try:
        yield
    except AnonymizeError:
        raise
    except Exception as error:
        if _INTERRUPTED in str(error).lower():
            raise KeyboardInterrupt from error
        raise explained(error) from error


def explained(error: Exception) -> WarehouseError:
    """Return an error of a driver as one that says what to do, without its values."""
    if isinstance(error, MemoryError):
        return WarehouseError(
            "this process must have more memory; it has run out of it. Read fewer columns or rows."
        )
    if _LOCKED in str(error).lower():
        return WarehouseError(
            "the warehouse must not be open in another process: DuckDB lets only one process in "
            "while one writes. Close the other one (a dbt run, a notebook, a database browser) "
            "and try again."
        )
    if _OF_OUR_SQL.match(safe_reason(error)):
        return WarehouseError(
            f"the warehouse refused a statement ({safe_reason(error)}). If `dbt build` has just "
            "run with this version, it is an error of dbt-anonymize: please report it with this "
            "message."
        )
    return WarehouseError(
        f"the warehouse could not be read ({safe_reason(error)}). Check the connection with "
        "`dbt debug`."
    )
