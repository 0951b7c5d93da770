"""The command ``dbt-anonymize audit-table``: what a published table tells of its hidden cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import (
    FAILED_CHECK,
    RowFormat,
    machine_readable_stdout,
    say,
    show_rows,
    spinner,
)
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.output import Format
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from dbt_anonymize.extensions.tables.hidden import Interval


@on_target
def audit_table(
    place: Place,
    model: Annotated[str, typer.Argument(help="Model, seed or snapshot, as in ref().")],
    *,
    dimension: Annotated[
        list[str], typer.Option(help="Column that tells the cells apart; repeat it.")
    ],
    measure: Annotated[str, typer.Option(help="Column with the counts, NULL where hidden.")],
    minimum_frequency: Annotated[
        int,
        typer.Option(min=2, help="A hidden cell must be able to have as many, or so many fewer."),
    ] = 5,
    total: Annotated[
        str | None,
        typer.Option(help="Label of the total over a dimension; NULL by default."),
    ] = None,
    least_hidden: Annotated[
        int,
        typer.Option(
            min=0, help="Least count of a hidden cell: 1 if zeros are shown, 0 if hidden as well."
        ),
    ] = 1,
    other: Annotated[
        list[str] | None,
        typer.Option(help="Further column, which does not follow from the counts; repeat it."),
    ] = None,
    within: Annotated[
        float,
        typer.Option(min=0, help="Largest difference of a published count from the true one."),
    ] = 0.0,
    form: RowFormat = Format.table,
) -> None:
    """Compute what a table of counts tells of the cells that it hides: an interval for each.

    All published cells are taken together. Exits with 1 if a hidden cell cannot have
    `--minimum-frequency`, or if its interval is narrower than one less.
    """
    from dbt_anonymize.extensions.tables.hidden import read_intervals  # noqa: PLC0415

    with machine_readable_stdout(form), place.reading() as warehouse, spinner("Auditing"):
        found = read_intervals(
            warehouse,
            model,
            dimension,
            measure,
            total=total,
            within=within,
            least_hidden=least_hidden,
            other=other or [],
        )
    told = [one for one in found if not one.hides(minimum_frequency)]
    if form is not Format.table:
        columns = (*dimension, "lowest", "highest", "is_hidden_enough")
        rows = ((*one.labels, one.lowest, one.highest, one not in told) for one in found)
        show_rows(columns, rows, form)
    else:
        _say(model, found, told, minimum_frequency)
    if told:
        raise typer.Exit(FAILED_CHECK)


def _say(model: str, found: list[Interval], told: list[Interval], minimum: int) -> None:
    exactly = sum(one.lowest == one.highest for one in found)
    say(f"{model}: {pluralized(len(found), 'cell')} hidden, {exactly:,} of them told exactly.")
    if told:
        say(
            f"{pluralized(len(told), 'hidden cell')} must be able to have {minimum}, within an "
            f"interval at least {minimum - 1} wide, given all other cells; hide more, or show "
            "less. `--format csv` lists the intervals."
        )
    elif found:
        widths = [one.highest - one.lowest for one in found]
        say(f"Each may have {minimum}; the narrowest interval is {min(widths):g} wide.")
