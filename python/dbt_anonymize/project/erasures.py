"""The receipts of erasures: which of them were begun and not completed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse


def count_erasures(warehouse: Warehouse, name: str) -> tuple[int, int]:
    """Return how many erasures ``<n>_erasures`` has, and how many of them are not complete.

    Raises a `WarehouseError` if ``<n>_identifiers`` was not built.
    """
    vault = warehouse.relation_of_ref(f"{name}_identifiers")
    relation = vault.incorporate(path={"identifier": f"{name}_erasures"}, type="table")
    if warehouse.find(relation) is None:
        return 0, 0
    ((erasures, begun),) = warehouse.rows(_counted(str(relation)))
    return int(erasures), int(begun)


def open_erasures(file: Path, names: Collection[str]) -> list[str]:
    """Return the anonymizations that have an open erasure in a vault, which is only read.

    Raises a `duckdb.Error` where the file cannot be read.
    """
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    found = set()
    with duckdb.connect(str(file), read_only=True) as connection:
        tables = connection.execute(
            "select schema_name, table_name from duckdb_tables() "
            "where table_name in (select unnest(?::varchar[]))",
            [[f"{name}_erasures" for name in names]],
        ).fetchall()
        for schema, table in tables:
            place = f"{quote_name(schema)}.{quote_name(table)}"
            (counts,) = connection.execute(_counted(place)).fetchall()
            if counts[1]:
                found.add(table.removesuffix("_erasures"))
    return sorted(found)


def _counted(receipts: str) -> str:
    """Query of the number of erasures, and of those that are not complete."""
    return (
        "select count(distinct erasure), "  # noqa: S608 (quoted)
        "count(distinct case when finished_at is null then erasure end) "
        f"from {receipts}"
    )
