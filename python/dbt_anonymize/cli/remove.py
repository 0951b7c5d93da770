"""The command ``dbt-anonymize remove``: take an anonymization out of the project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import Name, Yes, note, require_consent
from dbt_anonymize.cli.place import Place, on_target

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
    from dbt_anonymize.project.removal import files_of, mentions, remove_files  # noqa: PLC0415

    spec = place.spec(name)
    others = place.others(name)
    names = [one.name for one in others]
    files = files_of(place.project, spec, others)
    _ask(place, spec, files, yes=yes, drop=drop, drop_vault=drop_vault)
    if drop or drop_vault:
        _drop(place, spec, names, drop=drop, drop_vault=drop_vault)
    remove_files(place.project, files)
    named = mentions(place.project, name, names, files)
    note(f"{name}: removed.")
    for path in named:
        note(f"Names a relation of it: {place.shown(path)}")
    note(f"Published files of {name} stay, and whoever has them keeps them.")


def _ask(
    place: Place, spec: Spec, files: list[Path], *, yes: bool, drop: bool, drop_vault: bool
) -> None:
    from dbt_anonymize.vault.erase.owned import OF_VAULT, names_of  # noqa: PLC0415
    from dbt_anonymize.vault.moves import AUDITS  # noqa: PLC0415

    for path in files:
        note(f"- {place.shown(path)}")
    of_vault = {f"{spec.name}_{kind}" for kind in OF_VAULT}
    audits = {f"{spec.name}_{kind}" for kind in AUDITS}
    for holder, relations, is_dropped in (
        ("the warehouse", names_of(spec) - of_vault - audits, drop),
        ("the vault", of_vault - audits, drop_vault),
    ):
        verb = "dropped from" if is_dropped else "that stay in"
        note(f"Relations {verb} {holder}, as far as they exist: {', '.join(sorted(relations))}.")
    note(f"What was done stays on record: {', '.join(sorted(audits))}.")
    require_consent("Remove this?", "Nothing was removed.", yes=yes)


def _drop(
    place: Place,
    spec: Spec,
    others: list[str],
    *,
    drop: bool,
    drop_vault: bool,
) -> None:
    from dbt_anonymize.vault.erase.files import rewrite_files  # noqa: PLC0415
    from dbt_anonymize.vault.moves import (  # noqa: PLC0415
        drop_relations,
        relations_to_drop,
        require_duckdb,
    )

    with place.warehouse(writes_vault=True) as warehouse:
        require_duckdb(warehouse, spec, "Repeat without it, and drop them yourself.")
        of_vault = relations_to_drop(warehouse, spec, others, of_vault=True) if drop_vault else []
        working = relations_to_drop(warehouse, spec, others, of_vault=False) if drop else []
        for relations in (of_vault, working):
            drop_relations(warehouse, relations)
            for one in relations:
                note(f"dropped {one.name}")
        # Deleted identifiers stay in the bytes of the file until it is written anew.
        rewrite_files(warehouse, {one.database for one in of_vault})
