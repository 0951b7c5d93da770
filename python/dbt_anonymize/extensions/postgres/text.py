"""Floats as Postgres writes them, as macros of DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_MACROS = Path(__file__).with_suffix(".sql")


def write_as_postgres(session: duckdb.DuckDBPyConnection) -> None:
    """Make the macros that `engines.WRITTEN` calls, in the first database of a session."""
    session.execute(_MACROS.read_text(encoding="utf-8"))
