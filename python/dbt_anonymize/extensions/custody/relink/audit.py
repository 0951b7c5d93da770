"""The audit of re-linking: an append-only relation of numbered attempts.

Custodians may add and read attempts. The owner of the vault could change it; the number that
`relink` prints, kept in a ticket or a log, reveals that.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.warehouse import Warehouse


@dataclass(frozen=True)
class Attempt:
    """One request to re-link, without any value of a person.

    ``attempted_at`` is UTC without a time zone. ``purpose`` is the declared one; None for any
    other, since free text may name people. ``unknown_rows`` are given rows that lead to nobody;
    nothing is shown where it was refused. ``effort`` and ``fingerprint`` (of the spec) are those of
    the release, if it got that far. ``policy`` has purposes, limit and k of the spec as JSON, or
    "none".
    """

    attempted_at: datetime
    os_user: str
    database_user: str | None
    purpose: str | None
    given_rows: int
    unknown_rows: int
    shown_groups: int
    shown_people: int
    outcome: Literal["granted", "refused"]
    reason: str
    effort: int | None
    fingerprint: str | None
    policy: str


def relinkings(vault: Any, name: str) -> Any:
    """Return the relation of the audit, beside ``<n>_identifiers`` (``vault``)."""
    return vault.incorporate(path={"identifier": f"{name}_relinkings"}, type="table")


def record(warehouse: Warehouse, vault: Any, name: str, attempt: Attempt) -> int:
    """Append an attempt to ``<n>_relinkings``, created if missing; return its number, from 1.

    It is committed on return. Raises a `WarehouseError` and leaves the audit unchanged if it cannot
    be written. ``vault`` is ``<n>_identifiers``.
    """
    relation = relinkings(vault, name)
    lock = warehouse.macro("_lock_for_append", relation=relation)
    names = [field.name for field in fields(Attempt)]
    marks = ", ".join(["?" if warehouse.is_duckdb else "%s"] * (len(names) + 1))
    insert = f"insert into {relation} (attempt, {', '.join(names)}) values ({marks})"  # noqa: S608
    last = f"select coalesce(max(attempt), 0) from {relation}"  # noqa: S608 (quoted by dbt)
    try:
        with _transaction(warehouse) as cursor:
            if warehouse.find(relation) is None:  # only who may create tables needs to
                cursor.execute(warehouse.macro("_relinkings_table", relation=relation))
            if lock:
                cursor.execute(lock)
            number = int(warehouse.rows(last)[0][0]) + 1
            cursor.execute(insert, [number, *(getattr(attempt, name) for name in names)])
    except Exception as error:
        raise WarehouseError(
            f"{name}: every attempt must be written into {relation} before anybody is shown; this "
            f"one could not be ({type(error).__name__}). Nobody is shown. Check that the vault is "
            "writable and not full."
        ) from error
    return number


@contextlib.contextmanager
def _transaction(warehouse: Warehouse) -> Iterator[Any]:
    """Yield a cursor in a transaction; the adapter would log the statements."""
    connections = warehouse.adapter.connections
    if connections.get_thread_connection().transaction_open:
        connections.commit()  # a rollback would take temporary tables away
    warehouse.begin()
    try:
        yield warehouse.cursor()
        connections.commit()
    except BaseException:
        connections.rollback_if_open()
        raise


def check_audit(warehouse: Warehouse, name: str) -> tuple[int, int]:
    """Count the attempts in ``<n>_relinkings``, and the missing numbers up to the last.

    The ``mapping`` of the anonymization is class or token. Raises a `WarehouseError` if
    ``<n>_identifiers`` was not built.
    """
    relation = relinkings(warehouse.relation_of_ref(f"{name}_identifiers"), name)
    if warehouse.find(relation) is None:  # nobody has tried yet
        return 0, 0
    ((attempts, last),) = warehouse.rows(
        f"select count(*), coalesce(max(attempt), 0) from {relation}"  # noqa: S608 (quoted by dbt)
    )
    return int(attempts), int(last) - int(attempts)
