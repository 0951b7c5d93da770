"""The command ``dbt-anonymize results``: what the last build found, and where the releases are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

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
from dbt_anonymize.extension import notes, other_release
from dbt_anonymize.output import Format
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from rich.table import Table

    from dbt_anonymize.project.evidence import Evidence
    from dbt_anonymize.project.failures import Failure
    from dbt_anonymize.project.register import RegisteredRelease
    from dbt_anonymize.project.results import EffortResult, OtherResults
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec


@dataclass(frozen=True)
class _LastBuild:
    """State of an anonymization after its last build; ``verified`` is the evidence of its release.

    ``levels``: by effort, the differing levels in words; empty if the spec has changed since.
    ``same``: the number of quasi-identifiers whose levels do not differ. ``one_value_records``:
    released records whose whole class has the same value of the target. ``notes`` are those of
    extensions.
    """

    spec: Spec
    efforts: Sequence[EffortResult]
    levels: dict[int, str]
    same: int
    outer_sentences: Sequence[str]
    verified: Evidence
    failure: Failure | None
    is_built: bool
    one_value_records: int
    notes: Sequence[str]

    def numbers(self, effort: EffortResult) -> str | None:
        """Return the levels of an effort as numbers, if the spec has not changed since."""
        declared = self.spec.built_efforts.get(effort.effort)
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
    with machine_readable_stdout(form):
        specs = place.specs(names)
        with place.reading() as warehouse:
            builds, others, missing = _read_last_builds(place, warehouse, specs)
        if not builds and not others:
            raise WarehouseError("\n".join(missing))
    for text in missing:  # the others are shown below
        say(f"{text}\n", err=True)
    for name, other in others.items():
        _show_other(name, other, form)
    if form is not Format.table and builds:
        _show_rows(builds, form)
    for build in builds:
        warnings = list(_warnings(place, build))
        if form is Format.table:
            _show(SafeConsole(), build, warnings)
        else:
            for warning in warnings:
                say(warning, err=True)


def _read_last_builds(
    place: Place, warehouse: Warehouse, specs: Sequence[Spec]
) -> tuple[list[_LastBuild], dict[str, OtherResults], list[str]]:
    """Return the last builds of releases of records, of others by name, and why some lack one."""
    from dbt_anonymize.project.failures import last_failure  # noqa: PLC0415 (keeps --help fast)

    builds, others, missing = list[_LastBuild](), dict[str, Any](), list[str]()
    for spec in specs:
        failure = last_failure(place.project, warehouse.manifest, spec.name)
        try:
            if release := other_release(spec):
                others[spec.name] = release.results(warehouse, spec)
            else:
                builds.append(_read_last_build(warehouse, spec, failure))
        except WarehouseError as error:
            missing.append(failure.text if failure else str(error))
    return builds, others, missing


def _show_other(name: str, other: OtherResults, form: Format) -> None:
    """Show the results of a spec that releases something else than records."""
    if form is not Format.table:
        rows = [(name, *row.values()) for row in other.rows]
        if rows:
            show_rows(["anonymization", *other.rows[0]], rows, form)
        return
    console = SafeConsole()
    console.print(f"{name}: {other.description}" if other.description else name)
    table = figures_table([name.replace("_", " ") for name in other.figures], ())
    for row in other.rows:
        cells = (_cell(row[name]) for name in other.figures)
        table.add_row(*cells, style="bold" if row.get("is_chosen") else None)
    console.print(table)
    for sentence in other.sentences:
        console.print(sentence)
    if not is_quiet():
        console.print()
        console.print(other.legend, style="dim")
        console.print(f"next: `dbt-anonymize verify {name}` checks what is promised")
    console.print()


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _number(value) if isinstance(value, float) or value is None else str(value)


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
            others = {
                spec.name: release.history(warehouse, spec)
                for spec in specs
                if (release := other_release(spec))
            }
            registers = {
                spec.name: read_register(warehouse, spec.name)
                for spec in specs
                if spec.name not in others
            }
            released = {name for name in registers if release_location(warehouse, name)}
    for name in (name for name, register in registers.items() if not register):
        say(_without_register(name, is_released=name in released), err=True)
    for name, other in others.items():
        _show_other(name, other, form)
    if form is not Format.table and registers:
        columns = ["anonymization", *SHOWN_COLUMNS]
        rows = [(name, *row) for name in registers for row in rows_of_register(registers[name])]
        show_rows(columns, rows, form)
        return
    console = SafeConsole()
    for name, register in registers.items():
        if not register:
            continue
        console.print(f"{name}: {pluralized(len(register), 'release')}")
        console.print(_history_table(register))
        if not is_quiet():
            console.print(
                "joined, left: records since the release before; below k: records of classes of "
                "both together that have fewer than k; - is not known",
                style="dim",
            )


def _without_register(name: str, *, is_released: bool) -> str:
    """Return why there is no history, and the command that begins one."""
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
    for place, release in enumerate(register):
        table.add_row(
            _count(release.release),
            (release.released_at or "")[:10],
            *map(_count, (release.effort, release.k, release.released_records)),
            _number(release.qf),
            *map(_count, (release.joined_records, release.left_records, release.records_below_k)),
            ", ".join(changed_inputs(register[place - 1], release)) if place else "",
        )
    return table


def _count(number: int | None) -> str:
    return "-" if number is None else str(number)


def _read_last_build(warehouse: Warehouse, spec: Spec, failure: Failure | None) -> _LastBuild:
    from dbt_anonymize.project.descriptions import differing_levels  # noqa: PLC0415
    from dbt_anonymize.project.evidence import read_verification  # noqa: PLC0415
    from dbt_anonymize.project.level_words import words_of_relations  # noqa: PLC0415
    from dbt_anonymize.project.results import (  # noqa: PLC0415 (keeps --help fast)
        is_built,
        outer_quality,
        read_results,
        records_of_one_value,
    )

    trees, evidence = spec.described_trees, read_verification(warehouse, spec)
    words = words_of_relations(warehouse, spec) if evidence.is_current else {}
    names, levels = differing_levels(spec.numbered_efforts, trees, words)
    levels |= {number: effort.way for number, effort in spec.external_efforts.items()}
    efforts = read_results(warehouse, spec.name)
    chosen = next((result for result in efforts if result.is_chosen), None)
    return _LastBuild(
        spec=spec,
        efforts=efforts,
        levels=levels if evidence.is_current else {},
        same=len(trees) - len(names),
        outer_sentences=outer_quality(warehouse, spec),
        verified=evidence,
        failure=failure,
        is_built=is_built(warehouse, spec),
        one_value_records=records_of_one_value(warehouse, spec, chosen.effort if chosen else None)
        if evidence.is_current
        else 0,
        notes=[text for note in notes() for text in note(warehouse, spec, chosen)]
        if evidence.is_current and chosen
        else [],
    )


def _show(console: SafeConsole, build: _LastBuild, warnings: list[str]) -> None:
    from dbt_anonymize.project.results import choice_sentences, legend, one_value_sentences  # noqa: PLC0415

    spec, efforts = build.spec, build.efforts
    console.print(f"{spec.name}: {spec.description}")
    console.print(_results_table(build))
    if build.levels:
        console.print(_levels_table(build))
    verified = build.verified
    of_release = (verified.verification, verified.exact_values) if verified.release else ()
    sentences = (
        *choice_sentences(efforts, spec.measure),
        *build.outer_sentences,
        *one_value_sentences(spec, build.one_value_records),
        *build.notes,
        _release_line(build),
        *filter(None, of_release),
    )
    console.print("\n".join(sentences))
    if warnings:
        console.print("\n".join(warnings), style="yellow")
    if not is_quiet():
        console.print("\n".join(["", *legend(spec, efforts, build.same)]), style="dim")
        if not warnings:
            console.print(f"next: {_next_step(build)}")
    console.print()


def _show_rows(builds: Sequence[_LastBuild], form: Format) -> None:
    from dbt_anonymize.project.results import EffortResult  # noqa: PLC0415

    columns = [field.name for field in fields(EffortResult)]
    rows = [
        (build.spec.name, *asdict(effort).values(), build.numbers(effort))
        for build in builds
        for effort in build.efforts
    ]
    show_rows(["anonymization", *columns, "levels"], rows, form)


def _warnings(place: Place, build: _LastBuild) -> Iterator[str]:
    name = build.spec.name
    if build.failure:
        is_old = not build.failure.has_results
        yield build.failure.text + (" The results come from an earlier build." if is_old else "")
    if not build.verified.is_current and _differs(place, name):
        yield (
            f"anonymizations/{name}.yml has changed since: run `dbt-anonymize generate` and "
            "`dbt build`."
        )
    elif not build.is_built and not build.failure:
        yield f"{name} is not built under this name: run `dbt build`."
    elif not build.verified.is_current and not build.failure:
        yield f"anonymizations/{name}.yml has changed since: run `dbt build`."


def _differs(place: Place, name: str) -> bool:
    from dbt_anonymize.project.generate import check  # noqa: PLC0415 (slow to import)

    return bool(check(place.project.root, [name]))


def _next_step(build: _LastBuild) -> str:
    """Return the next command, if there are no warnings."""
    name = build.spec.name
    if not any(effort.effort for effort in build.efforts):
        return f"`dbt-anonymize search {name}` finds efforts"
    if not any(effort.is_chosen for effort in build.efforts):
        return (
            f"no effort may be released: see `reason` of `dbt-anonymize results {name} --format "
            "json`, change guarantees, suppression_limit or efforts, then `dbt-anonymize generate`"
        )
    if build.verified.release is None:
        return "`dbt build` publishes the release"
    if not build.verified.is_verified:
        return f"`dbt-anonymize verify {name}` checks what is promised"
    return f"`dbt-anonymize report {name}` shows it with charts"


def _release_line(build: _LastBuild) -> str:
    evidence = build.verified
    if evidence.release is None:
        return "released: nothing"
    if any(effort.is_chosen for effort in build.efforts) and (
        evidence.published is None or evidence.is_published
    ):
        return f"released: {evidence.release}"
    of = evidence.published.title if evidence.published else "an earlier build"
    return f"released: nothing from these results; {evidence.release} comes from {of}"


def _results_table(build: _LastBuild) -> Table:
    figures = ("effort", "k", "suppressed", f"QF ({build.spec.shown_measure})", "QNF", "Q")
    table = figures_table(figures, ("qualifies",))
    for result in build.efforts:
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


def _levels_table(build: _LastBuild) -> Table:
    """Return the table of levels by effort, as wide as the screen."""
    table = figures_table(("effort",), ("levels",))
    for result in build.efforts:
        if result.effort:
            style = "bold" if result.is_chosen else None
            table.add_row(str(result.effort), build.levels.get(result.effort, "-"), style=style)
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
