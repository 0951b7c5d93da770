"""The command ``dbt-anonymize new``: make a dbt project ready, or start one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import Yes, note, require_consent
from dbt_anonymize.cli.place import Place, on_target

if TYPE_CHECKING:
    from dbt_anonymize.extensions.installation.changes import Change


@on_target
def new(
    place: Place,
    *,
    git: Annotated[
        str | None,
        typer.Option(
            help="Address of a git repository to install the dbt package from, at this version; "
            "by default it comes with the command."
        ),
    ] = None,
    published: Annotated[
        list[str] | None,
        typer.Option(
            "--published-target",
            help="A target whose builds are releases, for each; builds to others are drafts. "
            "By default all publish.",
        ),
    ] = None,
    yes: Yes = False,
) -> None:
    """Make a dbt project ready to anonymize, or start one.

    A folder that holds nothing but tables as CSV in seeds/ becomes a project for them, each loaded
    into the vault; an empty one gets a small invented table.
    """
    from dbt_anonymize.extensions.installation.changes import make  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.installation.run import install, plan_installation  # noqa: PLC0415

    plan = plan_installation(place.folder, place.target, git, published)
    if published is None and not yes and not plan.names_publishers and (names := _ask_publishers()):
        plan = plan_installation(place.folder, place.target, git, names)
    if plan.changes:
        _confirm(plan.root, plan.changes, yes=yes)
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
    elif plan.tables:
        table = plan.tables[0]
        note(f"Ready. Next: `dbt seed`, then `dbt-anonymize try {table} --predict <column>`.")
    else:
        note(
            "Ready. Next: `dbt build --select +<model or seed>` if that is not built yet, then "
            "`dbt-anonymize try <model, seed or source.table> --predict <column>`."
        )


def _ask_publishers() -> list[str]:
    """Ask for the publishing targets, in a terminal."""
    if not sys.stdin.isatty():
        return []
    answer = typer.prompt(
        "Targets that publish, such as prod; builds to others are drafts (nothing: all publish)",
        default="",
        show_default=False,
    )
    return [str(name) for name in answer.replace(",", " ").split()]


def _confirm(root: Path, changes: list[Change], *, yes: bool) -> None:
    from dbt_anonymize.extensions.installation.changes import describe_changes  # noqa: PLC0415

    note(describe_changes(changes, root))
    require_consent("Write this?", "Nothing was written.", yes=yes)
