"""The command `dbt-anonymize`: the only place that prints.

Exit codes: 0 fine, 1 a check failed, 2 bad input.
"""

from __future__ import annotations

import gc
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dbt_anonymize.cli.common import HELP

# A module of this package each, in the order in which they are listed. It has a function of its
# name, or is a group of commands with an `app`.
COMMANDS = (
    "new",
    "doctor",
    "generate",
    "build",
    "evaluate",
    "publish",
    "search",
    "freeze",
    "erase",
    "rename",
    "remove",
    "relink",
    "vault",
    "verify",
    "results",
    "diff",
    "report",
    "dossier",
    "try",
    "init",
    "epsilon",
    "profile",
    "hierarchy",
    "schema",
)


# dbt makes a million objects that stay: to look for garbage among them is a tenth of a command.
_OBJECTS_BEFORE_A_LOOK = 100_000


class _LazyCommands(TyperGroup):
    """Imports a command when it is needed: each answers --help without the others."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        # To suggest what was meant, all must be known.
        wanted = [cmd_name] if cmd_name in COMMANDS else self.list_commands(ctx)
        for name in wanted:
            if name not in self.commands:
                self.add_command(_command(name), name)
        return self.commands.get(cmd_name)


def own_name(name: str) -> str:
    """Return the name of a command in Python, in which `try` means something else."""
    return f"{name}_" if iskeyword(name) else name


def _command(name: str) -> Any:
    own = own_name(name)
    module = import_module(f"dbt_anonymize.cli.{own}")
    if hasattr(module, "app"):
        return typer.main.get_command(module.app)
    alone = typer.Typer(context_settings=HELP, add_completion=False, rich_markup_mode="rich")
    alone.command(name)(getattr(module, own))
    return typer.main.get_command(alone)


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
