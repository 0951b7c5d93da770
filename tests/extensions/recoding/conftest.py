"""A warehouse that can recode."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from tests.extensions.recoding.world import Warehouse


@pytest.fixture(scope="session")
def warehouse() -> Iterator[Warehouse]:
    """Give a warehouse that can recode every case."""
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        yield Warehouse(connection)
