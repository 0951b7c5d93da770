"""The command ``dbt-anonymize new``: make a dbt project ready, or start one."""

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
    errors_without_traceback,
    note,
    say,
)

if TYPE_CHECKING:
    from dbt_anonymize.installation.changes import Change


def new(
    *,
    git: Annotated[
        str | None,
        typer.Option(
            help="Address of a git repository to install the dbt package from, at this version; "
            "by default it comes with the command."
        ),
    ] = None,
    yes: Yes = False,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Make a dbt project ready to anonymize; in an empty folder, start one with a small table."""
    from dbt_anonymize.installation.changes import make  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.installation.run import install, planned  # noqa: PLC0415

    with errors_without_traceback():
        plan = planned(project_dir, target, git)
        if plan.changes:
            _ask(plan.root, plan.changes, yes=yes)
            make(plan.changes)
        if plan.needs_package:
            install(plan.root)
        if plan.is_starter:
            from dbt_anonymize.project.generate import generate  # noqa: PLC0415
            from dbt_anonymize.spec.json_schema import write_schema  # noqa: PLC0415

            generate(plan.root)
            write_schema(plan.root)
    if not plan.changes and not plan.needs_package:
        note("Nothing to change.")
    elif plan.is_starter:
        note("Ready. Run `dbt build`, then `dbt-anonymize results`.")
    else:
        note("Ready. Run `dbt-anonymize init <name> --ref <model or seed>`, or --source.")


def _ask(root: Path, changes: list[Change], *, yes: bool) -> None:
    from dbt_anonymize.installation.changes import shown  # noqa: PLC0415

    note(shown(changes, root))
    if yes:
        return
    if not sys.stdin.isatty():
        say("Nothing was written: there is nobody to ask. Add --yes.", err=True)
        raise typer.Exit(BAD_INPUT)
    if not typer.confirm("Write this?"):
        say("Nothing was written.", err=True)
        raise typer.Exit(BAD_INPUT)
