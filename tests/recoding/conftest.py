"""The statements of all cases, compiled once, on a connection of their own."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tests.recoding.compilation import statements
from tests.worlds.recoded import Warehouse


@pytest.fixture(scope="session")
def warehouse() -> Iterator[Warehouse]:
    """Give a warehouse that can recode every case."""
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        yield Warehouse(connection, statements())
