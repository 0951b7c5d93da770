"""The command ``dbt-anonymize schema``: what editors need to complete and check specs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dbt_anonymize.cli.common import ProjectDir, Quiet, errors_without_traceback, note


def schema(
    *,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write it beside the specs, as after a new version."),
    ] = False,
    project_dir: ProjectDir = Path(),
    quiet: Quiet = False,
) -> None:
    """Print the JSON schema of a spec, with which editors complete, explain and check it."""
    from dbt_anonymize.spec.json_schema import (  # noqa: PLC0415 (keeps --help fast)
        MODELINE,
        schema_text,
        write_schema,
    )

    if not write:
        typer.echo(schema_text(), nl=False)
        return
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415

    with errors_without_traceback():
        path = write_schema(find_project(project_dir).root)
    note(f"{path.as_posix()}; a spec uses it with the line {MODELINE}")
