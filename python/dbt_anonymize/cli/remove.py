"""The command ``dbt-anonymize remove``: take an anonymization out of the project."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import (
    BAD_INPUT,
    ProfilesDir,
    ProjectDir,
    Quiet,
    Target,
    Yes,
    chosen_specs,
    errors_without_traceback,
    note,
    say,
)

if TYPE_CHECKING:
    from dbt_anonymize.project.layout import Project
    from dbt_anonymize.spec import Spec


def remove(
    name: Annotated[str, typer.Argument(help="Anonymization.")],
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
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Remove an anonymization: its spec, its generated models and its seeds."""
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.removal import files_of, mentions, remove_files  # noqa: PLC0415
    from dbt_anonymize.spec import load_specs  # noqa: PLC0415

    with errors_without_traceback():
        project = find_project(project_dir)
        (spec,) = chosen_specs(project, [name])
        others = [one for one in load_specs(project.root) if one.name != name]
        names = [one.name for one in others]
        files = files_of(project, spec, others)
        _ask(project, spec, files, yes=yes, drop=drop, drop_vault=drop_vault)
        if drop or drop_vault:
            _drop(project, target, spec, names, drop=drop, drop_vault=drop_vault)
        remove_files(project, files)
        named = mentions(project, name, names, files)
    note(f"{name}: removed.")
    for path in named:
        note(f"Names a relation of it: {path.relative_to(project.root).as_posix()}")
    note(f"Published files of {name} stay, and whoever has them keeps them.")


def _ask(
    project: Project, spec: Spec, files: list[Path], *, yes: bool, drop: bool, drop_vault: bool
) -> None:
    from dbt_anonymize.vault.erase.owned import OF_VAULT, names_of  # noqa: PLC0415
    from dbt_anonymize.vault.moves import AUDITS  # noqa: PLC0415

    for path in files:
        note(f"- {path.relative_to(project.root).as_posix()}")
    of_vault = {f"{spec.name}_{kind}" for kind in OF_VAULT}
    audits = {f"{spec.name}_{kind}" for kind in AUDITS}
    for place, relations, is_dropped in (
        ("the warehouse", names_of(spec) - of_vault - audits, drop),
        ("the vault", of_vault - audits, drop_vault),
    ):
        verb = "dropped from" if is_dropped else "that stay in"
        note(f"Relations {verb} {place}, as far as they exist: {', '.join(sorted(relations))}.")
    note(f"What was done stays on record: {', '.join(sorted(audits))}.")
    if yes:
        return
    if sys.stdin.isatty() and typer.confirm("Remove this?"):
        return
    say("Nothing was removed. Add --yes if nobody can be asked.", err=True)
    raise typer.Exit(BAD_INPUT)


def _drop(
    project: Project,
    target: str | None,
    spec: Spec,
    others: list[str],
    *,
    drop: bool,
    drop_vault: bool,
) -> None:
    from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415
    from dbt_anonymize.vault.erase.files import rewrite_files  # noqa: PLC0415
    from dbt_anonymize.vault.moves import (  # noqa: PLC0415
        drop_relations,
        relations_to_drop,
        require_duckdb,
    )

    with open_warehouse(project, target, writes_vault=True) as warehouse:
        require_duckdb(warehouse, spec, "Repeat without it, and drop them yourself.")
        of_vault = relations_to_drop(warehouse, spec, others, of_vault=True) if drop_vault else []
        working = relations_to_drop(warehouse, spec, others, of_vault=False) if drop else []
        for relations in (of_vault, working):
            drop_relations(warehouse, relations)
            for one in relations:
                note(f"dropped {one.name}")
        # Deleted identifiers stay in the bytes of the file until it is written anew.
        rewrite_files(warehouse, {one.database for one in of_vault})
