"""The relations of an anonymization that goes, or that gets another name."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from dbt_anonymize.errors import VaultError, safe_reason
from dbt_anonymize.extensions.custody.erase.begun import digest_file
from dbt_anonymize.extensions.custody.erase.owned import (
    BUDGET,
    Owned,
    names_of,
    owned_relations,
    places_of,
)
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.results import release_file
from dbt_anonymize.project.vault_owner import rename_owner_statements
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.relations import HISTORY, VAULT
from dbt_anonymize.release.copies import places_of_copies
from dbt_anonymize.release.publish import RELEASE_MODE
from dbt_anonymize.spec import Spec

# What nobody may lose by dropping the rest: when people were asked for or erased, and releases.
AUDITS = ("relinkings", "erasures", "register")


def require_duckdb(warehouse: Warehouse, spec: Spec, remedy: str) -> None:
    """Stop where renaming and dropping were not tested."""
    if not warehouse.is_duckdb:
        raise VaultError(
            f"{spec.name}: relations must be in DuckDB to be renamed or dropped by this command, "
            f"which was tested nowhere else; got {warehouse.adapter.type()}. {remedy}"
        )


def relations_to_drop(
    warehouse: Warehouse, spec: Spec, others: Collection[str], *, of_vault: bool
) -> list[Owned]:
    """Return the relations of warehouse or vault that go with an anonymization; views first.

    The audits stay, and what is called alike: of no model of this package, of another target in
    another schema, or a table of the project that is called like one of the vault.
    """
    vault = _vault_database(warehouse, spec)
    audits = {f"{spec.name}_{kind}" for kind in AUDITS}
    found = [
        one
        for one in owned_relations(warehouse, spec, others)
        if (one.database == vault) == of_vault
        and not _is_of_project(spec, one.identifier, is_in_vault=one.database == vault)
        and one.account not in {"of the project", "of another target", "unknown"}
        and one.identifier not in audits
    ]
    return sorted(found, key=lambda one: not one.is_view)


@dataclass(frozen=True)
class Existing:
    """The names of what there is of an anonymization, by where it lies, and its published files."""

    working: Sequence[str] = ()
    vault: Sequence[str] = ()
    audits: Sequence[str] = ()
    files: Sequence[str] = ()


def existing_relations(warehouse: Warehouse, spec: Spec, others: Collection[str]) -> Existing:
    """Look what there is of an anonymization in warehouse, vault and release, on any engine."""
    audits = {f"{spec.name}_{kind}" for kind in AUDITS}
    of_vault = {f"{spec.name}_{kind}" for kind in VAULT}
    found = set[str]()
    for database, schema in places_of(warehouse, names_of(spec)):
        place = warehouse.adapter.Relation.create(database=database, schema=schema)
        found |= set(warehouse.macro("_tables_of_schema", place=place)) & names_of(spec)
    if warehouse.is_duckdb:
        dropped = {
            is_in_vault: {
                one.identifier
                for one in relations_to_drop(warehouse, spec, others, of_vault=is_in_vault)
            }
            for is_in_vault in (True, False)
        }
        working, vault = dropped[False], dropped[True]
    else:
        working, vault = found - of_vault, found & of_vault
    return Existing(
        sorted(working - audits),
        sorted(vault - audits),
        sorted(found & audits),
        _published_files(warehouse, spec),
    )


def _published_files(warehouse: Warehouse, spec: Spec) -> list[str]:
    is_generated = any(
        node.name == f"{spec.name}_anonymized" for node in warehouse.manifest.nodes.values()
    )
    if not warehouse.is_duckdb or not is_generated:
        return []
    file = release_file(warehouse, spec.name)
    return [str(one) for one in (file, *places_of_copies(file).values()) if one.is_file()]


def drop_relations(warehouse: Warehouse, relations: Collection[Owned]) -> None:
    """Drop relations of one database, all or none."""
    with warehouse.transaction() as cursor:
        for one in relations:
            cursor.execute(f"drop {'view' if one.is_view else 'table'} {one.name}")


def _is_of_project(spec: Spec, identifier: str, *, is_in_vault: bool) -> bool:
    """Tell whether a relation is named like one of the vault, and is not there."""
    return not is_in_vault and identifier in {f"{spec.name}_{kind}" for kind in VAULT}


def _vault_database(warehouse: Warehouse, spec: Spec) -> str | None:
    for kind in ("identifiers", "sample", "mask_keys"):
        for node in warehouse.manifest.nodes.values():
            if node.resource_type == "model" and node.name == f"{spec.name}_{kind}":
                return str(node.database)
    return None


def rename_relations(warehouse: Warehouse, before: Spec, after: Spec) -> list[str]:
    """Give the relations of an anonymization another name; return those that got it.

    ``before`` and ``after`` are the spec under both names, of which the project has one. Each
    database is renamed as a whole or not at all, the vault first; what has its name already is left
    alone. Views are dropped, as a build makes them anew. Both names at once are a `VaultError`.
    """
    found = _relations(warehouse, before, after)
    _require_own_names(warehouse, before, found)
    vault = _vault_database(warehouse, before) or _vault_database(warehouse, after)
    _require_vault(warehouse, before, after, [one for one in found if one.database != vault])
    ours, theirs = names_of(before), names_of(after)
    for database in {one.database for one in found}:
        here = {one.identifier for one in found if one.database == database}
        if here & theirs and here & ours:
            raise VaultError(
                f"{after.name}: must be a name without relations of before; {database} has "
                f"{', '.join(sorted(here & theirs))}. Take another name, or let a custodian drop "
                "them if nobody needs them."
            )
    renamed, memory = list[str](), rename_owner_statements(warehouse, before.name, after.name)
    for of_vault in (True, False):
        chosen = [
            one for one in found if (one.database == vault) == of_vault and one.identifier in ours
        ]
        # A table that was renamed cannot be changed in the same transaction. What ends in between
        # has other labels than its spec, and no build goes on from there.
        with warehouse.transaction() as cursor:
            _rename_in_rows(warehouse, before, after, cursor, vault if of_vault else None)
            for sql, values in memory if of_vault else ():
                cursor.execute(sql, values)
        with warehouse.transaction() as cursor:
            for one in sorted(chosen, key=lambda one: not one.is_view):
                if one.is_view:
                    cursor.execute(f"drop view {one.name}")
                    continue
                new = after.name + one.identifier.removeprefix(before.name)
                cursor.execute(f"alter table {one.name} rename to {quote_name(new)}")
                renamed.append(new)
        if of_vault:
            _rename_digest(warehouse, before, after)
    return renamed


def _require_own_names(warehouse: Warehouse, before: Spec, found: Collection[Owned]) -> None:
    """Refuse where a macro of the project names relations: what it will say, dbt alone knows."""
    others = [
        one.name for one in found if warehouse.identifier_of(one.identifier) != one.identifier
    ]
    if others:
        raise VaultError(
            f"{before.name}: rename needs relations that are called as their models; "
            f"generate_alias_name calls {len(others)} otherwise, among them {others[0]}. Nothing "
            "is renamed. Let a custodian rename those of the vault to what dbt will call them, and "
            "change name and file of the spec, before the next build."
        )


def _rename_digest(warehouse: Warehouse, before: Spec, after: Spec) -> None:
    """Rename the digest of an unfinished erasure, whose receipt has the new name now."""
    files = dict(warehouse.rows("select database_name, path from duckdb_databases()"))
    for database, schema in places_of(warehouse, names_of(before) | names_of(after)):
        if path := files.get(database):
            digest = digest_file(Path(path), schema, before.name)
            if digest.is_file():
                digest.replace(digest_file(Path(path), schema, after.name))


def _require_vault(
    warehouse: Warehouse, before: Spec, after: Spec, built: Collection[Owned]
) -> None:
    """Stop where the anonymization is built, and the vault has not what a build keeps there."""
    lost = []
    for kind in ("identifiers", "tokens", "sample", "mask_keys"):
        names = {f"{spec.name}_{kind}" for spec in (before, after)}
        nodes = [node for node in warehouse.manifest.nodes.values() if node.name in names]
        for node in (one for one in nodes if one.resource_type == "model"):
            places = [
                warehouse.adapter.get_relation(
                    database=node.database, schema=node.schema, identifier=name
                )
                for name in names
            ]
            if not any(places):
                lost.append(f"{node.database}.{node.schema}.{before.name}_{kind}")
    if lost and built:
        raise VaultError(
            f"{before.name}: the vault must have what the build kept there, to be renamed; "
            f"{', '.join(lost)} {'is' if len(lost) == 1 else 'are'} missing. Nothing is renamed. "
            "See that the profile attaches the right file, or restore it from a backup. If it is "
            "lost for good, run `dbt build`, which begins without memory, and rename then."
        )


def _relations(warehouse: Warehouse, before: Spec, after: Spec) -> list[Owned]:
    """Return the relations of both names where this target has its models; those of vaults too."""
    specs, names = (before, after), names_of(before) | names_of(after)
    places = places_of(warehouse, names)
    vault = _vault_database(warehouse, before) or _vault_database(warehouse, after)
    # One name may be the beginning of the other.
    found = {one.name: one for spec in specs for one in owned_relations(warehouse, spec)}
    return [
        one
        for one in found.values()
        if (one.database, one.schema) in places
        and one.identifier in names
        and not any(
            _is_of_project(spec, one.identifier, is_in_vault=one.database == vault)
            for spec in specs
        )
    ]


def _rename_in_rows(
    warehouse: Warehouse, before: Spec, after: Spec, cursor: object, vault: str | None
) -> None:
    """Change what rows say of the name: the budget and the members, or the history of results."""
    execute = cursor.execute  # type: ignore[attr-defined]
    tables = warehouse.rows(
        "select database_name, schema_name, table_name from duckdb_tables() where table_name in "
        f"('{BUDGET}', '{HISTORY}', '{before.name}_members')"
    )
    for database, schema, table in tables:
        place = f"{quote_name(database)}.{quote_name(schema)}.{quote_name(table)}"
        if (database == vault) != (vault is not None):
            continue
        if table == BUDGET:
            sql = f"update {place} set anonymization = ? where anonymization = ?"
            execute(sql, [after.name, before.name])
        elif table == HISTORY:
            execute(f"update {place} set name = ? where name = ?", [after.name, before.name])
        elif before.freeze:
            # The digest holds the name; the labels are the same.
            sql = f"update {place} set labels = ? where labels = ?"
            execute(sql, [after.labels_digest, before.labels_digest])


def copy_release(file: Path, before: str, after: str) -> Path | None:
    """Copy a release and its copies to another name, its table included; the earlier stay.

    So the next release is compared with this one. None where there is no release.
    """
    target = file.with_name(f"{after}.duckdb")
    if not file.is_file():
        return None
    if target.exists():
        raise VaultError(
            f"{target}: must not exist yet, as it would be overwritten. Move it, and repeat the "
            "command."
        )
    folder = Path(tempfile.mkdtemp(dir=file.parent, prefix=f".{target.name}.", suffix=".stage"))
    try:
        stage = folder / target.name
        shutil.copyfile(file, stage)
        with duckdb.connect(str(stage)) as connection:
            for kind in ("anonymized", "about"):
                old, new = quote_name(f"{before}_{kind}"), quote_name(f"{after}_{kind}")
                # Not every release says what it is.
                exists = "if exists " if kind == "about" else ""
                connection.execute(f"alter table {exists}main.{old} rename to {new}")
            connection.execute("checkpoint")
        new_copies = places_of_copies(target)
        for form, copy in places_of_copies(file).items():
            if copy.is_file():
                shutil.copyfile(copy, folder / new_copies[form].name)
        for staged in sorted(folder.iterdir(), key=lambda path: path == stage):
            staged.chmod(RELEASE_MODE)
            staged.replace(target.with_name(staged.name))
    except (duckdb.Error, OSError) as error:
        raise VaultError(
            f"{file}: must be copied to {target.name}; it could not be ({safe_reason(error)}). "
            "Nothing is renamed. Correct this, and repeat the command."
        ) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return target


def remove_release(file: Path) -> None:
    """Remove a release and its copies."""
    for path in (*places_of_copies(file).values(), file):
        path.unlink(missing_ok=True)
