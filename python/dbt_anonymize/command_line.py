"""What the commands share: options, exit codes, and errors without a traceback."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from dbt_anonymize.errors import AnonymizeError

FAILED_CHECK = 1
BAD_INPUT = 2

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="Anonymizations; all by default.", show_default=False),
]
ProjectDir = Annotated[
    Path, typer.Option("--project-dir", help="A dbt project, or a folder in it.")
]
Target = Annotated[str | None, typer.Option(help="Target of the profile; that of dbt by default.")]


@contextlib.contextmanager
def errors_without_traceback() -> Iterator[None]:
    """Show an error of ours as its message and end with the exit code of bad input."""
    try:
        yield
    except AnonymizeError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(BAD_INPUT) from None
