"""The command ``dbt-anonymize schema``: what editors need to complete and check specs."""

from __future__ import annotations

from typing import Annotated

import typer

from dbt_anonymize.cli.common import note
from dbt_anonymize.cli.place import Place, in_project


@in_project
def schema(
    place: Place,
    *,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write it beside the specs, as after a new version."),
    ] = False,
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

    path = write_schema(place.project.root)
    note(f"{path.as_posix()}; a spec uses it with the line {MODELINE}")
