"""The macros, compiled once, on a connection of their own."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tests.properties.compiled_once import statements
from tests.properties.warehouse import Warehouse


@pytest.fixture(scope="session")
def warehouse() -> Iterator[Warehouse]:
    """Give a warehouse that can run the SQL of every shape."""
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        yield Warehouse(connection, statements())
