"""The command ``dbt-anonymize profile``: small classes of a table too large to be grouped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from dbt_anonymize.cli.common import (
    OnlyName,
    RowFormat,
    SafeConsole,
    figures_table,
    machine_readable_stdout,
    say,
    show_rows,
)
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import SpecError
from dbt_anonymize.output import Format
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec


@on_target
def profile(
    place: Place,
    name: OnlyName = None,
    *,
    k: Annotated[
        int | None, typer.Option("-k", min=2, help="Class size; that of the spec by default.")
    ] = None,
    sample: Annotated[
        int,
        typer.Option(min=1, help="Records to look at, about; smaller tables are counted whole."),
    ] = 1_000_000,
    form: RowFormat = Format.table,
) -> None:
    """Estimate from a sample of classes how many records are in classes below k."""
    with machine_readable_stdout(form):
        spec = place.only_spec(name)
        if spec.subject is not None:
            raise SpecError(
                f"{spec.name}: a profile counts records, and with a subject classes count people. "
                "Build the relations instead: `dbt build`."
            )
        with place.warehouse() as warehouse:
            lines = _estimate(warehouse, spec, k or max(2, spec.largest_k), sample)
    if form is not Format.table:
        show_rows(_Line._fields, lines, form)
    elif not lines:
        say(f"{spec.name}_microdata has no records.")
    else:
        _print_lines(spec.name, lines)


class _Line(NamedTuple):
    """Share of ``records`` in small classes of one effort, exact if all classes were counted."""

    effort: int
    k: int
    records: int
    one_class_in: int
    share_below: float
    share_low: float
    share_high: float
    classes_seen: int
    levels: str


def _estimate(warehouse: Warehouse, spec: Spec, k: int, sample: int) -> list[_Line]:
    from dbt_anonymize.extensions.class_sizes.sampled_classes import records_below  # noqa: PLC0415

    remedy = f"Run `dbt build --select +{spec.name}_microdata` first."
    microdata = warehouse.relation_of_ref(f"{spec.name}_microdata", remedy=remedy)
    ((records,),) = warehouse.rows(f"select count(*) from {microdata}")  # noqa: S608
    if not records:
        return []
    one_in, lines = max(1, round(records / sample)), list[_Line]()
    for effort, levels in _efforts(spec):
        sizes = _sizes(warehouse, spec, microdata, levels, one_in)
        below = records_below(sizes, k, one_in=one_in, records=records)
        lines.append(
            _Line(
                effort=effort,
                k=k,
                records=records,
                one_class_in=one_in,
                share_below=below.estimate / records,
                share_low=below.low / records,
                share_high=below.high / records,
                classes_seen=sum(sizes.values()),
                levels=", ".join(f"{column} {level}" for column, level in levels.items()),
            )
        )
    return lines


def _print_lines(name: str, lines: list[_Line]) -> None:
    from dbt_anonymize.extensions.class_sizes.sampled_classes import CONFIDENCE  # noqa: PLC0415

    first = lines[0]
    headings = (f"in classes below {first.k}", f"{CONFIDENCE:.0%} interval", "classes seen")
    table = figures_table(("effort", *headings), ("levels",))
    for line in lines:
        interval = f"{line.share_low:.2%} to {line.share_high:.2%}"
        table.add_row(
            str(line.effort),
            f"{line.share_below:.2%}",
            interval if line.one_class_in > 1 else "exact",
            f"{line.classes_seen:,}",
            line.levels,
        )
    console = SafeConsole()
    is_whole = first.one_class_in == 1
    counted = "all classes" if is_whole else f"one class in {first.one_class_in:,}"
    console.print(f"{name}: {pluralized(first.records, 'record')}, {counted} counted.")
    console.print(table)


def _efforts(spec: Spec) -> Iterator[tuple[int, Mapping[str, int]]]:
    """Yield number and levels of each effort with the same levels for all records."""
    yield 0, dict.fromkeys(spec.quasi_identifiers, 0)
    for number, effort in enumerate(spec.efforts, 1):
        if effort.levels is not None and effort.is_full_domain:
            yield number, effort.levels


def _sizes(
    warehouse: Warehouse, spec: Spec, microdata: Any, levels: Mapping[str, int], one_in: int
) -> dict[int, int]:
    quasi_identifiers = [
        {
            "name": name,
            "kind": hierarchy.kind,
            "hierarchy": warehouse.relation_of_ref(hierarchy.ref),
            "level": levels[name],
        }
        for name, hierarchy in spec.quasi_identifiers.items()
    ]
    sql = warehouse.macro(
        "_sampled_class_sizes",
        microdata=microdata,
        quasi_identifiers=quasi_identifiers,
        one_in=one_in,
    )
    return {int(size): int(classes) for size, classes in warehouse.rows(sql)}
