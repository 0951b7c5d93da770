"""Options, exit codes, safe printing and errors without a traceback, shared by all commands."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.text import Text

from dbt_anonymize.cli.wrapping import wrapped
from dbt_anonymize.errors import AnonymizeError
from dbt_anonymize.literals import printable
from dbt_anonymize.output import Format, show

if TYPE_CHECKING:
    from rich.table import Table

FAILED_CHECK = 1
BAD_INPUT = 2

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="Anonymizations; all by default.", show_default=False),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        help="Column that stays readable, at some level below *; may be repeated, or with commas."
    ),
]
Name = Annotated[str, typer.Argument(help="Anonymization.", show_default=False)]
# Argument of commands that only read.
OnlyName = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]", help="Anonymization; the only one by default.", show_default=False
    ),
]
DbtExecutable = Annotated[
    Path | None,
    typer.Option("--dbt", help="Executable of dbt; the one beside this command by default."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")]
RowFormat = Annotated[Format, typer.Option("--format", help="Format of rows; json is JSON lines.")]


# Used by groups of commands too; `-h` is what people try first.
HELP = {"help_option_names": ["-h", "--help"]}
_IS_QUIET = ContextVar("is_quiet", default=False)


def _set_profiles_dir(context: typer.Context, folder: Path | None) -> Path | None:
    """Pass the folder to dbt, as its own option does, until the command ends."""
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


def _set_quiet(context: typer.Context, quiet: bool) -> bool:
    before = _IS_QUIET.set(quiet)
    context.call_on_close(lambda: _IS_QUIET.reset(before))
    return quiet


# Options of every command, which take effect in their callbacks.
ProfilesDir = Annotated[
    Path | None,
    typer.Option(
        "--profiles-dir",
        callback=_set_profiles_dir,
        help="Folder of profiles.yml; that of dbt by default.",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        callback=_set_quiet,
        help="Print only what is asked for or wrong.",
    ),
]


def is_quiet() -> bool:
    """Tell whether to print only requested output and errors."""
    return _IS_QUIET.get()


class SafeConsole(Console):
    """A console that escapes terminal control characters in names and values.

    Markup is off by default; with it, text from outside must be escaped. Texts are wrapped between
    words only, and never within a command, so that they can be copied.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"markup": False, "highlight": False, "emoji": False, **options})

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts and tables; a text alone is wrapped, unless lines are to be soft."""
        is_soft = options.pop("soft_wrap", self.soft_wrap)
        if not is_soft and len(objects) == 1 and isinstance(objects[0], str):
            lines = wrapped(printable(objects[0]), self.width)
            objects, is_soft = ("\n".join(lines),), True
        super().print(*objects, soft_wrap=is_soft, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text, or a cell of a table, as it is printed."""
        return super().render_str(printable(text), **options)


def figures_table(figures: Sequence[str], texts: Sequence[str]) -> Table:
    """Return an empty table of numbers and texts; without vertical lines it fits 80 columns."""
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for heading in figures:
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in texts:
        table.add_column(heading)
    return table


def say(text: str, *, err: bool = False) -> None:
    """Print a line without terminal control characters."""
    typer.echo(printable(text), err=err)


def note(text: str) -> None:
    """Print a line about progress or the next step, unless quiet."""
    if not is_quiet():
        say(text)


@contextlib.contextmanager
def spinner(activity: str) -> Iterator[Callable[[object], None]]:
    """Show a spinner on a terminal; yield the function that updates its state."""
    with SafeConsole(stderr=True, quiet=is_quiet()).status(f"{activity} ...") as status:
        yield lambda state: status.update(f"{activity}: {state} ...")


@contextlib.contextmanager
def machine_readable_stdout(form: Enum) -> Iterator[TextIO]:
    """Yield stdout; for machine-readable formats, send dbt's output to stderr."""
    out = sys.stdout
    with contextlib.ExitStack() as stack:
        if form.value in {Format.csv, Format.json}:
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield out


def show_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    form: Format,
    *,
    out: TextIO | None = None,
) -> None:
    """Print rows for programs, as CSV or JSON lines; decimals become floats."""
    batches = (
        [tuple(float(cell) if isinstance(cell, Decimal) else cell for cell in row)] for row in rows
    )
    show(out or sys.stdout, columns, batches, form)


class Lines:
    """Logger of an evaluation that prints to the terminal."""

    def info(self, text: str) -> None:
        """Show progress, unless quiet."""
        note(text)

    def warning(self, text: str) -> None:
        """Show a warning."""
        say(text, err=True)


@contextlib.contextmanager
def errors_without_traceback() -> Iterator[None]:
    """Print an error of ours, or of a file, as a message; exit with the code of bad input."""
    try:
        yield
    except BrokenPipeError:  # the reader of the pipe has gone: end silently
        raise
    except OSError as error:
        if error.filename is None:
            raise
        say(f"{error.filename}: {error.strerror}. Correct the path or its rights.", err=True)
        raise typer.Exit(BAD_INPUT) from None
    except AnonymizeError as error:
        say(str(error), err=True)
        raise typer.Exit(BAD_INPUT) from None


def write_or_say(text: str, output: Path | None) -> None:
    """Write a document into a file; print it without one."""
    if output is None:
        say(text.rstrip("\n"))
    else:
        output.write_text(text, encoding="utf-8")
        note(f"{output}: written.")


def require_consent(question: str, declined: str, *, yes: bool) -> None:
    """Ask, unless ``yes``; stop if the answer is no or there is no terminal."""
    if yes or (sys.stdin.isatty() and typer.confirm(question)):
        return
    say(f"{declined} Add --yes if nobody can be asked.", err=True)
    raise typer.Exit(BAD_INPUT)
