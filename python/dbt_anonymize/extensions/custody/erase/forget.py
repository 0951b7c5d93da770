"""Take a person out of vault and working tables, in one transaction each, with a receipt."""

# ruff: noqa: S608 (names are quoted; keys are parameters, never a part of a statement)

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_anonymize.extension import other_release
from dbt_anonymize.extensions.custody.erase.owned import (
    BUDGET,
    Owned,
    owned_relations,
)
from dbt_anonymize.extensions.custody.erase.people import GROUP, Person, Vault, as_text
from dbt_anonymize.literals import quote_name
from dbt_anonymize.relations import ALL

_HERS = "(select unnest(?::varchar[]))"
_BY_KEY = {"record_key", "release"}
_RECEIPT = (
    "(erasure bigint, started_at timestamp, finished_at timestamp, relation varchar, "
    "records bigint)"
)


@dataclass(frozen=True)
class Erasure:
    """Record of an erasure: its number, and the erased rows of each relation."""

    number: int
    records: dict[str, int]


def is_open(vault: Vault) -> bool:
    """Tell whether an erasure is unfinished: its build or the rewriting of files is missing."""
    receipts = vault.find("erasures")
    if receipts is None:
        return False
    return bool(vault.warehouse.rows(f"select 1 from {receipts} where finished_at is null limit 1"))


def count_rows(vault: Vault, person: Person, relations: Collection[Owned]) -> dict[str, int]:
    """Return how many rows of a person each relation has, where there are any."""
    counts = {}
    for relation in relations:
        condition, values = _condition(vault, relation, person)
        if condition:
            sql = f"select count(*) from {relation.name} where {condition}"
            ((records,),) = vault.warehouse.rows(sql, values)
            if records:
                counts[relation.identifier] = int(records)
    return counts


def _condition(vault: Vault, relation: Owned, person: Person) -> tuple[str, list[Any]]:
    """Return the WHERE clause that selects a person's rows; empty if there is none."""
    spec = vault.spec
    kind = relation.identifier.removeprefix(f"{spec.name}_")
    if relation.is_view or relation.account in {"of the project", "holds nobody"}:
        return "", []
    if relation.account in {"unknown", "of another target"}:
        by_person, by_record = {spec.person_column, "person"}, {spec.record_key, "record_key"}
    elif (way := _erased_by(kind)) == "person":
        by_person, by_record = {"person"}, set()
    else:
        by_person, by_record = set(), {"record_key" if way in _BY_KEY else spec.record_key}
    columns = dict.fromkeys(by_person, person.key) | {
        name: list(person.records) for name in by_record
    }
    columns = {name: value for name, value in columns.items() if name in relation.columns}
    conditions = [
        f"{as_text(name)} in {_HERS}" if isinstance(value, list) else f"{as_text(name)} = ?"
        for name, value in columns.items()
    ]
    return " or ".join(conditions), [*columns.values()]


def _erased_by(kind: str) -> str | None:
    """Return the registry's column by which a person is found in a relation."""
    return ALL[kind].erased_by if kind in ALL else None


def forget(vault: Vault, person: Person, others: Collection[str]) -> Erasure:
    """Erase a person from the vault, in one transaction.

    Whoever leaves the release with her is in `GROUP`, and withheld from now on.
    """
    warehouse = vault.warehouse
    relations = _erasable_relations(vault, others)
    counts = count_rows(vault, person, relations)
    database = vault.identifiers.database
    with warehouse.transaction() as cursor:
        if not other_release(vault.spec):
            _withhold(vault, person, cursor)
        for kind in (name for name in ALL if _erased_by(name) == "release"):
            _rename(vault, kind, person, cursor)
        _erase(vault, person, [r for r in relations if r.database == database], cursor)
        budget = vault.find_shared(BUDGET)
        if budget:
            # Two digests of all rows would reveal hers; the next release is charged again.
            sql = f"update {budget} set data = '' where anonymization = ? and data <> ''"
            cursor.execute(sql, [vault.spec.name])
        number = _write_receipt(vault, counts, cursor)
    return Erasure(number, counts)


def forget_working(vault: Vault, person: Person, others: Collection[str]) -> None:
    """Erase a person from the tables of the warehouse; a build makes dependent ones anew."""
    relations = [
        r for r in _erasable_relations(vault, others) if r.database != vault.identifiers.database
    ]
    with vault.warehouse.transaction() as cursor:
        _erase(vault, person, relations, cursor)
        for relation in owned_relations(vault.warehouse, vault.spec, others):
            if relation.account == "of another target":
                continue
            # As in the budget: digests of all rows.
            kind = relation.identifier.removeprefix(f"{vault.spec.name}_")
            for column in ALL[kind].digests if kind in ALL else ():
                if column in relation.columns:
                    cursor.execute(f"update {relation.name} set {column} = null")


def _erasable_relations(vault: Vault, others: Collection[str]) -> list[Owned]:
    """Return the relations that may be changed; unknown ones are only searched in the end."""
    owned = owned_relations(vault.warehouse, vault.spec, others)
    return [one for one in owned if one.account in {"erased", "rebuilt", "left over"}]


def _withhold(vault: Vault, person: Person, cursor: Any) -> None:
    withheld = vault.name("withheld")
    cursor.execute(f"create table if not exists {withheld} (record_key varchar)")
    cursor.execute(
        f"insert into {withheld} select distinct record_key from {GROUP} "
        f"where record_key not in (select record_key from {withheld})"
    )
    members = vault.find("members")
    if vault.spec.holds_back_joiners and members:
        # As if they had left in a release of their own, which was never published.
        cursor.execute(
            f"update {members} set left_at = (select greatest(max(entered), coalesce(max(left_at), "
            f"0)) + 1 from {members}) where left_at is null and (record_key in {_HERS} "
            f"or record_key in (select record_key from {GROUP}))",
            [list(person.records)],
        )


def _rename(vault: Vault, kind: str, person: Person, cursor: Any) -> None:
    """Replace each record key by a random text, and released values and her name by NULL."""
    relation = vault.find(kind)
    if relation is None:
        return
    place = vault.identifiers.incorporate(path={"identifier": f"{vault.spec.name}_{kind}"})
    columns = [name for name, _ in vault.warehouse.columns(place)]
    values = [name for name in columns if name.startswith("v_") or name == "person"]
    cleared = "".join(f", {quote_name(name)} = null" for name in values)
    for record in person.records:
        cursor.execute(
            f"update {relation} set record_key = ?{cleared} where record_key = ?",
            [f"erased {secrets.token_hex(16)}", record],
        )


def _erase(vault: Vault, person: Person, relations: Sequence[Owned], cursor: Any) -> None:
    for relation in relations:
        if relation.account == "left over":
            cursor.execute(f"drop {'view' if relation.is_view else 'table'} {relation.name}")
            continue
        kind = relation.identifier.removeprefix(f"{vault.spec.name}_")
        condition, values = _condition(vault, relation, person)
        if condition and _erased_by(kind) != "release":
            cursor.execute(f"delete from {relation.name} where {condition}", values)


def _write_receipt(vault: Vault, counts: dict[str, int], cursor: Any) -> int:
    """Add the counts of erased rows, and nothing that leads to the person."""
    receipts = vault.name("erasures")
    cursor.execute(f"create table if not exists {receipts} {_RECEIPT}")
    cursor.execute(f"select coalesce(max(erasure), 0) + 1 from {receipts}")
    number = int(cursor.fetchall()[0][0])
    now = "cast(date_trunc('second', now() at time zone 'UTC') as timestamp)"
    for relation, records in counts.items() or [(f"{vault.spec.name}_identifiers", 0)]:
        cursor.execute(
            f"insert into {receipts} values (?, {now}, null, ?, ?)", [number, relation, records]
        )
    return number
