"""Source, hierarchies and built relations, on one DuckDB connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_OF_DUCKDB = "cast({} as varchar)"


@dataclass(frozen=True)
class Tables:
    """Relations of one anonymization, as SQL, all visible on one DuckDB connection.

    Nothing but temporary tables is written on it. ``hierarchies`` are by column: of each
    quasi-identifier, and of each sensitive column that a guarantee measures along its hierarchy.
    ``population`` is needed if the spec names a relation, ``effort`` if its levels differ per
    record, ``identifiers`` with ``mapping: token``, ``sample`` if an effort is released from one,
    ``mask_keys`` if a mask has a key, ``members`` and ``membership`` where new records wait,
    ``frozen``, the seed of the labels, where a recoding is frozen, ``aggregates`` where the effort
    shows aggregates of classes, and ``aggregated`` where the vault remembers them.
    ``release`` is the published table, where that is not ``anonymized`` itself; the others are
    those of the build and the vault. ``written`` is SQL of a value as the engine of the build
    writes it, with braces for the value.
    """

    connection: DuckDBPyConnection
    source: str
    hierarchies: Mapping[str, str]
    population: str | None = None
    microdata: str | None = None
    effort: str | None = None
    anonymized: str | None = None
    release: str | None = None
    identifiers: str | None = None
    tokens: str | None = None
    sample: str | None = None
    mask_keys: str | None = None
    members: str | None = None
    membership: str | None = None
    frozen: str | None = None
    aggregates: str | None = None
    aggregated: str | None = None
    written: str = _OF_DUCKDB

    @property
    def has_order(self) -> bool:
        """Tell whether texts and rows have the order of the build."""
        return self.written == _OF_DUCKDB

    def text(self, expression: str) -> str:
        """Return SQL of a value as the engine of the build writes it as text."""
        return self.written.format(expression)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return [tuple(row) for row in self.connection.execute(sql).fetchall()]

    def numbers(self, sql: str) -> dict[str, NDArray[Any]]:
        """Return all rows of a query of numbers that are never NULL, as one array per column."""
        arrays = self.connection.execute(sql).fetchnumpy()
        return {name: np.asarray(column) for name, column in arrays.items()}

    def types(self, relation: str) -> dict[str, str]:
        """Return the data type of each column of a relation or query, in order."""
        return {row[0]: str(row[1]) for row in self.rows(f"describe {relation}")}
