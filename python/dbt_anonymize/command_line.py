"""What the commands share: options, exit codes, safe printing, and errors without a traceback."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from dbt_anonymize.errors import AnonymizeError, SpecError
from dbt_anonymize.literals import printable

if TYPE_CHECKING:
    from dbt_anonymize.project import Project
    from dbt_anonymize.spec import Spec

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


class SafeConsole(Console):
    """A console that shows names and values as they are: a terminal obeys nothing within them.

    Markup is off unless it is asked for; then whatever comes from outside must be escaped.
    """

    def __init__(
        self, *, stderr: bool = False, soft_wrap: bool = False, markup: bool = False
    ) -> None:
        super().__init__(
            stderr=stderr, soft_wrap=soft_wrap, markup=markup, highlight=False, emoji=False
        )

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text, wherever it stands (a cell of a table too), as it is shown."""
        return super().render_str(printable(text), **options)


def say(text: str, *, err: bool = False) -> None:
    """Print a line; a terminal obeys nothing within it."""
    typer.echo(printable(text), err=err)


@contextlib.contextmanager
def errors_without_traceback() -> Iterator[None]:
    """Show an error of ours as its message and end with the exit code of bad input."""
    try:
        yield
    except AnonymizeError as error:
        say(str(error), err=True)
        raise typer.Exit(BAD_INPUT) from None


def chosen_specs(project: Project, names: list[str] | None) -> list[Spec]:
    """Return the specs that are named, all by default; there must be one."""
    from dbt_anonymize.spec import load_specs  # noqa: PLC0415 (keeps --help fast)

    specs = load_specs(project.root, names)
    if not specs:
        raise SpecError(
            "anonymizations/: must hold at least one anonymization; there is none. "
            "Start with `dbt-anonymize init`."
        )
    return specs
