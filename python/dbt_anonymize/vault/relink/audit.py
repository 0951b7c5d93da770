"""Who went back from released rows to people: an append-only relation of numbered attempts.

Custodians may add attempts and read them. Whoever owns the vault can change it; what shows that is
outside of the vault: the number that `relink` prints, kept in a ticket or a log.
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
    """One request to go back to people; nothing in it is a value of a person.

    Parameters
    ----------
    attempted_at : datetime
        UTC, without a time zone.
    os_user : str
        Account of the operating system.
    database_user : str or None
        User of the warehouse, where it has users.
    purpose : str or None
        The declared purpose. None if another one or none was given: a free text may name people.
    given_rows, unknown_rows : int
        Released rows that were given, and how many of them lead to nobody.
    shown_groups, shown_people : int
        What was given away; 0 where the attempt was refused.
    outcome : {"granted", "refused"}
        Whether people were shown.
    reason : str
        Why it was refused; empty where it was granted.
    effort : int or None
        Effort of the release, as far as it was found out.
    fingerprint : str or None
        Version of the spec that the release was built from, as far as it was found out.
    policy : str
        What the spec allowed then: purposes, limit and k as JSON, or "none".
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
    """Return the relation of the audit, which lies beside ``<n>_identifiers``.

    Parameters
    ----------
    vault : dbt.adapters.base.BaseRelation
        ``<n>_identifiers``.
    name : str
        Name of the anonymization.
    """
    return vault.incorporate(path={"identifier": f"{name}_relinkings"}, type="table")


def record(warehouse: Warehouse, vault: Any, name: str, attempt: Attempt) -> int:
    """Append an attempt to ``<n>_relinkings``, which is created where there is none.

    Parameters
    ----------
    warehouse : Warehouse
        With the vault.
    vault : dbt.adapters.base.BaseRelation
        ``<n>_identifiers``.
    name : str
        Name of the anonymization.
    attempt : Attempt
        What to write. It is committed when this returns.

    Returns
    -------
    int
        Number of the attempt, counted from 1.

    Raises
    ------
    WarehouseError
        If it cannot be written; the audit is unchanged.
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
    """Give a cursor in a transaction; not through the adapter, which would log the statements."""
    connections = warehouse.adapter.connections
    if connections.get_thread_connection().transaction_open:
        connections.commit()  # a rollback would take temporary tables away
    connections.begin()
    try:
        yield warehouse.cursor()
        connections.commit()
    except BaseException:
        connections.rollback_if_open()
        raise


def check_audit(warehouse: Warehouse, name: str) -> tuple[int, int]:
    """Count the attempts of ``<n>_relinkings``, and those that their numbers say are missing.

    Parameters
    ----------
    warehouse : Warehouse
        With the vault.
    name : str
        Name of the anonymization; its ``mapping`` is class or token.

    Returns
    -------
    tuple of int
        Attempts, and numbers from 1 to the last one that no attempt has.

    Raises
    ------
    WarehouseError
        If ``<n>_identifiers`` was not built.
    """
    relation = relinkings(warehouse.relation_of_ref(f"{name}_identifiers"), name)
    if warehouse.find(relation) is None:  # nobody has tried yet
        return 0, 0
    ((attempts, last),) = warehouse.rows(
        f"select count(*), coalesce(max(attempt), 0) from {relation}"  # noqa: S608 (quoted by dbt)
    )
    return int(attempts), int(last) - int(attempts)
