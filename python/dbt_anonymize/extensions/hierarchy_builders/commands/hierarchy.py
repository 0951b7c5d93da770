"""The commands ``dbt-anonymize hierarchy …``: build, import and check hierarchy seeds."""

from __future__ import annotations

import csv
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from dbt_anonymize.cli.common import Quiet
from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import Number, as_decimal, numbers_of
from dbt_anonymize.extensions.hierarchy_builders.codes import code_prefixes
from dbt_anonymize.extensions.hierarchy_builders.commands.classification import classification
from dbt_anonymize.extensions.hierarchy_builders.commands.files import (
    check,
    export_arx,
    extend,
    preview,
)
from dbt_anonymize.extensions.hierarchy_builders.commands.values import (
    Values,
    from_anywhere,
    from_relation,
)
from dbt_anonymize.extensions.hierarchy_builders.commands.writing import writing
from dbt_anonymize.extensions.hierarchy_builders.dates import GRANULARITIES, date_intervals
from dbt_anonymize.extensions.hierarchy_builders.groups import explicit_groups, ordered_groups
from dbt_anonymize.extensions.hierarchy_builders.growing import growing_intervals
from dbt_anonymize.extensions.hierarchy_builders.integers import integer_groups
from dbt_anonymize.extensions.hierarchy_builders.intervals import (
    cut_intervals,
    equal_width_intervals,
)
from dbt_anonymize.extensions.hierarchy_builders.ordered import order_values
from dbt_anonymize.extensions.hierarchy_builders.others import rare_together
from dbt_anonymize.extensions.hierarchy_builders.padding import padded_labels
from dbt_anonymize.extensions.hierarchy_builders.priority import (
    priority_by_frequency,
    priority_by_order,
)
from dbt_anonymize.extensions.hierarchy_builders.quantiles import quantile_intervals
from dbt_anonymize.extensions.hierarchy_builders.redaction import all_codes, redact_codes
from dbt_anonymize.extensions.hierarchy_builders.splits import split_at
from dbt_anonymize.extensions.hierarchy_builders.steps import nice_step, widened
from dbt_anonymize.extensions.hierarchy_builders.systems import SYSTEMS, code_system
from dbt_anonymize.hierarchies.bounds import parse_bound
from dbt_anonymize.hierarchies.model import Hierarchy, IntervalHierarchy

app = typer.Typer(
    name="hierarchy",
    help="Build, import and check generalization hierarchies (dbt seeds).",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

Lower = Annotated[str | None, typer.Option(help="Lower end of the range, part of it.")]
Upper = Annotated[str | None, typer.Option(help="Upper end of the range, not part of it.")]
Merge = Annotated[
    str | None,
    typer.Option(help="Further levels: how many neighbours become one at each, such as 2,2,2."),
]

Split = Annotated[
    str | None,
    typer.Option(help="A last level before * that is parted at these bounds of the one below: 40."),
]
Whole = Annotated[
    bool, typer.Option("--whole", help="Whole numbers: none is cut, one by itself names its leaf.")
]


@app.command()
@from_relation
@writing
def intervals(
    values: Values,
    *,
    lower: Lower = None,
    upper: Upper = None,
    widths: Annotated[
        str | None, typer.Option(help="Width of each level, the first the leaf: 1,3,5.")
    ] = None,
    cuts: Annotated[
        str | None, typer.Option(help="Or: cut points of the leaves, ends included: 0,18,40,120.")
    ] = None,
    merge: Merge = None,
    split: Split = None,
    padded: Annotated[
        bool, typer.Option("--padded", help="Labels that sort as text: [05, 10) before [10, 15).")
    ] = False,
    whole: Whole = False,
) -> Hierarchy:
    """Build intervals of equal --widths, or between --cuts."""
    factors = _ints(merge, option="--merge")
    if cuts is not None and (lower, upper, widths) == (None, None, None):
        built = cut_intervals(cuts.split(","), merge=factors)
    elif cuts is None and widths and lower is not None and upper is not None:
        built = equal_width_intervals(lower, upper, widths.split(","), merge=factors)
    elif cuts is None and widths and (lower, upper) == (None, None) and values.is_table:
        steps = widths.split(",")
        built = equal_width_intervals(*_around(values, steps[-1]), steps, merge=factors)
    else:
        raise HierarchyError(
            "intervals needs either --cuts, or --lower, --upper and --widths; got another mixture. "
            "A relation (--ref or --source, with --column) may stand for --lower and --upper."
        )
    built = _split(built, split)
    return padded_labels(built, whole=whole) if padded or whole else built


def _split(built: IntervalHierarchy, bounds: str | None) -> IntervalHierarchy:
    """Add a last level that is parted at bounds."""
    return split_at(
        built, [parse_bound(bound.strip()) for bound in bounds.split(",")] if bounds else ()
    )


@app.command()
@from_anywhere
@writing
def quantiles(
    values: Values,
    *,
    leaves: Annotated[int, typer.Option(help="Number of leaf intervals.")],
    decimals: Annotated[int, typer.Option(help="Decimals to which cut points are rounded.")],
    lower: Annotated[
        str | None,
        typer.Option(help="Lower end of the range, below all data; a round one of a relation's."),
    ] = None,
    upper: Annotated[
        str | None, typer.Option(help="Upper end of the range, above all data; likewise.")
    ] = None,
    merge: Merge = None,
) -> Hierarchy:
    """Build intervals that hold about equally many values of a column."""
    start: Number
    end: Number
    if lower is not None and upper is not None:
        start, end = lower, upper
    elif (lower, upper) == (None, None) and values.is_table:
        start, end = _around(values)
    else:
        raise HierarchyError(
            "quantiles needs --lower and --upper; only of a relation (--ref or --source) it "
            "finds both by itself. Give both."
        )
    factors = _ints(merge, option="--merge")
    numbers = values.all()
    return quantile_intervals(numbers, start, end, leaves=leaves, decimals=decimals, merge=factors)


@app.command()
@from_anywhere
@writing
def growing(
    values: Values,
    *,
    leaves: Annotated[int, typer.Option(min=2, help="About how many leaves, at most.")] = 32,
    whole: Whole = False,
    split: Split = None,
) -> Hierarchy:
    """Build intervals with bounds 1, 2, 5, 10, 20, …, finer where many records are."""
    built = growing_intervals(_numbers(values), leaves=leaves, whole=whole)
    return padded_labels(_split(built, split), whole=whole) if split else built


@app.command()
@from_anywhere
@writing
def integers(values: Values) -> Hierarchy:
    """Build a leaf for each of few whole numbers, then merge neighbours."""
    return integer_groups(_numbers(values))


@app.command()
@from_anywhere
@writing
def groups(
    values: Values,
    *,
    sizes: Annotated[
        str | None, typer.Option(help="Sizes of ordered groups, level by level: 3,2.")
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(help="Or: a named group and its values, NAME=A,B,C; repeat it per group."),
    ] = None,
) -> Hierarchy:
    """Build groups of neighbours in the order of a file, or named groups."""
    if group and values.is_absent and sizes is None:
        return explicit_groups([_named_groups(group)])
    if not group and values.is_given and sizes is not None:
        return ordered_groups(values.distinct(), _ints(sizes, option="--sizes"))
    raise HierarchyError(
        "groups needs either --group, or --from, --column and --sizes; got another mixture. "
        "A relation (--ref or --source) may stand for --from."
    )


@app.command()
@from_anywhere
@writing
def ordered(values: Values) -> Hierarchy:
    """Merge neighbours in an order that people know: low, medium, high; 18-25, 26-35."""
    return order_values(values.counts())


@app.command()
@from_anywhere
@writing
def others(values: Values) -> Hierarchy:
    """Merge rare values, more of them at each level; the frequent ones stay alone the longest."""
    return rare_together(values.counts())


@app.command()
@from_anywhere
@writing
def redaction(
    values: Values,
    *,
    alphabet: Annotated[str | None, typer.Option(help="Characters that codes may have.")] = None,
    length: Annotated[
        int | None, typer.Option(help="Instead of a file: all codes of this length.")
    ] = None,
    prefix: Annotated[bool, typer.Option("--prefix", help="Redact from the left.")] = False,
    counts: Annotated[
        str | None, typer.Option(help="Redacted characters per level: 1,2,4. Default: one more.")
    ] = None,
    symbol: Annotated[str, typer.Option(help="Character in place of redacted ones.")] = "*",
    pad: Annotated[str | None, typer.Option(help="Character that lengthens short codes.")] = None,
) -> Hierarchy:
    """Redact more and more characters of codes: 12345, 1234*, 123**."""
    if values.is_given and length is None:
        codes = tuple(sorted(values.distinct()))
    elif values.is_absent and length is not None and alphabet is not None:
        codes = all_codes(alphabet, length)
    else:
        raise HierarchyError(
            "redaction needs either --from and --column, or --alphabet and --length; "
            "got another mixture. A relation (--ref or --source) may stand for --from."
        )
    return redact_codes(
        codes,
        end="prefix" if prefix else "suffix",
        counts=None if counts is None else _ints(counts, option="--counts"),
        symbol=symbol,
        pad=pad,
        alphabet=alphabet,
    )


@app.command()
@from_anywhere
@writing
def codes(
    values: Values,
    *,
    prefixes: Annotated[
        str | None, typer.Option(help="Characters kept at each level, such as 4,3,2.")
    ] = None,
    system: Annotated[
        str | None, typer.Option(help=f"Or: a system, one of {', '.join(SYSTEMS)}.")
    ] = None,
    zeros: Annotated[
        int | None,
        typer.Option(min=1, help="Digits of the codes, whose leading zeros were lost as numbers."),
    ] = None,
) -> Hierarchy:
    """Keep ever shorter beginnings of codes (A01.1, A01*, A*), or parts of a known system."""
    if (prefixes is None) == (system is None) or (system is not None and system not in SYSTEMS):
        raise HierarchyError(
            f"codes needs either --prefixes or a --system, one of {', '.join(SYSTEMS)}; got "
            "another mixture."
        )
    distinct = sorted(values.distinct())
    if system is not None:
        return code_system(distinct, system)
    return code_prefixes(distinct, _ints(prefixes, option="--prefixes"), zeros=zeros)


@app.command()
@from_relation
@writing
def dates(
    values: Values,
    *,
    first: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="First day to hold; by default of a relation's."),
    ] = None,
    last: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], help="Last day to hold; likewise."),
    ] = None,
    granularities: Annotated[
        str, typer.Option(help=f"From fine to coarse, some of {','.join(GRANULARITIES)}.")
    ] = "month,quarter,year",
    split: Split = None,
) -> Hierarchy:
    """Build units of the calendar."""
    units = granularities.split(",")
    if first is not None and last is not None and not values.count:
        return _split(date_intervals(first.date(), last.date(), units), split)
    if (first, last) == (None, None) and values.is_table:
        return _split(date_intervals(*values.date_ends(), units), split)
    raise HierarchyError(
        "dates needs either --first and --last, or --ref or --source and --column; got "
        "another mixture."
    )


@app.command()
@from_anywhere
@writing
def priority(
    values: Values,
    *,
    in_order: Annotated[
        bool,
        typer.Option("--in-order", help="Suppress in the order of the file, not rarest first."),
    ] = False,
    levels: Annotated[
        int | None, typer.Option(help="Number of levels, root included. Default: one per value.")
    ] = None,
) -> Hierarchy:
    """Turn values into * one after the other, the rarest first."""
    if in_order:
        return priority_by_order(values.distinct(), levels=levels)
    return priority_by_frequency(values.counts(), levels=levels)


@app.command(name="import-arx")
@writing
def import_arx(
    file: Annotated[Path, typer.Argument(help="Hierarchy file of ARX: no header.")],
    *,
    delimiter: Annotated[str, typer.Option(help="Separates cells.")] = ";",
    as_intervals: Annotated[
        bool, typer.Option("--as-intervals", help="Values are numbers or dates: make intervals.")
    ] = False,
    nested: Annotated[
        bool, typer.Option("--nested/--no-nested", help="Give each label one parent.")
    ] = True,
    quiet: Quiet = False,
) -> Hierarchy:
    """Import a hierarchy file of the ARX anonymization tool."""
    if len(delimiter) != 1:
        raise HierarchyError("--delimiter must be one character. Correct it.")
    from dbt_anonymize.extensions.hierarchy_builders import arx  # noqa: PLC0415 (keeps --help fast)

    hierarchy = arx.read_arx(file, delimiter=delimiter, nested=nested)
    return arx.to_interval_hierarchy(hierarchy, nested=nested) if as_intervals else hierarchy


for _command in (classification, check, preview, extend):
    app.command()(_command)
app.command(name="export-arx")(export_arx)


def _around(values: Values, step: str | None = None) -> tuple[Decimal, Decimal]:
    """Return round ends around the numbers of a relation, so that neither is a person's."""
    lower, upper = values.number_ends()
    if step is not None:
        width = as_decimal(step, who="a width")
        if width <= 0:
            raise HierarchyError("widths must be numbers > 0 that rise. List them upwards.")
        return widened(lower, upper, width)
    return widened(lower, upper, nice_step((upper - lower) / 4 or Decimal(1)))


def _numbers(values: Values) -> dict[Decimal, int]:
    """Return the records of each number."""
    return numbers_of(values.counts())


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
