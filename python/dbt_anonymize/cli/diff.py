"""The command ``dbt-anonymize diff``: privacy and quality before and after a change."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import (
    FAILED_CHECK,
    Name,
    SafeConsole,
    figures_table,
    rows_alone,
    say,
    show_rows,
)
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.literals import markdown
from dbt_anonymize.output import Format

if TYPE_CHECKING:
    from dbt_anonymize.project.differences import Comparison
    from dbt_anonymize.project.register import Release
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec


class Form(StrEnum):
    """How differences are shown."""

    table = "table"
    md = "md"
    json = "json"
    csv = "csv"


@on_target
def diff(
    place: Place,
    name: Name,
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
    from dbt_anonymize.project.differences import Comparison  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.register import (  # noqa: PLC0415
        before_and_after,
        compose,
        read_file,
    )

    number = int(against) if against is not None and against.isdecimal() else None
    with rows_alone(form):
        file = None if against is None or number is not None else read_file(Path(against), name)
        spec = place.spec(name)
        with place.warehouse() as warehouse:
            _require_current(place, warehouse, spec)
            releases, after = before_and_after(warehouse, spec)
            before = file or _earlier(spec, releases, after, number)
            composed = None if file else compose(warehouse, spec, before, after)
            comparison = Comparison(spec, before, after, composed)
    _show(comparison, form)
    if comparison.broken:
        for one in comparison.broken:
            say(f"{name}: {one.text}.", err=True)
        raise typer.Exit(FAILED_CHECK)


def _require_current(place: Place, warehouse: Warehouse, spec: Spec) -> None:
    """Stop where the results are not of the spec as it is: nothing could be said of the change."""
    from dbt_anonymize.project.failures import last_failure  # noqa: PLC0415
    from dbt_anonymize.project.results import results_are_current  # noqa: PLC0415

    failure = last_failure(place.project, warehouse.manifest, spec.name)
    if failure and not failure.has_results:
        raise WarehouseError(failure.text)
    if not results_are_current(warehouse, spec):
        raise WarehouseError(
            f"{spec.name}: the results must be of the spec as it is, to be compared; it changed "
            "since. Run `dbt-anonymize generate` and `dbt build`."
        )


def _earlier(
    spec: Spec, releases: Sequence[Release], after: Release, number: int | None
) -> Release:
    """Return the release of a number, by default the last one before."""
    found = [one for one in releases if number in {None, one.release}]
    if found:
        return found[-1]
    known = f"1 to {releases[-1].release}" if releases else "none"
    which = "an earlier release" if number is None else f"release {number}"
    raise WarehouseError(
        f"{spec.name}: {which} must be in the register, to be compared with {after.shown}; it has "
        f"{known} before that. See `dbt-anonymize results {spec.name} --history`, or name a file "
        "with --against."
    )


def _show(comparison: Comparison, form: Form) -> None:
    from dbt_anonymize.project.differences import shown  # noqa: PLC0415

    name = comparison.spec.name
    rows = [*comparison.differences, *comparison.counts]
    if form in {Form.json, Form.csv}:
        columns = ["anonymization", "against", "figure", "before", "after", "tolerance"]
        against = (name, comparison.before.release)
        show_rows(
            [*columns, "is_broken"],
            [(*against, r.figure, r.before, r.after, r.tolerance, r.is_broken) for r in rows],
            Format(form.value),
        )
        return
    verdicts = {True: "broken", False: "holds"}
    lines = [
        (
            one.figure,
            shown(one.before),
            shown(one.after),
            "" if one.tolerance is None else f"{shown(one.tolerance)}, {verdicts[one.is_broken]}",
        )
        for one in comparison.differences
    ]
    headings = ("figure", "before", "after", "tolerance")
    if form is Form.md:
        say(f"### {name}\n\n| {' | '.join(headings)} |\n| --- | ---: | ---: | --- |")
        for line in lines:
            say(f"| {' | '.join(markdown(cell).replace('|', '&#124;') for cell in line)} |")
        say("\n" + "\n".join(f"- {markdown(sentence)}" for sentence in comparison.sentences))
        return
    console = SafeConsole()
    console.print(f"{name}: {comparison.sentences[0]}")
    table = figures_table((), headings)
    for one, line in zip(comparison.differences, lines, strict=True):
        table.add_row(*line, style="bold red" if one.is_broken else None)
    console.print(table)
    for sentence in comparison.sentences[1:]:
        console.print(sentence)
