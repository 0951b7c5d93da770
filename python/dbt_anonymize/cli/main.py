"""The command `dbt-anonymize`: the only place that prints.

Exit codes: 0 fine, 1 a check failed, 2 bad input.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from dbt_anonymize.cli.common import HELP
from dbt_anonymize.cli.dossier import dossier
from dbt_anonymize.cli.epsilon import epsilon
from dbt_anonymize.cli.generate import generate
from dbt_anonymize.cli.hierarchy import app as hierarchy_app
from dbt_anonymize.cli.init import init
from dbt_anonymize.cli.profile import profile
from dbt_anonymize.cli.relink import relink
from dbt_anonymize.cli.report import report
from dbt_anonymize.cli.results import results
from dbt_anonymize.cli.search import search
from dbt_anonymize.cli.verify import verify

app = typer.Typer(
    help="Test-driven anonymization of tables about people, with dbt.",
    no_args_is_help=True,
    context_settings=HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.add_typer(hierarchy_app, name="hierarchy", help="Make and check generalization hierarchies.")


def _show_version(wanted: bool) -> None:
    if wanted:
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


_COMMANDS = (generate, search, relink, verify, results, report, dossier, init, epsilon, profile)
for _command in _COMMANDS:
    app.command()(_command)
