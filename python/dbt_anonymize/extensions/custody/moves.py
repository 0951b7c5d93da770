"""Drop or rename the relations of an anonymization."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import duckdb

from dbt_anonymize.errors import VaultError, safe_reason
from dbt_anonymize.extensions.custody.erase.owned import (
    BUDGET,
    Owned,
    names_of,
    owned_relations,
    places_of,
)
from dbt_anonymize.extensions.custody.erase.unfinished import digest_file
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.results import release_file
from dbt_anonymize.project.vault_owner import tables_of_owners
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.relations import HISTORY, KEPT, MODELS, RELEASED, VAULT
from dbt_anonymize.release.copies import places_of_copies
from dbt_anonymize.release.publish import RELEASE_MODE
from dbt_anonymize.spec import Spec

# Records of re-linkings, erasures and releases, of whatever kind; they are never dropped.
AUDITS = ("relinkings", "erasures", *(name for name in KEPT if name.endswith("register")))


def require_duckdb(warehouse: Warehouse, spec: Spec, remedy: str) -> None:
    """Stop on other engines, where renaming and dropping are untested."""
    if not warehouse.is_duckdb:
        raise VaultError(
            f"{spec.name}: relations must be in DuckDB to be renamed or dropped by this command, "
            f"which was tested nowhere else; got {warehouse.adapter.type()}. {remedy}"
        )


def relations_to_drop(
    warehouse: Warehouse, spec: Spec, others: Collection[str], *, of_vault: bool
) -> list[Owned]:
    """Return the relations in warehouse or vault to drop with an anonymization; views first.

    The audits stay, and so do relations that only share its prefix: those of no model of this
    package, of another target, or tables of the project with the name of a table of the vault.
    """
    vault = _vault_database(warehouse, spec)
    audits = {f"{spec.name}_{kind}" for kind in AUDITS}
    relations = [
        relation
        for relation in owned_relations(warehouse, spec, others)
        if (relation.database == vault) == of_vault
        and not _is_of_project(spec, relation.identifier, is_in_vault=relation.database == vault)
        and relation.account not in {"of the project", "of another target", "unknown"}
        and relation.identifier not in audits
    ]
    return sorted(relations, key=lambda relation: not relation.is_view)


@dataclass(frozen=True)
class Existing:
    """Names of the existing relations of an anonymization by place, and its published files."""

    working: Sequence[str] = ()
    vault: Sequence[str] = ()
    audits: Sequence[str] = ()
    files: Sequence[str] = ()


def existing_relations(warehouse: Warehouse, spec: Spec, others: Collection[str]) -> Existing:
    """Return the relations and files of an anonymization in warehouse, vault and release."""
    audits = {f"{spec.name}_{kind}" for kind in AUDITS}
    of_vault = {f"{spec.name}_{kind}" for kind in VAULT}
    identifiers = set[str]()
    for database, schema in places_of(warehouse, names_of(spec)):
        place = warehouse.adapter.Relation.create(database=database, schema=schema)
        identifiers |= set(warehouse.macro("_tables_of_schema", place=place)) & names_of(spec)
    if warehouse.is_duckdb:
        dropped = {
            is_in_vault: {
                relation.identifier
                for relation in relations_to_drop(warehouse, spec, others, of_vault=is_in_vault)
            }
            for is_in_vault in (True, False)
        }
        working, vault = dropped[False], dropped[True]
    else:
        working, vault = identifiers - of_vault, identifiers & of_vault
    return Existing(
        sorted(working - audits),
        sorted(vault - audits),
        sorted(identifiers & audits),
        _published_files(warehouse, spec),
    )


def _published_files(warehouse: Warehouse, spec: Spec) -> list[str]:
    is_generated = any(
        node.name in {f"{spec.name}_{kind}" for kind in RELEASED}
        for node in warehouse.manifest.nodes.values()
    )
    if not warehouse.is_duckdb or not is_generated:
        return []
    file = release_file(warehouse, spec.name)
    return [str(path) for path in (file, *places_of_copies(file).values()) if path.is_file()]


def drop_relations(warehouse: Warehouse, relations: Collection[Owned]) -> None:
    """Drop relations of one database, all or none."""
    with warehouse.transaction() as cursor:
        for relation in relations:
            cursor.execute(f"drop {'view' if relation.is_view else 'table'} {relation.name}")


def _is_of_project(spec: Spec, identifier: str, *, is_in_vault: bool) -> bool:
    """Tell whether a relation outside of the vault is named like one of the vault."""
    return not is_in_vault and identifier in {f"{spec.name}_{kind}" for kind in VAULT}


def _vault_database(warehouse: Warehouse, spec: Spec) -> str | None:
    names = {f"{spec.name}_{kind}" for kind in VAULT}
    for node in warehouse.manifest.nodes.values():
        if node.resource_type == "model" and node.name in names:
            return str(node.database)
    return None


def rename_relations(warehouse: Warehouse, before: Spec, after: Spec) -> list[str]:
    """Rename the relations of an anonymization; return the new names.

    ``before`` and ``after`` are the spec under both names, of which the project has one. Each
    database is renamed as a whole or not at all, the vault first; relations with the new name are
    left alone. Views are dropped, and the next build makes them. Relations of both names in one
    database are a `VaultError`.
    """
    relations = _relations(warehouse, before, after)
    _require_own_names(warehouse, before, relations)
    vault = _vault_database(warehouse, before) or _vault_database(warehouse, after)
    _require_vault(
        warehouse, before, after, [relation for relation in relations if relation.database != vault]
    )
    ours, theirs = names_of(before), names_of(after)
    for database in {relation.database for relation in relations}:
        here = {relation.identifier for relation in relations if relation.database == database}
        if here & theirs and here & ours:
            raise VaultError(
                f"{after.name}: must be a name without relations of before; {database} has "
                f"{', '.join(sorted(here & theirs))}. Take another name, or let a custodian drop "
                "them if nobody needs them."
            )
    renamed, owners = list[str](), tables_of_owners(warehouse, [before.name, after.name])
    for of_vault in (True, False):
        chosen = [
            relation
            for relation in relations
            if (relation.database == vault) == of_vault and relation.identifier in ours
        ]
        # A renamed table cannot be changed in the same transaction. After a stop in between, labels
        # and spec differ, and no build continues.
        with warehouse.transaction() as cursor:
            _rename_in_rows(warehouse, before, after, cursor, vault if of_vault else None)
            for table in owners if of_vault else ():
                sql = f"update {table} set anonymization = ? where anonymization = ?"
                cursor.execute(sql, [after.name, before.name])
        with warehouse.transaction() as cursor:
            for relation in sorted(chosen, key=lambda relation: not relation.is_view):
                if relation.is_view:
                    cursor.execute(f"drop view {relation.name}")
                    continue
                new = after.name + relation.identifier.removeprefix(before.name)
                cursor.execute(f"alter table {relation.name} rename to {quote_name(new)}")
                renamed.append(new)
        if of_vault:
            _rename_digest(warehouse, before, after)
    return renamed


def _require_own_names(warehouse: Warehouse, before: Spec, relations: Collection[Owned]) -> None:
    """Refuse where `generate_alias_name` names relations: the new names are unknown here."""
    misnamed = [
        relation.name
        for relation in relations
        if warehouse.identifier_of(relation.identifier) != relation.identifier
    ]
    if misnamed:
        raise VaultError(
            f"{before.name}: rename needs relations that are called as their models; "
            f"generate_alias_name calls {len(misnamed)} otherwise, among them {misnamed[0]}. "
            "Nothing is renamed. Let a custodian rename those of the vault to what dbt will call "
            "them, and change name and file of the spec, before the next build."
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
    """Stop where the anonymization is built and a relation of the vault is missing."""
    lost = []
    # What is drawn once, and who it is of; memory of releases is made anew.
    kept = sorted(one.name for one in MODELS.values() if one.is_in_vault)
    for kind in (name for name in kept if MODELS[name].erased_by != "record_key"):
        names = {f"{spec.name}_{kind}" for spec in (before, after)}
        for node in warehouse.manifest.nodes.values():
            if node.name not in names or node.resource_type != "model":
                continue
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
    """Return the relations of both names in the schemas of this target, vaults included."""
    specs, names = (before, after), names_of(before) | names_of(after)
    places = places_of(warehouse, names)
    vault = _vault_database(warehouse, before) or _vault_database(warehouse, after)
    # One name may begin with the other, so that a relation belongs to both.
    relations = {
        relation.name: relation for spec in specs for relation in owned_relations(warehouse, spec)
    }
    return [
        relation
        for relation in relations.values()
        if (relation.database, relation.schema) in places
        and relation.identifier in names
        and not any(
            _is_of_project(spec, relation.identifier, is_in_vault=relation.database == vault)
            for spec in specs
        )
    ]


def _rename_in_rows(
    warehouse: Warehouse, before: Spec, after: Spec, cursor: object, vault: str | None
) -> None:
    """Change the name within rows: of budget and members, or of the history of results."""
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
        elif before.is_frozen:
            # The digest holds the name; the labels are the same.
            sql = f"update {place} set labels = ? where labels = ?"
            execute(sql, [cast(Any, spec).labels_digest for spec in (after, before)])


def copy_release(file: Path, before: str, after: str) -> Path | None:
    """Copy a release, its table and its copies to another name, so that the next is compared.

    The earlier files stay. None where there is no release.
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
            tables = connection.execute("select table_name from duckdb_tables()").fetchall()
            for (old,) in tables:
                new = f"{after}{old.removeprefix(before)}"
                connection.execute(f"alter table {quote_name(old)} rename to {quote_name(new)}")
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
