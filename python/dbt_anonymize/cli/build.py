"""The command ``dbt-anonymize build``: dbt and the steps that need Python, in the right order."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dbt_anonymize.cli.common import (
    FAILED_CHECK,
    Lines,
    Names,
    ProfilesDir,
    ProjectDir,
    Quiet,
    Target,
    chosen_specs,
    errors_without_traceback,
    note,
    say,
)
from dbt_anonymize.pluralize import counted


def build(
    names: Names = None,
    *,
    dbt: Annotated[
        Path | None, typer.Option(help="Executable of dbt; the one beside this command by default.")
    ] = None,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Build anonymizations from source to release, for a scheduler to call."""
    from dbt_anonymize.evaluation.progress import logged_to  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415
    from dbt_anonymize.project.stages import Dbt, run_stage, stages_of  # noqa: PLC0415

    with errors_without_traceback(), logged_to(Lines()):
        project = find_project(project_dir)
        runner = Dbt.found(project, dbt, target=target, profiles_dir=profiles_dir, is_quiet=quiet)
        for spec in chosen_specs(project, names):
            for stage in stages_of(project, spec):
                code, rows = run_stage(runner, spec, stage)
                if code:
                    say(f"{spec.name}: dbt failed; nothing that follows was built.", err=True)
                    raise typer.Exit(FAILED_CHECK)
                if stage.step and rows is None:
                    note(f"{stage.step.rows}: still of this spec and these records.")
                elif stage.step:
                    note(f"{stage.step.rows}: {counted(rows or 0, 'row')}.")
