"""The command ``dbt-anonymize remove``: take an anonymization out of the project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import Name, Yes, note, require_consent
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import AnonymizeError, SpecError

if TYPE_CHECKING:
    from dbt_anonymize.spec import Spec


@on_target
def remove(
    place: Place,
    name: Name,
    *,
    drop: Annotated[
        bool, typer.Option("--drop", help="Also drop its relations in the warehouse.")
    ] = False,
    drop_vault: Annotated[
        bool,
        typer.Option(
            "--drop-vault",
            help="Also drop what the vault has of it: identifiers, tokens, and the memory of its "
            "releases. Nobody is found again, and nobody can tell what two releases show.",
        ),
    ] = False,
    yes: Yes = False,
) -> None:
    """Remove an anonymization: its spec, its generated models and its seeds."""
    from dbt_anonymize.extensions.custody.removal import (  # noqa: PLC0415
        files_of,
        hierarchies_left,
        mentions,
        remove_files,
    )

    spec = _spec_if_readable(place, name, is_needed=drop or drop_vault)
    names = place.other_names(name)
    files = files_of(place.project, name)
    orphaned = hierarchies_left(place.project, name, files)
    for path in files:
        note(f"- {place.relative_name(path)}")
    if spec is None:
        note(f"The spec cannot be read: relations {name}_… stay in warehouse and vault.")
    else:
        _announce(place, spec, names, drop=drop, drop_vault=drop_vault)
    require_consent("Remove this?", "Nothing was removed.", yes=yes)
    if spec is not None and (drop or drop_vault):
        _drop(place, spec, names, drop=drop, drop_vault=drop_vault)
    remove_files(place.project, files)
    mentioning = mentions(place.project, name, names, files)
    note(f"{name}: removed.")
    for path in orphaned:
        note(f"Of no other spec, and not of this name: {place.relative_name(path)}")
    for path in mentioning:
        note(f"Names a relation of it: {place.relative_name(path)}")


def _spec_if_readable(place: Place, name: str, *, is_needed: bool) -> Spec | None:
    """Return the spec; None if it cannot be read, so that nothing can be dropped."""
    from dbt_anonymize.spec.loading import spec_paths  # noqa: PLC0415

    try:
        return place.spec(name, of_records=False)
    except SpecError:
        if is_needed or name not in spec_paths(place.project.root):
            raise
        return None


def _announce(place: Place, spec: Spec, others: list[str], *, drop: bool, drop_vault: bool) -> None:
    """Name the existing relations and files, and say which are dropped."""
    from dbt_anonymize.extensions.custody.moves import Existing, existing_relations  # noqa: PLC0415

    try:
        with place.warehouse() as warehouse:
            existing = existing_relations(warehouse, spec, others)
    except AnonymizeError as error:
        if drop or drop_vault:
            raise
        note(f"The warehouse cannot be looked into: {error}")
        note(f"Relations {spec.name}_… stay there, as far as they exist.")
        existing = Existing()
    for holder, relations, is_dropped in (
        ("the warehouse", existing.working, drop),
        ("the vault", existing.vault, drop_vault),
    ):
        verb = "dropped from" if is_dropped else "that stay in"
        if relations:
            note(f"Relations {verb} {holder}: {', '.join(relations)}.")
    if existing.audits:
        note(f"What was done stays on record: {', '.join(existing.audits)}.")
    if existing.files:
        note(f"Published files stay, and whoever has them keeps them: {', '.join(existing.files)}.")


def _drop(
    place: Place,
    spec: Spec,
    others: list[str],
    *,
    drop: bool,
    drop_vault: bool,
) -> None:
    from dbt_anonymize.extensions.custody.erase.files import rewrite_files  # noqa: PLC0415
    from dbt_anonymize.extensions.custody.moves import (  # noqa: PLC0415
        drop_relations,
        relations_to_drop,
        require_duckdb,
    )
    from dbt_anonymize.project.vault_owner import (  # noqa: PLC0415
        require_own_vault,
        tables_of_owners,
    )

    with place.warehouse(writes_vault=True) as warehouse:
        require_duckdb(warehouse, spec, "Repeat without it, and drop them yourself.")
        if drop_vault:
            require_own_vault(warehouse, spec)
        of_vault = relations_to_drop(warehouse, spec, others, of_vault=True) if drop_vault else []
        working = relations_to_drop(warehouse, spec, others, of_vault=False) if drop else []
        for relations in (of_vault, working):
            drop_relations(warehouse, relations)
            for relation in relations:
                note(f"dropped {relation.name}")
        if drop_vault:
            # The vault forgets an anonymization of which it stores nothing.
            for table in tables_of_owners(warehouse, [spec.name]):
                with warehouse.transaction() as cursor:
                    cursor.execute(f"delete from {table} where anonymization = ?", [spec.name])  # noqa: S608
        # Deleted identifiers stay in the bytes of the file until it is written anew.
        rewrite_files(warehouse, {relation.database for relation in of_vault})
