"""Errors of warehouse drivers, translated into ours with a remedy."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from dbt_anonymize.errors import AnonymizeError, WarehouseError, safe_reason

# The message of an interrupt after DuckDB and dbt have passed it on.
_INTERRUPTED = "query interrupted"
_LOCKED = "could not set lock on file"
# Errors of statements, not of connections: names of PEP 249 and of DuckDB.
_STATEMENT_ERROR = re.compile(
    r"(Binder|Catalog|Parser|Syntax|Conversion|TypeMismatch|OutOfRange|InvalidInput|Constraint)"
    r"(Exception|Error)\b|(ProgrammingError|DataError|NotSupportedError|Undefined\w+|Ambiguous\w+)\b"
)


@contextlib.contextmanager
def explain_driver_errors() -> Iterator[None]:
    """Raise errors of drivers as `WarehouseError`; our own errors and interrupts pass."""
    try:
        yield
    except (AnonymizeError, BrokenPipeError):  # of a pipe whose reader has gone
        raise
    except Exception as error:
        if _INTERRUPTED in str(error).lower():
            raise KeyboardInterrupt from error
        raise as_warehouse_error(error) from error


def as_warehouse_error(error: Exception) -> WarehouseError:
    """Return an error of a driver as a `WarehouseError` with a remedy and without values."""
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
    if is_statement_error(error):
        return WarehouseError(
            f"the warehouse refused a statement ({safe_reason(error)}). If `dbt build` has just "
            "run with this version, it is an error of dbt-anonymize: please report it with this "
            "message."
        )
    return WarehouseError(
        f"the warehouse could not be read ({safe_reason(error)}). Check the connection with "
        "`dbt debug`."
    )


def is_statement_error(error: Exception) -> bool:
    """Tell whether a warehouse refused a statement, as it cannot be carried out on these data."""
    return not isinstance(error, AnonymizeError) and bool(
        _STATEMENT_ERROR.match(safe_reason(error))
    )
