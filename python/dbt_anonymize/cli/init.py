"""The command ``dbt-anonymize init``: the draft of a spec, from the columns of a relation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import (
    BAD_INPUT,
    ProfilesDir,
    ProjectDir,
    Quiet,
    Target,
    errors_without_traceback,
    note,
    say,
)

if TYPE_CHECKING:
    from dbt_anonymize.spec import Source


def init(
    name: Annotated[str, typer.Argument(help="Name of the new anonymization.")],
    *,
    ref: Annotated[str | None, typer.Option(help="Model or seed to anonymize.")] = None,
    source: Annotated[
        str | None, typer.Option(help="dbt source to anonymize, as source_name.table_name.")
    ] = None,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Write a draft of anonymizations/<name>.yml from the columns of a relation."""
    from dbt_anonymize.project.draft import check_name, draft_spec  # noqa: PLC0415
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415
    from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415

    declared = _declared_source(ref, source)
    with errors_without_traceback():
        project = find_project(project_dir)
        path = check_name(project, name)
        with open_warehouse(project, target) as warehouse:
            relation = (
                warehouse.relation_of_ref(declared.ref)
                if declared.ref is not None
                else warehouse.relation_of_source(*(declared.source or ("", "")))
            )
            columns = warehouse.columns(relation)
    (project.root / path.parent).mkdir(exist_ok=True)
    (project.root / path).write_text(draft_spec(name, declared, columns), encoding="utf-8")
    note(f"{path.as_posix()}: decide every TODO, then run `dbt-anonymize generate {name}`.")


def _declared_source(ref: str | None, source: str | None) -> Source:
    from dbt_anonymize.spec import Source  # noqa: PLC0415

    source_name, _, table = (source or "").partition(".")
    if (ref is None) == (source is None) or (source is not None and not (source_name and table)):
        say(
            "init: must be given exactly one relation. "
            "Write --ref model_or_seed, or --source source_name.table_name.",
            err=True,
        )
        raise typer.Exit(BAD_INPUT)
    return Source(ref=ref) if ref is not None else Source(source=(source_name, table))
