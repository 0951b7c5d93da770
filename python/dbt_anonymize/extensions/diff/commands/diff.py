"""The command ``dbt-anonymize diff``: privacy and quality before and after a change."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import (
    FAILED_CHECK,
    OnlyName,
    SafeConsole,
    figures_table,
    machine_readable_stdout,
    say,
    show_rows,
)
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.literals import markdown
from dbt_anonymize.output import Format

if TYPE_CHECKING:
    from dbt_anonymize.extensions.diff.differences import Comparison


class Form(StrEnum):
    """Format of differences."""

    table = "table"
    md = "md"
    json = "json"
    csv = "csv"


@on_target
def diff(
    place: Place,
    name: OnlyName = None,
    *,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE",
            help="Number of a release, or a file that `results --history --format json` wrote; "
            "the release before by default.",
        ),
    ] = None,
    form: Annotated[
        Form,
        typer.Option("--format", help="md is for a pull request; json is JSON lines."),
    ] = Form.table,
) -> None:
    """Compare what the last `dbt build` chose with an earlier release: privacy, quality, people.

    Exits with 1 if a figure is worse than `tolerance` of the spec allows.
    """
    from dbt_anonymize.extensions.diff.differences import compare  # noqa: PLC0415 (keeps --help fast)

    with machine_readable_stdout(form):
        spec = place.only_spec(name)
        with place.reading() as warehouse:
            comparison = compare(place.project, warehouse, spec, against)
    _show(comparison, form)
    if comparison.broken:
        for broken in comparison.broken:
            say(f"{spec.name}: {broken.text}.", err=True)
        raise typer.Exit(FAILED_CHECK)


def _show(comparison: Comparison, form: Form) -> None:
    from dbt_anonymize.extensions.diff.differences import HEADINGS, VALUES  # noqa: PLC0415

    name = comparison.spec.name
    rows = [*comparison.differences, *comparison.counts]
    if form in {Form.json, Form.csv}:
        columns = ["anonymization", "against", *VALUES]
        against = (name, comparison.before.release)
        show_rows(
            columns, [(*against, *difference.cells) for difference in rows], Format(form.value)
        )
        return
    if form is Form.md:
        say(f"### {name}\n\n| {' | '.join(HEADINGS)} |\n| --- | ---: | ---: | --- |")
        for line in comparison.lines:
            say(f"| {' | '.join(markdown(cell).replace('|', '&#124;') for cell in line)} |")
        say("\n" + "\n".join(f"- {markdown(sentence)}" for sentence in comparison.sentences))
        return
    console = SafeConsole()
    console.print(f"{name}: {comparison.sentences[0]}")
    table = figures_table((), HEADINGS)
    for difference, line in zip(comparison.differences, comparison.lines, strict=True):
        table.add_row(*line, style="bold red" if difference.is_broken else None)
    console.print(table)
    for sentence in comparison.sentences[1:]:
        console.print(sentence)
