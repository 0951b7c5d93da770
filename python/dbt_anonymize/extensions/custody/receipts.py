"""Receipts of erasures, and those that were begun but not completed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from dbt_anonymize.errors import safe_reason
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.engines import Diagnosis
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.loading import spec_paths


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


def diagnose(root: Path, specs: Sequence[Spec], vault: Path | None) -> Iterator[Diagnosis]:
    """Note each unfinished erasure: the release or a file may still have the person."""
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    if vault is None:
        return
    try:
        unfinished = _open_erasures(vault, list(spec_paths(root)))
    except duckdb.Error as error:
        text = f"the receipts of {vault} could not be read ({safe_reason(error)})."
        yield Diagnosis("erasures", "note", f"{text} See `dbt-anonymize verify`.")
        return
    for name in unfinished:
        text = (
            f"one of {name} was begun and is not complete: the release or a file may still have "
            f"the person. Run the same `dbt-anonymize erase {name} --subject ...` again."
        )
        yield Diagnosis("erasures", "note", text)


def _open_erasures(file: Path, names: Collection[str]) -> list[str]:
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
