"""Receipts of erasures, and those that were begun but not completed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse


def count_erasures(warehouse: Warehouse, name: str) -> tuple[int, int]:
    """Return the number of erasures in ``<n>_erasures``, and of those that are not complete.

    Raises a `WarehouseError` if ``<n>_identifiers`` was not built.
    """
    vault = warehouse.relation_of_ref(f"{name}_identifiers")
    relation = vault.incorporate(path={"identifier": f"{name}_erasures"}, type="table")
    if warehouse.find(relation) is None:
        return 0, 0
    ((erasures, unfinished),) = warehouse.rows(_count_query(str(relation)))
    return int(erasures), int(unfinished)


def open_erasures(file: Path, names: Collection[str]) -> list[str]:
    """Return the anonymizations that have an open erasure in a vault, which is only read.

    Raises a `duckdb.Error` where the file cannot be read.
    """
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    unfinished = set()
    with duckdb.connect(str(file), read_only=True) as connection:
        tables = connection.execute(
            "select schema_name, table_name from duckdb_tables() "
            "where table_name in (select unnest(?::varchar[]))",
            [[f"{name}_erasures" for name in names]],
        ).fetchall()
        for schema, table in tables:
            place = f"{quote_name(schema)}.{quote_name(table)}"
            (counts,) = connection.execute(_count_query(place)).fetchall()
            if counts[1]:
                unfinished.add(table.removesuffix("_erasures"))
    return sorted(unfinished)


def _count_query(receipts: str) -> str:
    """Return the query of the number of erasures, and of those that are not complete."""
    return (
        "select count(distinct erasure), "  # noqa: S608 (quoted)
        "count(distinct case when finished_at is null then erasure end) "
        f"from {receipts}"
    )
