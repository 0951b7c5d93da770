"""The commands ``dbt-anonymize hierarchy check``, ``preview`` and ``extend``, of seeds."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from dbt_anonymize.cli.common import (
    Quiet,
    RowFormat,
    SafeConsole,
    figures_table,
    note,
    say,
    show_rows,
)
from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders import extension
from dbt_anonymize.extensions.hierarchy_builders.commands.values import Values, from_anywhere
from dbt_anonymize.extensions.hierarchy_builders.reading import read_hierarchy
from dbt_anonymize.extensions.hierarchy_builders.rules import violations
from dbt_anonymize.hierarchies.bounds import parse_value
from dbt_anonymize.hierarchies.label_types import RULE, text_lines
from dbt_anonymize.hierarchies.model import Hierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.seed_csv import read_table, write_hierarchy
from dbt_anonymize.hierarchies.table import SeedTable
from dbt_anonymize.output import Format
from dbt_anonymize.pluralize import pluralized

SeedFile = Annotated[Path, typer.Argument(help="Hierarchy seed.")]


def check(
    files: Annotated[list[Path], typer.Argument(help="Hierarchy seeds.")],
    nested: Annotated[
        bool, typer.Option("--nested/--no-nested", help="Require one parent of each label.")
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
        misread, remark = ([], None) if broken else _misread_labels(file, table)
        broken += misread
        about = (str(file), table.kind, len(table.rows), table.levels)
        rows += [(*about, text) for text in broken] or [(*about, None)]
        if not broken and not quiet:
            console.print(
                f"[green]ok[/green] {escape(str(file))}: {table.kind}, {len(table.rows)} rows, "
                f"{table.levels} levels"
            )
        if remark and not quiet:
            console.print(escape(remark))
        if broken:
            console.print(f"[red]broken[/red] {escape(str(file))}:")
            for text in broken:
                console.print(f"  - {escape(text)}".replace("\n", "\n    "))
            codes.append(1)
    if form is not Format.table:
        show_rows(("file", "kind", "rows", "levels", "broken_rule"), rows, form)
    raise typer.Exit(max(codes))


def _misread_labels(file: Path, table: SeedTable) -> tuple[list[str], str | None]:
    """Return the rule that misread labels break, or a remark if no project declares types."""
    from dbt_anonymize.extensions.hierarchy_builders.misread_labels import misread_levels  # noqa: PLC0415 (keeps --help fast)

    levels = misread_levels(table)
    if not levels:
        return [], None
    from dbt_anonymize.extensions.hierarchy_builders.declared_types import declared_types  # noqa: PLC0415 (slow to import)

    misread = ", ".join(f"{column} for {kind}" for column, kind in levels.items())
    declared = declared_types(file)
    if declared is None:
        return [], text_labels_note(file.stem, table)
    if all(declared.is_text(column) for column in levels):
        return [], None
    return [f"{RULE}; it takes {misread}. {declared.remedy(table.kind, table.levels)}"], None


@from_anywhere
def preview(
    values: Values,
    file: SeedFile,
    *,
    most: Annotated[int, typer.Option(min=1, help="Labels to show of a level, the largest.")] = 8,
) -> None:
    """Show the labels of each level and what they hold: leaves, or records of a table."""
    hierarchy = read_hierarchy(file, nested=False)
    weights, missing = _weights(hierarchy, values if values.count else None)
    console = SafeConsole()
    unit = "record" if values.count else "leaf" if hasattr(hierarchy, "leaf") else "value"
    several = "leaves" if unit == "leaf" else None
    table = figures_table(("level", "labels", pluralized(2, unit, several)[2:]), ("label",))
    for level, labels in enumerate(hierarchy.labels, start=1):
        counts: Counter[str] = Counter()
        for label, weight in zip(labels, weights, strict=True):
            counts[label] += weight
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        for place, (label, count) in enumerate(ordered[:most]):
            first = (str(level), f"{len(ordered):,}") if place == 0 else ("", "")
            table.add_row(*first, f"{count:,}", label)
        if len(ordered) > most:
            rest = sum(count for _, count in ordered[most:])
            remaining = pluralized(len(ordered) - most, "other label")
            table.add_row("", "", f"{rest:,}", f"in {remaining}, the smallest {ordered[-1][1]:,}")
    console.print(table)
    if missing:
        console.print(
            f"{pluralized(missing, 'record')} have a value that it does not hold: "
            "`dbt-anonymize hierarchy extend` adds them."
        )


@from_anywhere
def extend(
    values: Values,
    file: SeedFile,
    *,
    into: Annotated[
        str | None, typer.Option(help="Label of level 1 that new values become part of.")
    ] = None,
) -> None:
    """Add the values of a column that a seed does not hold; every label that it has stays."""
    hierarchy = read_hierarchy(file, nested=False)
    before = len(hierarchy.labels[0])
    if into is not None and isinstance(hierarchy, IntervalHierarchy):
        raise HierarchyError("--into must be left out: intervals have places of their own.")
    extended = _extended(hierarchy, values, into)
    added = len(extended.labels[0]) - before
    if added:
        write_hierarchy(extended, file)
    kind = "interval" if isinstance(hierarchy, IntervalHierarchy) else "value"
    note(f"{file}: {pluralized(added, kind)} added." if added else f"{file}: nothing to add.")


@from_anywhere
def export_arx(
    values: Values,
    file: SeedFile,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="File for ARX to write.")],
    delimiter: Annotated[str, typer.Option(help="Separates cells.")] = ";",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a seed as a hierarchy file of the ARX anonymization tool; intervals need values."""
    from dbt_anonymize.extensions.hierarchy_builders.arx import arx_text  # noqa: PLC0415 (keeps --help fast)

    hierarchy = read_hierarchy(file, nested=False)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise HierarchyError("--delimiter must be one character that quotes no text.")
    if output.exists() and not force:
        raise HierarchyError(f"{output} must not exist yet. Choose another, or add --force.")
    distinct = sorted(values.distinct()) if values.count else []
    output.write_text(
        arx_text(hierarchy, distinct, delimiter=delimiter), encoding="utf-8", newline="\n"
    )
    note(f"Wrote {output} for ARX.")


def text_labels_note(seed: str, table: SeedTable) -> str | None:
    """Return the declaration that a seed needs if dbt would misread its labels."""
    from dbt_anonymize.extensions.hierarchy_builders.misread_labels import misread_levels  # noqa: PLC0415 (keeps --help fast)

    levels = misread_levels(table)
    if not levels:
        return None
    lines = text_lines(seed, table.kind, table.levels, declared={})
    misread = ", ".join(f"{column} for {kind}" for column, kind in levels.items())
    return f"Declare labels as text, or dbt takes {misread}:\n{lines}"


def _extended(hierarchy: Hierarchy, values: Values, into: str | None) -> Hierarchy:
    if not isinstance(hierarchy, IntervalHierarchy):
        return extension.extend_categories(hierarchy, values.distinct(), into=into)
    if not values.is_table:
        bounds = _bounds(values.distinct())
        return extension.extend_intervals(hierarchy, min(bounds), max(bounds))
    is_number = isinstance(hierarchy.lower_bounds[0], Decimal)
    ends: Any = values.number_ends() if is_number else values.date_ends()
    return extension.extend_intervals(hierarchy, *ends)


def _bounds(values: list[str]) -> list[Any]:
    bounds: list[Any] = [parse_value(value.strip()) for value in values]
    wrong = sum(bound is None for bound in bounds)
    if wrong or not bounds or len({type(bound) for bound in bounds}) > 1:
        raise HierarchyError(
            f"values must all be numbers or all be dates; {wrong or 'some'} of {len(bounds)} are "
            "not. Name the column that the hierarchy generalizes."
        )
    return bounds


def _weights(hierarchy: Hierarchy, values: Values | None) -> tuple[list[int], int]:
    """Return the weight of each leaf, and the number of records that no leaf holds."""
    size = len(hierarchy.labels[0])
    if values is None:
        return [1] * size, 0
    counts = values.counts()
    if not isinstance(hierarchy, IntervalHierarchy):
        weights_of_values = [counts.pop(value, 0) for value in hierarchy.values]
        return weights_of_values, sum(counts.values())
    weights, missing = [0] * size, 0
    for value, bound in zip(counts, _bounds(list(counts)), strict=True):
        place = hierarchy.leaf(bound)
        if place is None:
            missing += counts[value]
        else:
            weights[place] += counts[value]
    return weights, missing
