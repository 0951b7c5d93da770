"""Erase a person: plan and refusals, the steps before the build, and the checks after it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from dbt_anonymize.errors import VaultError, safe_reason
from dbt_anonymize.extension import other_release
from dbt_anonymize.extensions.custody.erase.files import (
    files_with_texts,
    rewrite_files,
    searchable_texts,
)
from dbt_anonymize.extensions.custody.erase.forget import (
    Erasure,
    count_rows,
    forget,
    forget_working,
    is_open,
)
from dbt_anonymize.extensions.custody.erase.owned import owned_relations
from dbt_anonymize.extensions.custody.erase.people import (
    Person,
    Vault,
    find_group,
    find_person,
    require_forgotten,
    require_known_release,
)
from dbt_anonymize.extensions.custody.erase.unfinished import (
    digest_file,
    is_of_another,
    write_digest,
)
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.models import relations_of
from dbt_anonymize.project.register import publishes
from dbt_anonymize.project.results import release_file
from dbt_anonymize.project.vault_owner import require_own_vault
from dbt_anonymize.project.vault_places import require_vaults
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec import Spec


@dataclass(frozen=True)
class Plan:
    """Plan of an erasure: counts of her rows by relation, and of records that leave with her.

    ``is_certain``: the unfinished erasure is known to be hers.
    """

    vault: Vault
    person: Person
    others: Collection[str]
    records: dict[str, int]
    released: int
    withheld: int
    is_resumed: bool
    is_certain: bool
    digest_file: Path

    def carry_out(self) -> Erasure | None:
        """Erase from the vault; nothing where an earlier call has done so."""
        if not self.records:
            return None
        if self.is_resumed:
            return forget(self.vault, self.person, self.others)
        write_digest(self.digest_file, self.person.key)
        try:
            return forget(self.vault, self.person, self.others)
        except BaseException:
            self.digest_file.unlink(missing_ok=True)
            raise

    def clear_working_tables(self) -> None:
        """Erase from the warehouse, over the same connection."""
        forget_working(self.vault, self.person, self.others)


def plan_erasure(
    warehouse: Warehouse,
    spec: Spec,
    *,
    key: str,
    records: Sequence[str] = (),
    others: Collection[str] = (),
) -> Plan:
    """Find the person, and refuse what cannot be done, before anything is written.

    Raises
    ------
    VaultError
        If the engine or the mapping is another, the vault is of another project or target, the
        source still has the person, nothing is known of her, or the vault does not remember the
        release.
    """
    _require_support(warehouse, spec)
    require_vaults(warehouse)
    require_own_vault(warehouse, spec)
    if any("\ud800" <= letter <= "\udfff" for text in (key, *records) for letter in text):
        raise VaultError(f"{spec.name}: {spec.person_column} must be text that UTF-8 can hold.")
    vault = Vault(warehouse, spec, warehouse.place_of_ref(f"{spec.name}_{_in_vault(spec)[0]}"))
    person = find_person(vault, key, records)
    require_forgotten(warehouse, spec, person)
    owned = owned_relations(warehouse, spec, others)
    not_ours = {"unknown", "of another target"}
    counts = count_rows(
        vault, person, [relation for relation in owned if relation.account not in not_ours]
    )
    is_resumed, digest = is_open(vault), _digest_file(vault)
    if is_resumed and is_of_another(digest, key):
        raise VaultError(
            f"{spec.name}: {spec.person_column} must be the key of the erasure that was begun, "
            "which is not complete; it is another one. Complete that one first, with its key. If "
            "nobody knows it any more, let a custodian set finished_at in "
            f"{vault.name('erasures')} and delete {digest}: the release and files may then still "
            "have that person."
        )
    if not counts and not is_resumed:
        hint = "" if spec.subject is None else " Name the keys of her records with --record."
        raise VaultError(
            f"{spec.name}: {spec.person_column} must be of somebody whom the vault or a working "
            f"table knows, as text; nothing was found.{hint} See that the key is "
            "written as it is there."
        )
    is_begun = bool(counts) and not is_resumed and not other_release(spec)
    # Nobody has a draft to see a difference by.
    if is_begun and (spec.holds_back_joiners or publishes(warehouse, spec.name)):
        require_known_release(vault)
    withheld, released = find_group(vault, person)
    is_certain = is_resumed and digest.is_file()
    return Plan(vault, person, others, counts, released, withheld, is_resumed, is_certain, digest)


def _digest_file(vault: Vault) -> Path:
    place = vault.identifiers
    files = dict(vault.warehouse.rows("select database_name, path from duckdb_databases()"))
    return digest_file(Path(files[place.database]), place.schema, vault.spec.name)


def _in_vault(spec: Spec) -> list[str]:
    """Return the relations of the vault that have a person, by their part of the name."""
    if not other_release(spec):
        return ["identifiers"]
    return [one.name for one in relations_of(spec) if one.is_in_vault and one.erased_by]


def _require_support(warehouse: Warehouse, spec: Spec) -> None:
    name, is_of_records = spec.name, not other_release(spec)
    if is_of_records and not spec.efforts:
        raise VaultError(
            f"{name}: erase must find efforts in the spec; without, nothing was released, and the "
            "next build makes the working tables without whom the source has forgotten. If it "
            f"draws a sample, let a custodian delete her from {name}_sample."
        )
    if not warehouse.is_duckdb:
        kept = f"{name}_identifiers, _tokens, _sample, _releases, _membership and _members"
        seen = " Her row can be found by subtracting the releases: docs/extensions/custody.md."
        if not is_of_records:
            kept, seen = ", ".join(f"{name}_{kind}" for kind in _in_vault(spec)), ""
        raise VaultError(
            f"{name}: erase must find a vault in files of DuckDB, which alone were tested; got "
            f"{warehouse.adapter.type()}. Let a custodian delete the person by her key from "
            f"{kept}, build, "
            "vacuum these tables (Postgres: vacuum full; Delta: vacuum after the retention), and "
            f"see to logs, replicas and backups.{seen}"
        )
    if is_of_records and spec.mapping == "none":
        raise VaultError(
            f"{name}: erase must find a vault that remembers the release; with mapping: none "
            "nothing does, so nobody could say who hides the person. The next `dbt build` makes "
            "every table without her; whoever has both releases sees whom they differ by. Set "
            "release: {composition: strict} to stop there."
        )


@dataclass(frozen=True)
class Remainder:
    """Remaining rows after an erasure.

    ``problems`` are sentences on what still holds the person. ``unknown`` are relations of no
    model, which cannot be searched. ``elsewhere`` counts her rows in schemas of other targets; a
    call for these erases them. ``unsearched`` are the files with such rows.
    """

    problems: list[str]
    unknown: list[str]
    elsewhere: dict[str, int]
    unsearched: list[str]


def rewrite_and_check(warehouse: Warehouse, plan: Plan) -> Remainder:
    """Rewrite the files after the build, and search them for the person.

    Nothing must be written over the connection afterwards.
    """
    spec = plan.vault.spec
    vault = Vault(warehouse, spec, plan.vault.identifiers)
    require_forgotten(warehouse, spec, plan.person)
    owned = owned_relations(warehouse, spec, plan.others)
    of_target = [relation for relation in owned if relation.account != "of another target"]
    problems = [
        f"{spec.name}: {identifier} must not have rows of her; it has {records:,}. It is of no "
        "model of this package: delete them, or drop it."
        for identifier, records in count_rows(vault, plan.person, of_target).items()
    ]
    elsewhere, of_others = dict[str, int](), set[str]()
    for relation in owned:
        if relation.account != "of another target":
            continue
        if records := sum(count_rows(vault, plan.person, [relation]).values()):
            elsewhere[f"{relation.database}.{relation.schema}.{relation.identifier}"] = records
            of_others.add(relation.database)
    texts = searchable_texts(_distinctive_texts(warehouse, spec, plan.person))
    databases = dict.fromkeys(
        [vault.identifiers.database, *(relation.database for relation in owned)]
    )
    rewritten = [(file, base) for base in databases for file in rewrite_files(warehouse, [base])]
    # What another target has of her is in the bytes too.
    files = [file for file, base in rewritten if base not in of_others]
    files.append(release_file(warehouse, spec.name).absolute())
    problems += [
        f"{spec.name}: {file.name} must not hold identifiers of her; it has {matches} of "
        f"{len(texts)}, in a table that is not of this package. Delete her there."
        for file, matches in files_with_texts(files, texts)
    ]
    return Remainder(
        problems,
        [relation.identifier for relation in owned if relation.account == "unknown"],
        elsewhere,
        [file.name for file, base in rewritten if base in of_others],
    )


def _distinctive_texts(warehouse: Warehouse, spec: Spec, person: Person) -> list[str]:
    """Return her texts that no remaining record contains: others may share a name."""
    source = warehouse.relation_of(spec.source)
    columns = [
        f"contains(lower({quote_name(name)}), lower(text))"
        for name, kind in warehouse.columns(source)
        if kind.lower().startswith(("varchar", "character var"))
    ]
    shared = f"exists (select 1 from {source} where {' or '.join(columns) or 'false'})"  # noqa: S608
    rows = warehouse.rows(
        f"select text from (select unnest(?::varchar[]) as text) where not {shared}",  # noqa: S608
        [sorted(person.texts)],
    )
    return [text for (text,) in rows]


def close_receipts(vault_file: Path, schema: str, name: str) -> None:
    """Write the time of completion into the receipts in the new file of the vault."""
    receipts = f"{quote_name(schema)}.{quote_name(f'{name}_erasures')}"
    try:
        with duckdb.connect(str(vault_file)) as connection:
            connection.execute(
                f"update {receipts} set finished_at = "  # noqa: S608 (quoted)
                "cast(date_trunc('second', now() at time zone 'UTC') as timestamp) "
                "where finished_at is null"
            )
    except duckdb.Error as error:
        raise VaultError(
            f"{name}: the receipt must say that the erasure is complete; it could not be written "
            f"({safe_reason(error)}). Erase again, which changes nothing else."
        ) from None
    digest_file(vault_file, schema, name).unlink(missing_ok=True)
