"""Records to erase, and who leaves the release together with her."""

# ruff: noqa: S608 (names are quoted; keys are parameters, never a part of a statement)

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dbt_anonymize.errors import VaultError
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec

# A temporary table, which nobody else sees.
GROUP = "dbt_anonymize_group"


@dataclass(frozen=True)
class Vault:
    """The relations of an anonymization that lie beside ``<n>_identifiers``."""

    warehouse: Warehouse
    spec: Spec
    identifiers: Any

    def name(self, kind: str) -> str:
        """Return the quoted name of a relation, which may be missing."""
        return self._named(self._identifier(kind))

    def _named(self, identifier: str) -> str:
        return str(self.identifiers.incorporate(path={"identifier": identifier}))

    def find(self, kind: str) -> str | None:
        """Return the quoted name of a relation that is there."""
        return self.name(kind) if self._identifier(kind) in self._tables else None

    def _identifier(self, kind: str) -> str:
        return self.warehouse.identifier_of(f"{self.spec.name}_{kind}")

    def find_shared(self, identifier: str) -> str | None:
        """Return the quoted name of a relation of all anonymizations that is there."""
        return self._named(identifier) if identifier in self._tables else None

    @cached_property
    def _tables(self) -> set[str]:
        place = [self.identifiers.database, self.identifiers.schema]
        rows = self.warehouse.rows(
            "select table_name from duckdb_tables() where database_name = ? and schema_name = ?",
            place,
        )
        return {name for (name,) in rows}


@dataclass(frozen=True)
class Person:
    """Somebody to be erased.

    ``key`` is the text of the subject, or of the record key without one; ``records`` are the keys
    of her records, ``texts`` her identifiers as far as the vault knows them.
    """

    key: str
    records: tuple[str, ...]
    texts: frozenset[str] = field(default=frozenset(), repr=False)


def as_text(column: str) -> str:
    """Return SQL of a column as text."""
    return f"cast({quote_name(column)} as varchar)"


def require_forgotten(warehouse: Warehouse, spec: Spec, person: Person) -> None:
    """Stop while a source has the person: a build would bring her back, or stop at her records."""
    of_records = (spec.source, spec.record_key)
    remaining = []
    for source, key in (of_records, *spec.other_sources_of_people):
        column = spec.person_column if (source, key) == of_records else key
        relation = warehouse.relation_of(source)
        ((records,),) = warehouse.rows(
            f"select count(*) from {relation} where {as_text(column)} = ? or "
            f"{as_text(key)} in (select unnest(?::varchar[]))",
            [person.key, person.records],
        )
        remaining += [f"{relation} still has {records:,} of her records"] if records else []
    if remaining:
        raise VaultError(
            f"{spec.name}: the source must have forgotten the person first; "
            f"{', and '.join(remaining)}: a build would bring her back. Delete her there and in "
            "what it is made of, and erase again."
        )


def find_person(vault: Vault, key: str, records: Sequence[str]) -> Person:
    """Return a person as the vault knows her; ``records`` are further keys of her records."""
    spec, keys = vault.spec, {*records, *([] if vault.spec.subject else [key])}
    identifiers = vault.find("identifiers")
    columns = vault.warehouse.columns(vault.identifiers) if identifiers else []
    if spec.subject in dict(columns):
        rows = vault.warehouse.rows(
            f"select {as_text(spec.record_key)} from {identifiers} "
            f"where {as_text(spec.person_column)} = ?",
            [key],
        )
        keys |= {record for (record,) in rows}
    texts = {key, *keys}
    named = [
        quote_name(name)
        for name, kind in columns
        if name not in {"cqi", "token"} and kind.lower().startswith(("varchar", "character var"))
    ]
    if named:
        rows = vault.warehouse.rows(
            f"select {', '.join(named)} from {identifiers} where {as_text(spec.record_key)} in "
            "(select unnest(?::varchar[]))",
            [sorted(keys)],
        )
        texts |= {value for row in rows for value in row if value is not None}
    return Person(key, tuple(sorted(keys)), frozenset(texts))


def require_known_release(vault: Vault) -> None:
    """Stop where the vault does not remember the release: nobody could say who hides the person."""
    spec, warehouse = vault.spec, vault.warehouse
    kind = "members" if spec.holds_back_joiners else "releases"
    remembered = vault.find(kind)
    relation = warehouse.find(warehouse.place_of_ref(f"{spec.name}_anonymized"))
    released = warehouse.rows(f"select count(*) from {relation}")[0][0] if relation else 0
    remembered_records = 0
    if remembered:
        query = _released_query(spec, remembered)
        ((remembered_records,),) = warehouse.rows(f"select count(*) from ({query}) as rows_")
    if remembered_records != released:
        raise VaultError(
            f"{spec.name}: the vault must remember the release, so that who leaves it with the "
            f"person hides her; {vault.name(kind)} knows {remembered_records:,} records, "
            f"and {released:,} are released. Put her back into the source, run `dbt build`, and "
            "begin again."
        )


def _released_query(spec: Spec, remembered: str) -> str:
    """Return a query of the released records: ``record_key`` and ``part``, a class or cohort."""
    if spec.holds_back_joiners:
        return f"select record_key, cohort as part from {remembered} where left_at is null"
    return (
        "select record_key, part from (select record_key, cqi as part, row_number() over "
        f"(partition by record_key order by release desc) as age from {remembered}) "
        "where age = 1 and part is not null"
    )


def find_group(vault: Vault, person: Person) -> tuple[int, int]:
    """Write the records that leave with the person into `GROUP`; return their number, and of hers.

    By default her whole class leaves (her cohort, where joiners are held back). If only k-anonymity
    is promised, k - 1 records drawn at random leave, provided that at least k stay. A release under
    differential privacy hides her by its own draws: nobody else leaves.
    """
    warehouse, spec = vault.warehouse, vault.spec
    remembered = vault.find("members" if spec.holds_back_joiners else "releases")
    cursor = warehouse.cursor()
    cursor.execute(f"create or replace temporary table {GROUP} (record_key varchar)")
    if remembered is None:
        return 0, 0
    keys, released = list(person.records), _released_query(spec, remembered)
    theirs = (
        f"with released as ({released}), hers as (select distinct part from released "
        "where record_key in (select unnest(?::varchar[]))) select record_key from released "
        "where part in (select part from hers) "
        "and record_key not in (select unnest(?::varchar[]))"
    )
    cursor.execute(f"insert into {GROUP} {theirs}", [keys, keys])
    ((hers,),) = warehouse.rows(
        f"select count(*) from ({released}) as rows_ where record_key in "
        "(select unnest(?::varchar[]))",
        [keys],
    )
    if spec.differential_privacy is not None:
        cursor.execute(f"delete from {GROUP}")
    ((companions,),) = warehouse.rows(f"select count(*) from {GROUP}")
    k = _k_if_only_guarantee(spec)
    if k and hers == 1 and companions + 1 >= 2 * k:
        cursor.execute(
            f"delete from {GROUP} where record_key not in (select record_key from {GROUP} "
            "order by sha256(? || record_key) limit ?)",
            [secrets.token_hex(16), k - 1],
        )
        companions = k - 1
    if spec.holds_back_joiners:
        # Records that left with her and have not returned: they must not return without her.
        latest = (
            "(select record_key, cohort, left_at, row_number() over (partition by record_key "
            f"order by entered desc) as age from {remembered})"
        )
        cursor.execute(
            f"insert into {GROUP} select one.record_key from {latest} as one inner join {latest} "
            "as her on one.cohort = her.cohort and one.left_at = her.left_at where one.age = 1 "
            "and her.age = 1 and her.record_key in (select unnest(?::varchar[])) "
            "and one.record_key not in (select unnest(?::varchar[]))",
            [keys, keys],
        )
    connections = warehouse.adapter.connections
    if connections.get_thread_connection().transaction_open:
        connections.commit()  # a rollback would take the temporary table away
    return companions, hers


def _k_if_only_guarantee(spec: Spec) -> int | None:
    """Return k if k-anonymity of records is the only guarantee, else None."""
    efforts = [effort for number, effort in spec.numbered_efforts.items() if number]
    has_more = any(effort.own_guarantees or effort.k for effort in efforts)
    models = [guarantee["model"] for guarantee in spec.guarantees.resolved]
    # Where tokens are released nobody has two rows, so that records are people.
    has_people = spec.subject is None or spec.mapping == "token"
    if models != ["k_anonymity"] or has_more or not has_people:
        return None
    return int(spec.guarantees.k_anonymity.k)
