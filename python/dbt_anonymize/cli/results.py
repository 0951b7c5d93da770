"""The command ``dbt-anonymize results``: what the last build found, and where the releases are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import (
    Names,
    RowFormat,
    SafeConsole,
    figures_table,
    is_quiet,
    machine_readable_stdout,
    say,
    show_rows,
)
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.output import Format
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from rich.table import Table

    from dbt_anonymize.project.evidence import Evidence
    from dbt_anonymize.project.failures import Failure
    from dbt_anonymize.project.left_out import LeftOut
    from dbt_anonymize.project.register import RegisteredRelease
    from dbt_anonymize.project.results import EffortResult
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec


@dataclass(frozen=True)
class _Found:
    """An anonymization as it was found; ``verified`` is about its release, and where that lies.

    ``levels``: of each effort, in words, those in which efforts differ; nothing if the spec is
    another one than that which was built. ``same``: how many quasi-identifiers do not differ.
    ``alike``: released records whose whole class has the same value of the target. ``left_out``:
    the released value whose records are left out far more often than others.
    """

    spec: Spec
    efforts: Sequence[EffortResult]
    levels: dict[int, str]
    same: int
    of_outer: Sequence[str]
    verified: Evidence
    failure: Failure | None
    is_built: bool
    alike: int
    left_out: LeftOut | None

    def numbers(self, effort: EffortResult) -> str | None:
        """Return the levels of an effort by number, if the spec is still the one that was built."""
        declared = self.spec.numbered_efforts.get(effort.effort)
        return declared.shown_levels if declared and self.verified.is_current else None


@on_target
def results(
    place: Place,
    names: Names = None,
    *,
    history: Annotated[
        bool, typer.Option("--history", help="Show the register of releases instead.")
    ] = False,
    form: RowFormat = Format.table,
) -> None:
    """Show what the last `dbt build` found, and where the releases lie.

    CSV and JSON have a row per effort; with --history, per release.
    """
    if history:
        _show_history(place, names, form)
        return
    from dbt_anonymize.project.failures import last_failure  # noqa: PLC0415

    all_found, missing = list[_Found](), list[str]()
    with machine_readable_stdout(form):
        specs = place.specs(names)
        with place.reading() as warehouse:
            for spec in specs:
                failure = last_failure(place.project, warehouse.manifest, spec.name)
                try:
                    all_found.append(_find(warehouse, spec, failure))
                except WarehouseError as error:
                    missing.append(failure.text if failure else str(error))
        if not all_found:
            raise WarehouseError("\n".join(missing))
    for text in missing:  # the others are there to be seen
        say(f"{text}\n", err=True)
    if form is not Format.table:
        _show_rows(all_found, form)
    for found in all_found:
        warnings = list(_warnings(place, found))
        if form is Format.table:
            _show(SafeConsole(), found, warnings)
        else:
            for warning in warnings:
                say(warning, err=True)


def _show_history(place: Place, names: list[str] | None, form: Format) -> None:
    from dbt_anonymize.project.register import (  # noqa: PLC0415 (keeps --help fast)
        SHOWN_COLUMNS,
        read_register,
        rows_of_register,
    )
    from dbt_anonymize.project.results import release_location  # noqa: PLC0415

    with machine_readable_stdout(form):
        specs = place.specs(names)
        with place.reading() as warehouse:
            registers = {spec.name: read_register(warehouse, spec.name) for spec in specs}
            released = {name for name in registers if release_location(warehouse, name)}
    for name in (name for name, register in registers.items() if not register):
        say(_without_register(name, is_released=name in released), err=True)
    if form is not Format.table:
        columns = ["anonymization", *SHOWN_COLUMNS]
        rows = [(name, *row) for name in registers for row in rows_of_register(registers[name])]
        show_rows(columns, rows, form)
        return
    for name, register in registers.items():
        console = SafeConsole()
        if register:
            console.print(f"{name}: {pluralized(len(register), 'release')}")
        if register:
            console.print(_history_table(register))
        if register and not is_quiet():
            console.print(
                "joined, left: records since the release before; below k: records of classes of "
                "both together that have fewer than k; - is not known",
                style="dim",
            )


def _without_register(name: str, *, is_released: bool) -> str:
    """Say why there is no history, and what begins one."""
    if is_released:
        return (
            f"{name}: {name}_register must have a release to be shown; the published one "
            "is older than the register, or the register was dropped. Run `dbt build`, "
            "which adds the next."
        )
    return (
        f"{name}: {name}_register must have a release to be shown; nothing is released. See "
        f"`dbt-anonymize results {name}`, and run `dbt build`, which adds the first."
    )


def _history_table(register: Sequence[RegisteredRelease]) -> Table:
    from dbt_anonymize.project.register import changed_inputs  # noqa: PLC0415

    headings = ("release", "date", "effort", "k", "records", "QF", "joined", "left", "below k")
    table = figures_table(headings, ("changed",))
    for place, one in enumerate(register):
        table.add_row(
            _count(one.release),
            (one.released_at or "")[:10],
            *map(_count, (one.effort, one.k, one.released_records)),
            _number(one.qf),
            *map(_count, (one.joined_records, one.left_records, one.records_below_k)),
            ", ".join(changed_inputs(register[place - 1], one)) if place else "",
        )
    return table


def _count(number: int | None) -> str:
    return "-" if number is None else str(number)


def _find(warehouse: Warehouse, spec: Spec, failure: Failure | None) -> _Found:
    from dbt_anonymize.project.descriptions import differing_levels  # noqa: PLC0415
    from dbt_anonymize.project.evidence import read_verification  # noqa: PLC0415
    from dbt_anonymize.project.left_out import most_left_out  # noqa: PLC0415
    from dbt_anonymize.project.level_words import words_of_relations  # noqa: PLC0415
    from dbt_anonymize.project.results import (  # noqa: PLC0415 (keeps --help fast)
        is_built,
        outer_quality,
        read_results,
        records_of_one_value,
    )

    trees, evidence = spec.quasi_identifiers, read_verification(warehouse, spec)
    words = words_of_relations(warehouse, spec) if evidence.is_current else {}
    names, levels = differing_levels(spec.numbered_efforts, trees, words)
    efforts = read_results(warehouse, spec.name)
    chosen = next((one.effort for one in efforts if one.is_chosen), None)
    return _Found(
        spec=spec,
        efforts=efforts,
        levels=levels if evidence.is_current else {},
        same=len(trees) - len(names),
        of_outer=outer_quality(warehouse, spec),
        verified=evidence,
        failure=failure,
        is_built=is_built(warehouse, spec),
        alike=records_of_one_value(warehouse, spec, chosen) if evidence.is_current else 0,
        left_out=most_left_out(warehouse, spec, chosen) if evidence.is_current else None,
    )


def _show(console: SafeConsole, found: _Found, warnings: list[str]) -> None:
    from dbt_anonymize.project.results import choice_sentences, legend, one_value_sentences  # noqa: PLC0415

    spec, efforts = found.spec, found.efforts
    console.print(f"{spec.name}: {spec.description}")
    console.print(_results_table(found))
    if found.levels:
        console.print(_levels_table(found))
    alike = one_value_sentences(spec, found.alike)
    left_out = [f"Left out far more than others: {found.left_out}."] if found.left_out else []
    for sentence in [
        *choice_sentences(efforts, spec.measure),
        *(*found.of_outer, *alike, *left_out),
    ]:
        console.print(sentence)
    console.print(_release_line(found))
    if found.verified.release is not None:
        console.print(found.verified.verification)
    for warning in warnings:
        console.print(warning, style="yellow")
    if not is_quiet():
        console.print()
        for line in legend(spec, efforts, found.same):
            console.print(line, style="dim")
        if not warnings:
            console.print(f"next: {_next_step(found)}")
    console.print()


def _show_rows(all_found: Sequence[_Found], form: Format) -> None:
    from dbt_anonymize.project.results import EffortResult  # noqa: PLC0415

    columns = [field.name for field in fields(EffortResult)]
    rows = [
        (found.spec.name, *asdict(effort).values(), found.numbers(effort))
        for found in all_found
        for effort in found.efforts
    ]
    show_rows(["anonymization", *columns, "levels"], rows, form)


def _warnings(place: Place, found: _Found) -> Iterator[str]:
    name = found.spec.name
    if found.failure:
        is_old = not found.failure.has_results
        yield found.failure.text + (" The results come from an earlier build." if is_old else "")
    if not found.verified.is_current and _differs(place, name):
        yield (
            f"anonymizations/{name}.yml has changed since: run `dbt-anonymize generate` and "
            "`dbt build`."
        )
    elif not found.is_built and not found.failure:
        yield f"{name} is not built under this name: run `dbt build`."
    elif not found.verified.is_current and not found.failure:
        yield f"anonymizations/{name}.yml has changed since: run `dbt build`."


def _differs(place: Place, name: str) -> bool:
    from dbt_anonymize.project.generate import check  # noqa: PLC0415 (slow to import)

    return bool(check(place.project.root, [name]))


def _next_step(found: _Found) -> str:
    """Name the command that comes next, where nothing is wrong."""
    name = found.spec.name
    if not any(effort.effort for effort in found.efforts):
        return f"`dbt-anonymize search {name}` finds efforts"
    if not any(effort.is_chosen for effort in found.efforts):
        return (
            f"no effort may be released: see `reason` of `dbt-anonymize results {name} --format "
            "json`, change guarantees, suppression_limit or efforts, then `dbt-anonymize generate`"
        )
    if found.verified.release is None:
        return "`dbt build` publishes the release"
    if not found.verified.is_verified:
        return f"`dbt-anonymize verify {name}` checks what is promised"
    return f"`dbt-anonymize report {name}` shows it with charts"


def _release_line(found: _Found) -> str:
    evidence = found.verified
    if evidence.release is None:
        return "released: nothing"
    if any(effort.is_chosen for effort in found.efforts) and (
        evidence.published is None or evidence.is_published
    ):
        return f"released: {evidence.release}"
    of = evidence.published.title if evidence.published else "an earlier build"
    return f"released: nothing from these results; {evidence.release} comes from {of}"


def _results_table(found: _Found) -> Table:
    figures = ("effort", "k", "suppressed", f"QF ({found.spec.shown_measure})", "QNF", "Q")
    table = figures_table(figures, ("qualifies",))
    for result in found.efforts:
        verdict = "chosen" if result.is_chosen else "yes" if result.qualifies else "no"
        table.add_row(
            str(result.effort),
            "-" if result.k is None else str(result.k),
            str(result.suppressed_records),
            result.qf,
            _number(result.qnf),
            _number(result.q),
            verdict,
            style="bold" if result.is_chosen else None,
        )
    return table


def _levels_table(found: _Found) -> Table:
    """Return the levels of efforts, in lines as wide as the screen."""
    table = figures_table(("effort",), ("levels",))
    for result in found.efforts:
        if result.effort:
            style = "bold" if result.is_chosen else None
            table.add_row(str(result.effort), found.levels.get(result.effort, "-"), style=style)
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
