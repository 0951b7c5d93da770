"""Numbers from and to the warehouse are the same through any driver."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest

from dbt_anonymize.project.driver_errors import as_warehouse_error
from dbt_anonymize.project.warehouse import Warehouse

ROWS = [
    (1, 2, 0.1, "checked", True, None),
    (2, None, None, "pruned", None, 3),
    (3, 2**40, 1 / 3, "infeasible", False, None),
]
TYPES = dict(zip("abcdef", ["int", "bigint", "double", "varchar", "boolean", "int"], strict=True))


class PlainCursor:
    """Cursor with the methods of every driver, and nothing of DuckDB's own."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    @property
    def description(self) -> Any:
        """Names and types of the columns."""
        return self._connection.description

    def execute(self, sql: str) -> None:
        """Run a statement."""
        self._connection.execute(sql)

    def fetchmany(self, size: int) -> list[Any]:
        """Return the next rows."""
        return self._connection.fetchmany(size)


class Connections:
    """The connection manager of an adapter, as far as it is used."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, cursor: Any) -> None:
        self._connection = connection
        self._handle = SimpleNamespace(cursor=lambda: cursor)

    def get_thread_connection(self) -> Any:
        """Return what has the handle."""
        return SimpleNamespace(handle=self._handle)

    def clear_transaction(self) -> None:
        """Nothing is open."""

    def begin(self) -> None:
        """Start a transaction."""
        self._connection.execute("begin")

    def commit(self) -> None:
        """End it."""
        self._connection.execute("commit")

    def rollback_if_open(self) -> None:
        """Undo it."""
        self._connection.execute("rollback")


@pytest.fixture(params=["own", pytest.param("plain", marks=pytest.mark.needs("postgres"))])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with duckdb.connect(str(tmp_path / "stored.duckdb")) as connection:
        cursor = connection if request.param == "own" else PlainCursor(connection)
        kind = "duckdb" if request.param == "own" else "postgres"
        connections = Connections(connection, cursor)
        adapter = SimpleNamespace(
            connections=connections,
            type=lambda: kind,
            execute_macro=lambda *_, **__: "",  # nothing more to run to begin a transaction
        )
        yield Warehouse(adapter, None)


def stored(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    handle = warehouse.adapter.connections._connection
    return list(handle.execute("select * from stored order by 1").fetchall())


def test_a_table_is_replaced(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbt_anonymize.project.inserting._ROWS_OF_A_STATEMENT", 2)
    warehouse.replace_table("stored", {"a": "varchar"}, [("old",)])
    warehouse.replace_table("stored", TYPES, ROWS)
    assert stored(warehouse) == ROWS


def test_a_table_that_cannot_be_written_stays(warehouse: Warehouse) -> None:
    warehouse.replace_table("stored", TYPES, ROWS)
    with pytest.raises(duckdb.Error):
        warehouse.replace_table("stored", {"a": "int"}, [("no number",)])
    assert stored(warehouse) == ROWS


def test_numbers_come_as_one_array_per_column(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dbt_anonymize.project.warehouse._ROWS_AT_ONCE", 2)
    found = warehouse.numbers("select i as a, i * 1099511627776 as b from range(5) as t (i)")
    assert list(found) == ["a", "b"]
    assert found["a"].tolist() == [0, 1, 2, 3, 4]
    assert found["b"].dtype == np.int64
    assert found["b"][4] == 4 * 2**40
    assert len(warehouse.numbers("select 1 as a where 1 = 0")["a"]) == 0


def test_an_error_of_the_database_quotes_no_value_of_a_table() -> None:
    with duckdb.connect() as connection, pytest.raises(duckdb.ConversionException) as caught:
        connection.execute("select cast(name as int) from (values ('Rasmussen')) as t (name)")
    assert "Rasmussen" in str(caught.value)
    assert "Rasmussen" not in str(as_warehouse_error(caught.value))
    assert "ConversionException" in str(as_warehouse_error(caught.value))


def test_an_error_of_the_database_names_the_relation_that_is_missing() -> None:
    with duckdb.connect() as connection, pytest.raises(duckdb.CatalogException) as caught:
        connection.execute("select 1 from no_such_relation")
    assert "no_such_relation" in str(as_warehouse_error(caught.value))
