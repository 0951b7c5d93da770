"""What the commands share: options, exit codes, safe printing, and errors without a traceback."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from dbt_anonymize.errors import AnonymizeError, SpecError
from dbt_anonymize.literals import printable

if TYPE_CHECKING:
    from dbt_anonymize.project.layout import Project
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
# Also of the groups of commands below; `-h` is what people try first.
HELP = {"help_option_names": ["-h", "--help"]}
_IS_QUIET = ContextVar("is_quiet", default=False)


def _look_for_profiles_in(context: typer.Context, folder: Path | None) -> Path | None:
    """Say it to dbt as its own option would, until the command ends."""
    if folder is not None:
        before = os.environ.get("DBT_PROFILES_DIR")
        os.environ["DBT_PROFILES_DIR"] = str(folder.absolute())
        context.call_on_close(lambda: _restore_profiles_dir(before))
    return folder


def _restore_profiles_dir(before: str | None) -> None:
    if before is None:
        os.environ.pop("DBT_PROFILES_DIR", None)
    else:
        os.environ["DBT_PROFILES_DIR"] = before


def _be_quiet(context: typer.Context, wanted: bool) -> bool:
    before = _IS_QUIET.set(wanted)
    context.call_on_close(lambda: _IS_QUIET.reset(before))
    return wanted


# What every command takes beside its own options; their callbacks do all that they do.
ProfilesDir = Annotated[
    Path | None,
    typer.Option(
        "--profiles-dir",
        callback=_look_for_profiles_in,
        help="Folder of profiles.yml; that of dbt by default.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        callback=_be_quiet,
        help="Print only what is asked for or wrong.",
    ),
]


def is_quiet() -> bool:
    """Whether the command that runs shall say only what it was asked for, and what is wrong."""
    return _IS_QUIET.get()


class SafeConsole(Console):
    """A console that shows names and values as they are: a terminal obeys nothing within them.

    Markup is off unless it is asked for; then whatever comes from outside must be escaped.
    """

    def __init__(
        self,
        *,
        stderr: bool = False,
        soft_wrap: bool = False,
        markup: bool = False,
        quiet: bool = False,
    ) -> None:
        super().__init__(
            stderr=stderr,
            soft_wrap=soft_wrap,
            markup=markup,
            quiet=quiet,
            highlight=False,
            emoji=False,
        )

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text, wherever it stands (a cell of a table too), as it is shown."""
        return super().render_str(printable(text), **options)


def say(text: str, *, err: bool = False) -> None:
    """Print a line; a terminal obeys nothing within it."""
    typer.echo(printable(text), err=err)


def note(text: str) -> None:
    """Print what was done and what comes next, unless that is not wanted."""
    if not is_quiet():
        say(text)


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
