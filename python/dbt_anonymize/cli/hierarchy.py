"""The commands ``dbt-anonymize hierarchy …``: build, import and check hierarchy seeds."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from dbt_anonymize.cli.common import (
    Quiet,
    RowFormat,
    SafeConsole,
    errors_without_traceback,
    note,
    say,
    show_rows,
)
from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.hierarchies import arx
from dbt_anonymize.hierarchies.dates import GRANULARITIES, date_intervals
from dbt_anonymize.hierarchies.groups import explicit_groups, ordered_groups
from dbt_anonymize.hierarchies.intervals import cut_intervals, equal_width_intervals
from dbt_anonymize.hierarchies.model import Hierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.priority import priority_by_frequency, priority_by_order
from dbt_anonymize.hierarchies.quantiles import quantile_intervals
from dbt_anonymize.hierarchies.redaction import all_codes, redact_codes
from dbt_anonymize.hierarchies.rules import is_nested, violations
from dbt_anonymize.hierarchies.seed_csv import read_column, read_rows, read_table, write_hierarchy
from dbt_anonymize.output import Format

app = typer.Typer(
    name="hierarchy",
    help="Build, import and check generalization hierarchies (dbt seeds).",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Output = Annotated[Path, typer.Option("--output", "-o", help="CSV file (a dbt seed) to write.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]
DataFile = Annotated[Path, typer.Option("--from", help="CSV file with a header row.")]
MaybeDataFile = Annotated[Path | None, typer.Option("--from", help="CSV file with a header row.")]
Column = Annotated[str, typer.Option(help="Column of the file that holds the values.")]
MaybeColumn = Annotated[str | None, typer.Option(help="Column of the file that holds the values.")]
Lower = Annotated[str | None, typer.Option(help="Lower end of the range, part of it.")]
Upper = Annotated[str | None, typer.Option(help="Upper end of the range, not part of it.")]
Merge = Annotated[
    str | None,
    typer.Option(help="Further levels: how many neighbours become one at each, such as 2,2,2."),
]


@app.command()
def intervals(
    *,
    output: Output,
    lower: Lower = None,
    upper: Upper = None,
    widths: Annotated[
        str | None, typer.Option(help="Width of each level, the first the leaf: 1,3,5.")
    ] = None,
    cuts: Annotated[
        str | None, typer.Option(help="Or: cut points of the leaves, ends included: 0,18,40,120.")
    ] = None,
    merge: Merge = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Build intervals of equal [b]--widths[/b], or between [b]--cuts[/b]."""

    def build() -> Hierarchy:
        factors = _ints(merge, option="--merge")
        if cuts is not None and (lower, upper, widths) == (None, None, None):
            return cut_intervals(cuts.split(","), merge=factors)
        if cuts is None and lower is not None and upper is not None and widths is not None:
            return equal_width_intervals(lower, upper, widths.split(","), merge=factors)
        raise HierarchyError(
            "intervals needs either --cuts, or --lower, --upper and --widths; got another mixture."
        )

    _build(build, output, force=force)


@app.command()
def quantiles(
    *,
    output: Output,
    file: DataFile,
    column: Column,
    lower: Annotated[str, typer.Option(help="Lower end of the range, below all data.")],
    upper: Annotated[str, typer.Option(help="Upper end of the range, above all data.")],
    leaves: Annotated[int, typer.Option(help="Number of leaf intervals.")],
    decimals: Annotated[int, typer.Option(help="Decimals to which cut points are rounded.")],
    merge: Merge = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Build intervals that hold about equally many values of a column."""
    _build(
        lambda: quantile_intervals(
            read_column(file, column),
            lower,
            upper,
            leaves=leaves,
            decimals=decimals,
            merge=_ints(merge, option="--merge"),
        ),
        output,
        force=force,
    )


@app.command()
def groups(
    *,
    output: Output,
    file: MaybeDataFile = None,
    column: MaybeColumn = None,
    sizes: Annotated[
        str | None, typer.Option(help="Sizes of ordered groups, level by level: 3,2.")
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Or: a named group and its values, NAME=A,B,C; repeat it per group."),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Build groups of neighbours in the order of a file, or named groups."""

    def build() -> Hierarchy:
        if group and file is None and column is None and sizes is None:
            return explicit_groups([_named_groups(group)])
        if not group and file is not None and column is not None and sizes is not None:
            values = list(dict.fromkeys(read_column(file, column)))
            return ordered_groups(values, _ints(sizes, option="--sizes"))
        raise HierarchyError(
            "groups needs either --group, or --from, --column and --sizes; got another mixture."
        )

    _build(build, output, force=force)


@app.command()
def redaction(
    *,
    output: Output,
    file: MaybeDataFile = None,
    column: MaybeColumn = None,
    alphabet: Annotated[str | None, typer.Option(help="Characters that codes may have.")] = None,
    length: Annotated[
        int | None, typer.Option(help="Instead of a file: all codes of this length.")
    ] = None,
    prefix: Annotated[bool, typer.Option("--prefix", help="Redact from the left.")] = False,
    counts: Annotated[
        str | None, typer.Option(help="Redacted characters per level: 1,2,4. Default: one more.")
    ] = None,
    symbol: Annotated[str, typer.Option(help="What stands for a redacted character.")] = "*",
    pad: Annotated[str | None, typer.Option(help="Character that lengthens short codes.")] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Redact more and more characters of codes: 12345, 1234*, 123**."""

    def build() -> Hierarchy:
        if file is not None and column is not None and length is None:
            values = tuple(sorted(set(read_column(file, column))))
        elif file is None and column is None and length is not None and alphabet is not None:
            values = all_codes(alphabet, length)
        else:
            raise HierarchyError(
                "redaction needs either --from and --column, or --alphabet and --length; "
                "got another mixture."
            )
        return redact_codes(
            values,
            end="prefix" if prefix else "suffix",
            counts=None if counts is None else _ints(counts, option="--counts"),
            symbol=symbol,
            pad=pad,
            alphabet=alphabet,
        )

    _build(build, output, force=force)


@app.command()
def dates(
    *,
    output: Output,
    first: Annotated[datetime, typer.Option(formats=["%Y-%m-%d"], help="First day to hold.")],
    last: Annotated[datetime, typer.Option(formats=["%Y-%m-%d"], help="Last day to hold.")],
    granularities: Annotated[
        str, typer.Option(help=f"From fine to coarse, some of {','.join(GRANULARITIES)}.")
    ] = "month,quarter,year",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Build units of the calendar."""
    _build(
        lambda: date_intervals(first.date(), last.date(), granularities.split(",")),
        output,
        force=force,
    )


@app.command()
def priority(
    *,
    output: Output,
    file: DataFile,
    column: Column,
    in_order: Annotated[
        bool,
        typer.Option("--in-order", help="Suppress in the order of the file, not rarest first."),
    ] = False,
    levels: Annotated[
        int | None, typer.Option(help="Number of levels, root included. Default: one per value.")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Turn values into * one after the other, the rarest first."""

    def build() -> Hierarchy:
        values = read_column(file, column)
        if in_order:
            return priority_by_order(list(dict.fromkeys(values)), levels=levels)
        return priority_by_frequency(values, levels=levels)

    _build(build, output, force=force)


@app.command(name="import-arx")
def import_arx(
    file: Annotated[Path, typer.Argument(help="Hierarchy file of ARX: no header.")],
    *,
    output: Output,
    delimiter: Annotated[str, typer.Option(help="Separates cells.")] = ";",
    as_intervals: Annotated[
        bool, typer.Option("--as-intervals", help="Values are numbers or dates: make intervals.")
    ] = False,
    nested: Annotated[
        bool, typer.Option("--nested/--no-nested", help="Whether a label has one parent.")
    ] = True,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Import a hierarchy file of the ARX anonymization tool."""

    def build() -> Hierarchy:
        if len(delimiter) != 1:
            raise HierarchyError("--delimiter must be one character. Correct it.")
        hierarchy = arx.read_arx(file, delimiter=delimiter, nested=nested)
        return arx.to_interval_hierarchy(hierarchy, nested=nested) if as_intervals else hierarchy

    _build(build, output, force=force)


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Hierarchy seeds.")],
    nested: Annotated[
        bool, typer.Option("--nested/--no-nested", help="Whether a label must have one parent.")
    ] = True,
    form: RowFormat = Format.table,
    quiet: Quiet = False,
) -> None:
    """Check hierarchy seeds; exit code 1 if a rule is broken, 2 if a file cannot be read.

    CSV and JSON have a row for each file that is sound, and one for each broken rule.
    """
    console = SafeConsole(soft_wrap=True, markup=True, quiet=form is not Format.table)
    codes, rows = [0], list[tuple[Any, ...]]()
    for file in files:
        try:
            table = read_table(file)
        except HierarchyError as error:
            say(str(error), err=True)
            codes.append(2)
            continue
        broken = [str(violation) for violation in violations(table, nested=nested)]
        about = (str(file), table.kind, len(table.rows), table.levels)
        rows += [(*about, text) for text in broken] or [(*about, None)]
        if not broken and not quiet:
            console.print(
                f"[green]ok[/green] {escape(str(file))}: {table.kind}, {len(table.rows)} rows, "
                f"{table.levels} levels"
            )
        if broken:
            console.print(f"[red]broken[/red] {escape(str(file))}:")
            for text in broken:
                console.print(f"  - {escape(text)}")
            codes.append(1)
    if form is not Format.table:
        show_rows(("file", "kind", "rows", "levels", "broken_rule"), rows, form)
    raise typer.Exit(max(codes))


def _build(build: Callable[[], Hierarchy], output: Path, *, force: bool) -> None:
    with errors_without_traceback():
        if output.exists() and not force:
            raise HierarchyError(f"{output} exists and is kept. Replace it with --force.")
        if not output.parent.is_dir():
            raise HierarchyError(f"the folder {output.parent} must exist. Create it first.")
        replaced = _columns(output)
        hierarchy = build()
        write_hierarchy(hierarchy, output)
    leaves = len(hierarchy.labels[0])
    kind = "intervals" if isinstance(hierarchy, IntervalHierarchy) else "values"
    nesting = "nested" if is_nested(hierarchy) else "not nested: declare nested: false"
    note(f"Wrote {output}: {leaves} {kind}, {hierarchy.levels} levels, {nesting}.")
    if replaced and replaced != _columns(output):
        say(
            "Its columns changed. Correct `kind` and `levels` in the spec and in the tests of the "
            f"seed, then load it anew: `dbt seed --full-refresh --select {output.stem}`."
        )


def _columns(file: Path) -> tuple[str, ...]:
    """Return the header of a CSV file; empty if it cannot be read."""
    try:
        rows = read_rows(file) if file.exists() else []
    except HierarchyError:
        return ()
    return tuple(rows[0].cells) if rows else ()


def _ints(text: str | None, *, option: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")] if text is not None else []
    except ValueError:
        raise HierarchyError(f"{option} must be whole numbers such as 2,2,2. Correct it.") from None


def _named_groups(options: list[str]) -> dict[str, list[str]]:
    named: dict[str, list[str]] = {}
    for option in options:
        name, equals, members = option.partition("=")
        values = next(csv.reader([members], skipinitialspace=True), [])
        if not equals or not name or not values:
            raise HierarchyError("--group must be NAME=A,B,C with at least one value. Correct it.")
        named.setdefault(name, []).extend(values)
    return named
