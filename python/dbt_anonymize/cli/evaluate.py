"""The command ``dbt-anonymize evaluate``: what a Python model would do, for projects without."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dbt_anonymize.cli.common import (
    Lines,
    Names,
    ProfilesDir,
    ProjectDir,
    Quiet,
    Target,
    chosen_specs,
    errors_without_traceback,
    note,
)
from dbt_anonymize.errors import SpecError
from dbt_anonymize.pluralize import counted


def evaluate(
    names: Names = None,
    *,
    step: Annotated[
        str,
        typer.Option(help="evaluation, outer_quality, or groups_<i> of effort i (clustering)."),
    ] = "evaluation",
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Train models on every effort, in projects without Python models."""
    from dbt_anonymize.evaluation.progress import logged_to  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415
    from dbt_anonymize.project.rows import update_rows  # noqa: PLC0415
    from dbt_anonymize.project.steps import steps_of  # noqa: PLC0415
    from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415

    with errors_without_traceback():
        project = find_project(project_dir)
        chosen = []
        for spec in chosen_specs(project, names):
            known = {found.name: found for found in steps_of(spec)}
            if step in known:
                chosen.append((spec, known[step]))
            elif names:
                raise SpecError(
                    f"{spec.name}: --step must be one that it has "
                    f"({', '.join(known) or 'none: it has no efforts'}); got {step}."
                )
        with open_warehouse(project, target) as warehouse, logged_to(Lines()):
            for spec, found in chosen:
                rows = update_rows(warehouse, spec, found)
                note(f"{found.rows}: {counted(rows, 'row')}.")
