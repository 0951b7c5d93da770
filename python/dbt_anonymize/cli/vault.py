"""The commands ``dbt-anonymize vault``: the owner of a vault."""

from __future__ import annotations

import typer

from dbt_anonymize.cli.common import HELP, Names, Yes, note, require_consent
from dbt_anonymize.cli.place import Place, on_target

app = typer.Typer(
    help="Look after the vault, which belongs to one project and target.",
    no_args_is_help=True,
    context_settings=HELP,
    rich_markup_mode="rich",
)


@app.callback()
def _main() -> None:
    """Make it a group: there is one command so far."""


@app.command("adopt")
@on_target
def adopt(place: Place, names: Names = None, *, yes: Yes = False) -> None:
    """Take a vault over for this target, and anonymizations in it for the sources of their specs.

    Identifiers, tokens and the memory of releases go on from there: do it where the former target
    builds no more, or where the vault is of this target and does not say so.
    """
    from dbt_anonymize.project.vault_owner import take_over, takeovers  # noqa: PLC0415
    from dbt_anonymize.project.vault_places import require_vaults  # noqa: PLC0415

    specs = place.specs(names)
    with place.warehouse(writes_vault=True) as warehouse:
        require_vaults(warehouse)
        pending = list(takeovers(warehouse, specs))
        for takeover in pending:
            schema = takeover.table.without_identifier()
            before = takeover.before.title if takeover.before else "nobody that it remembers"
            note(f"{schema}: of {before}; becomes that of {takeover.after.title}.")
            sources = (f"  {row[2]}: of the source {row[3]}" for row in takeover.rows[1:])
            note("\n".join(sources))
        if not pending:
            note("The vault is of this target, and of these sources. Nothing to change.")
            return
        require_consent("Take it over?", "Nothing was written.", yes=yes)
        for takeover in pending:
            take_over(warehouse, takeover)
    note("Taken over. Next: `dbt build`.")
