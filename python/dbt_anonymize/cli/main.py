"""The command `dbt-anonymize`: the only place that prints.

Exit codes: 0 fine, 1 a check failed, 2 bad input.
"""

from __future__ import annotations

import atexit
import gc
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dbt_anonymize.cli.common import HELP, errors_without_traceback
from dbt_anonymize.extension import Command, Stage
from dbt_anonymize.extension import commands as registered

# Commands of the core; each is a module of this package.
_CORE = (
    Command("generate", "generate", Stage.build),
    Command("build", "build", Stage.build),
    Command("evaluate", "evaluate", Stage.build),
    Command("publish", "publish", Stage.build),
    Command("results", "results", Stage.read),
    Command("verify", "verify", Stage.read),
    Command("vault", "vault", Stage.people),
)

# dbt makes a million lasting objects; searching them for garbage would take a tenth of a command.
_GC_THRESHOLD = 100_000


@dataclass(frozen=True)
class _Entry:
    """A command with the full name of its module."""

    command: Command
    module: str

    @property
    def function(self) -> Any:
        """The function to run; one named like a Python keyword, such as `try`, ends with _."""
        name = self.command.name.split()[-1].replace("-", "_")
        return getattr(import_module(self.module), f"{name}_" if iskeyword(name) else name)


@cache
def commands() -> dict[str, str]:
    """Return the module of each command, in the order in which they are listed."""
    return {name: entry.module for name, entry in _entries().items() if " " not in name}


@cache
def _entries() -> dict[str, _Entry]:
    entries = [_Entry(command, f"dbt_anonymize.cli.{command.module}") for command in _CORE]
    entries += [_Entry(command, f"{of.package}.{command.module}") for of, command in registered()]
    stages = [*Stage]
    entries.sort(key=lambda entry: stages.index(entry.command.stage))
    return {entry.command.name: entry for entry in entries}


class _LazyCommands(TyperGroup):
    """Imports a command when it is needed: --help of one loads no other."""

    # Extensions that cannot be loaded are reported like errors of commands.
    @errors_without_traceback()
    def list_commands(self, ctx: Any) -> list[str]:
        return [*commands()]

    @errors_without_traceback()
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        # Suggestions for a misspelled name need all commands.
        names = [cmd_name] if cmd_name in commands() else self.list_commands(ctx)
        for name in names:
            if name not in self.commands:
                self.add_command(_command(name), name)
        return self.commands.get(cmd_name)


def _command(name: str) -> Any:
    entry = _entries()[name]
    app: typer.Typer | None = getattr(import_module(entry.module), "app", None)
    if app is None:
        app = typer.Typer(context_settings=HELP, add_completion=False, rich_markup_mode="rich")
        app.command(name)(entry.function)
    for path, member in _entries().items():
        group, _, member_name = path.partition(" ")
        if member_name and group == name:
            app.command(member_name)(member.function)
    command = typer.main.get_command(app)
    command.name = name
    command.rich_help_panel = entry.command.stage.value  # type: ignore[attr-defined]
    return command


app = typer.Typer(
    cls=_LazyCommands,
    help="Test-driven anonymization of tables about people, with dbt.",
    no_args_is_help=True,
    context_settings=HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 (takes a while)

        typer.echo(f"dbt-anonymize {version('dbt-anonymize')}")
        raise typer.Exit


@app.callback()
def _main(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Declare, generate and look at anonymizations; `dbt build` does the work."""
    gc.set_threshold(_GC_THRESHOLD)
    atexit.register(gc.freeze)  # as would the last search, when all memory is freed anyway
