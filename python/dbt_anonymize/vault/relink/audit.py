"""Who went back from released rows to people: an append-only relation with a chain of hashes.

Each attempt holds a hash of its fields and of the hash before, so that whoever changes, removes or
inserts an attempt breaks the chain. Two things a chain cannot show by itself: that its last
attempts were cut off, and that somebody who may write the vault computed all of it anew. Against
both, receipts (the number and hash of an attempt, which `relink` shows) can be kept elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.warehouse import Warehouse

# What the first attempt has as the hash before.
FIRST_HASH = "0" * 64
_LONGEST_LIST = 5


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


@dataclass(frozen=True)
class Receipt:
    """Proof that an attempt was written; to be kept outside of the vault.

    Parameters
    ----------
    attempt : int
        Its number, counted from 1.
    hash : str
        64 hexadecimal digits.
    """

    attempt: int
    hash: str


@dataclass(frozen=True)
class AuditCheck:
    """Whether an audit is as it was written.

    Parameters
    ----------
    attempts : int
        How many it holds.
    problems : tuple of str
        What is wrong; empty if the chain is intact.
    """

    attempts: int
    problems: tuple[str, ...]

    @property
    def is_intact(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


_COLUMNS = ("attempt", *(field.name for field in fields(Attempt)), "previous_hash", "hash")


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


def record(warehouse: Warehouse, vault: Any, name: str, attempt: Attempt) -> Receipt:
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
    Receipt
        Number and hash of the attempt.

    Raises
    ------
    WarehouseError
        If it cannot be written; the audit is unchanged.
    """
    relation = relinkings(vault, name)
    text = warehouse.macro("type_string", package="dbt")
    lock = warehouse.macro("_lock_for_append", relation=relation)
    try:
        with _transaction(warehouse) as cursor:
            if _existing(warehouse, relation) is None:  # only who may create tables needs to
                cursor.execute(warehouse.macro("_relinkings_table", relation=relation))
            if lock:
                cursor.execute(lock)
            if "policy" not in _held(cursor, relation):
                cursor.execute(f"alter table {relation} add column policy {text}")
            receipt = _append(warehouse, cursor, relation, name, attempt)
    except Exception as error:
        raise WarehouseError(
            f"{name}: every attempt must be written into {relation} before anybody is shown; this "
            f"one could not be ({type(error).__name__}). Nobody is shown. Check that the vault is "
            "writable and not full."
        ) from error
    return receipt


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


def _append(
    warehouse: Warehouse, cursor: Any, relation: Any, name: str, attempt: Attempt
) -> Receipt:
    last = warehouse.rows(
        f"select attempt, hash from {relation}"  # noqa: S608 (quoted by dbt)
        f" where attempt = (select max(attempt) from {relation})"
    )
    number, previous = (last[0][0] + 1, last[0][1]) if last else (1, FIRST_HASH)
    values = [getattr(attempt, field.name) for field in fields(Attempt)]
    hashed = _hash(previous, name, number, values)
    mark = "?" if warehouse.is_duckdb else "%s"
    marks = ", ".join([mark] * len(_COLUMNS))
    cursor.execute(
        f"insert into {relation} ({', '.join(_COLUMNS)}) values ({marks})",  # noqa: S608
        [number, *values, previous, hashed],
    )
    return Receipt(number, hashed)


def _existing(warehouse: Warehouse, relation: Any) -> Any:
    return warehouse.adapter.get_relation(
        database=relation.database, schema=relation.schema, identifier=relation.identifier
    )


def _held(cursor: Any, relation: Any) -> list[str]:
    """Return the columns of an audit: before attempts had a policy, it had none."""
    cursor.execute(f"select * from {relation} where 1 = 0")  # noqa: S608 (quoted by dbt)
    return [str(column[0]) for column in cursor.description]


def _hash(previous: str, name: str, number: int, values: Sequence[Any]) -> str:
    """Return the hash of an attempt; JSON keeps the fields apart, whatever they hold.

    The policy is the last of the values; of an attempt from before there was one it is None, and
    the hash knows nothing of it. Every later attempt has one, so none can be taken away unseen.
    """
    *rest, policy = values
    values = rest if policy is None else values
    plain = [
        value.isoformat(timespec="microseconds") if isinstance(value, datetime) else value
        for value in values
    ]
    hashed = [previous, name, number, *plain]
    return hashlib.sha256(json.dumps(hashed, default=str).encode()).hexdigest()


def check_audit(warehouse: Warehouse, name: str, receipts: Iterable[Receipt] = ()) -> AuditCheck:
    """Check that no attempt of ``<n>_relinkings`` was changed, removed or put in between.

    Parameters
    ----------
    warehouse : Warehouse
        With the vault.
    name : str
        Name of the anonymization; its ``mapping`` is class or token.
    receipts : iterable of Receipt, optional
        Receipts that were kept elsewhere: only they show that the end of the audit was cut off, or
        that all of it was computed anew.

    Returns
    -------
    AuditCheck
        Intact and empty where nobody has tried yet, and every receipt is in it.

    Raises
    ------
    WarehouseError
        If ``<n>_identifiers`` was not built.
    """
    vault = warehouse.relation_of_ref(f"{name}_identifiers")
    relation = relinkings(vault, name)
    found = _existing(warehouse, relation)
    rows: list[tuple[Any, ...]] = []
    if found is not None:
        held = _held(warehouse.cursor(), relation)
        columns = ", ".join(name if name in held else f"null as {name}" for name in _COLUMNS)
        sql = f"select {columns} from {relation} order by attempt"  # noqa: S608
        rows = warehouse.rows(sql)
    hashes = {row[0]: row[-1] for row in rows}
    lost = [receipt.attempt for receipt in receipts if receipt.attempt not in hashes]
    other = [
        receipt.attempt
        for receipt in receipts
        if hashes.get(receipt.attempt, receipt.hash) != receipt.hash
    ]
    problems = list(_broken_links(name, rows))
    if lost:
        problems.append(f"{_attempts(lost)} must be there, as there is a receipt; it is missing")
    if other:
        problems.append(f"{_attempts(other)} must have the hash of the receipt; it has another")
    return AuditCheck(len(rows), tuple(f"{text}." for text in problems))


def _broken_links(name: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    """Yield what is wrong with the rows of an audit, ordered by their number."""
    changed, misplaced = [], []
    last, previous = 0, FIRST_HASH
    for number, *values, before, hashed in rows:
        if _hash(before, name, number, values) != hashed:
            changed.append(number)
        if (number, before) != (last + 1, previous):
            misplaced.append(number)
        last, previous = number, hashed
    if changed:
        yield f"{_attempts(changed)} must be as written; changed since"
    if misplaced:
        yield (
            f"{_attempts(misplaced)} must follow the attempt before; attempts were removed, put in "
            "between or changed"
        )


def _attempts(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:_LONGEST_LIST]))
    more = len(numbers) - _LONGEST_LIST
    return f"attempt {shown}" + (f" and {more} more" if more > 0 else "")
