"""The command `dbt-anonymize`: the only place that prints.

Exit codes: 0 fine, 1 a check failed, 2 bad input.
"""

from __future__ import annotations

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

# Those of the core; each is a module of this package.
_CORE = (
    Command("generate", "generate", Stage.build),
    Command("build", "build", Stage.build),
    Command("evaluate", "evaluate", Stage.build),
    Command("publish", "publish", Stage.build),
    Command("results", "results", Stage.read),
    Command("verify", "verify", Stage.read),
    Command("vault", "vault", Stage.people),
    Command("profile", "profile", Stage.tools),
    Command("epsilon", "epsilon", Stage.tools),
    Command("schema", "schema", Stage.tools),
)

# dbt makes a million objects that stay: to look for garbage among them is a tenth of a command.
_OBJECTS_BEFORE_A_LOOK = 100_000


@dataclass(frozen=True)
class _Listed:
    """A command with the whole name of its module."""

    command: Command
    module: str

    @property
    def function(self) -> Any:
        """The function to run; one named like a keyword of Python, as `try`, ends with _ there."""
        own = self.command.name.split()[-1].replace("-", "_")
        return getattr(import_module(self.module), f"{own}_" if iskeyword(own) else own)


@cache
def commands() -> dict[str, str]:
    """Return the module of each command, in the order in which they are listed."""
    return {name: one.module for name, one in _listed().items() if " " not in name}


@cache
def _listed() -> dict[str, _Listed]:
    added = [_Listed(one, f"{of.package}.{one.module}") for of, one in registered()]
    own = [_Listed(one, f"dbt_anonymize.cli.{one.module}") for one in _CORE]
    stages = [*Stage]
    ordered = sorted((*own, *added), key=lambda one: stages.index(one.command.stage))
    return {one.command.name: one for one in ordered}


class _LazyCommands(TyperGroup):
    """Imports a command when it is needed: each answers --help without the others."""

    # Extensions that cannot be loaded are said as errors of commands are.
    @errors_without_traceback()
    def list_commands(self, ctx: Any) -> list[str]:
        return [*commands()]

    @errors_without_traceback()
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        # To suggest what was meant, all must be known.
        wanted = [cmd_name] if cmd_name in commands() else self.list_commands(ctx)
        for name in wanted:
            if name not in self.commands:
                self.add_command(_command(name), name)
        return self.commands.get(cmd_name)


def _command(name: str) -> Any:
    listed = _listed()[name]
    app: typer.Typer | None = getattr(import_module(listed.module), "app", None)
    if app is None:
        app = typer.Typer(context_settings=HELP, add_completion=False, rich_markup_mode="rich")
        app.command(name)(listed.function)
    for joining, one in _listed().items():
        group, _, own = joining.partition(" ")
        if own and group == name:
            app.command(own)(one.function)
    found = typer.main.get_command(app)
    found.name = name
    found.rich_help_panel = listed.command.stage.value  # type: ignore[attr-defined]
    return found


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
    gc.set_threshold(_OBJECTS_BEFORE_A_LOOK)
