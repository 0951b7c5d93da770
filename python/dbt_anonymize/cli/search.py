"""The command ``dbt-anonymize search``: find efforts, show them, and write them into the spec."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dbt_anonymize.cli.common import (
    ProfilesDir,
    ProjectDir,
    Quiet,
    RowFormat,
    SafeConsole,
    Target,
    errors_without_traceback,
    figures_table,
    is_quiet,
    rows_alone,
    show_rows,
)
from dbt_anonymize.information_loss.names import MEASURE_NAMES
from dbt_anonymize.output import Format
from dbt_anonymize.pluralize import counted

if TYPE_CHECKING:
    from rich.table import Table as ShownTable

    from dbt_anonymize.project.layout import Project
    from dbt_anonymize.search.efforts import Found, Options, Steps, Task
    from dbt_anonymize.search.results import CheckedNode, ProgressCallback
    from dbt_anonymize.search.results import Progress as State
    from dbt_anonymize.spec import Effort, Spec

# The choices of the spec, as the command line takes them.
Measure = Enum(  # type: ignore[misc]
    "Measure", {name: name for name in MEASURE_NAMES}
)


class Recoding(StrEnum):
    """Whether all records have the same levels."""

    full_domain = "full_domain"
    local = "local"


def search(
    name: Annotated[str, typer.Argument(help="The anonymization.")],
    *,
    efforts: Annotated[
        int | None, typer.Option(min=1, help="Efforts to find; search.efforts of the spec, or 5.")
    ] = None,
    measure: Annotated[
        Measure | None,
        typer.Option(help="Information loss to minimize; search.measure of the spec, or loss."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Seconds; then the best so far is taken.")
    ] = None,
    recoding: Annotated[
        Recoding, typer.Option(help="Same levels for all records, or rounds of levels.")
    ] = Recoding.full_domain,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what is found; write nothing.")
    ] = False,
    form: RowFormat = Format.table,
    project_dir: ProjectDir = Path(),
    target: Target = None,
    profiles_dir: ProfilesDir = None,
    quiet: Quiet = False,
) -> None:
    """Find efforts from weak to strong and write them into anonymizations/<name>.yml.

    CSV and JSON have a row for each effort and for each point of the Pareto front.
    """
    from dbt_anonymize.project.layout import find_project  # noqa: PLC0415
    from dbt_anonymize.search.efforts import Options  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.spec import load_specs  # noqa: PLC0415

    # What is found is what was asked for only where nothing is written.
    is_table = form is Format.table
    console = SafeConsole(quiet=quiet and not (dry_run and is_table), stderr=not is_table)
    with errors_without_traceback(), rows_alone(form) as out:
        project = find_project(project_dir)
        (spec,) = load_specs(project.root, [name])
        if spec.differential_privacy is not None:
            _search_privately(console, project, target, spec, dry_run=dry_run)
            return
        options = Options(
            efforts=spec.search.efforts if efforts is None else efforts,
            measure=spec.search.measure if measure is None else str(measure.value),
            recoding=recoding.value,
            time_limit=time_limit,
        )
        found = _search(console, project, target, spec, options, dry_run=dry_run)
        if not is_table:
            columns, rows = _rows(spec, options.measure, found)
            show_rows(columns, rows, form, out=out)
        if not found.efforts:
            console.print(
                "The untouched table keeps every guarantee already, and nothing coarser reaches "
                "more: there is no effort to write."
            )
        elif not dry_run:
            _write(console, project, spec, found.efforts)


def _search(
    console: SafeConsole,
    project: Project,
    target: str | None,
    spec: Spec,
    options: Options,
    *,
    dry_run: bool,
) -> Found:
    """Load, search and show; write ``<n>_lattice`` unless dry."""
    from dbt_anonymize.project.category_limits import limits_in_warehouse  # noqa: PLC0415
    from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415
    from dbt_anonymize.search.coded_guarantees import coded_guarantees  # noqa: PLC0415
    from dbt_anonymize.search.efforts import Task, find_efforts  # noqa: PLC0415
    from dbt_anonymize.search.load import load_table  # noqa: PLC0415
    from dbt_anonymize.search.report import lattice_rows, write_lattice  # noqa: PLC0415

    with open_warehouse(project, target) as warehouse:
        table = load_table(warehouse, spec, measure=options.measure)
        task = Task(spec, table, coded_guarantees(warehouse, spec), options)
        limits = limits_in_warehouse(warehouse, spec)
    # The warehouse is closed meanwhile: a file of DuckDB would be locked for everybody else.
    with _prefixed(spec.name), _progress(options.measure) as steps:
        found = find_efforts(task, steps)
    _show(console, task, found)
    for line in limits:
        console.print(line)
    if not dry_run:
        rows = lattice_rows(task, found)
        with open_warehouse(project, target) as warehouse:
            relation = write_lattice(warehouse, spec.name, list(spec.quasi_identifiers), rows)
        console.print(f"{relation}: {counted(len(rows), 'node')}.")
    return found


def _search_privately(
    console: SafeConsole, project: Project, target: str | None, spec: Spec, *, dry_run: bool
) -> None:
    """Draw the levels of one effort, pay for it, and show nothing else of the data."""
    from dbt_anonymize.errors import SearchError  # noqa: PLC0415
    from dbt_anonymize.project.warehouse import open_warehouse  # noqa: PLC0415
    from dbt_anonymize.search.exponential import draw_levels  # noqa: PLC0415
    from dbt_anonymize.search.load import load_table  # noqa: PLC0415
    from dbt_anonymize.spec import Effort  # noqa: PLC0415
    from dbt_anonymize.vault.budget import spend_on_search  # noqa: PLC0415

    private = spec.differential_privacy
    if private is None or private.search_epsilon is None or dry_run:
        raise SearchError(
            f"{spec.name}: a search under differential_privacy must be paid for, and so must every "
            "look at what it finds: it needs search_epsilon, and has no --dry-run. Add "
            "search_epsilon, or fix the levels without looking at the data."
        )
    with _prefixed(spec.name), open_warehouse(project, target) as warehouse:
        table = load_table(warehouse, spec, measure="loss")
        spend_on_search(warehouse, spec, private)
        levels = draw_levels(table, private, fixed=[spec.target])
    shown = ", ".join(f"{name} {level}" for name, level in levels.items())
    console.print(f"{spec.name}: {shown} was drawn for epsilon {private.search_epsilon:g}.")
    _write(console, project, spec, (Effort(levels=levels),))


@contextlib.contextmanager
def _prefixed(name: str) -> Iterator[None]:
    from dbt_anonymize.errors import SearchError  # noqa: PLC0415

    try:
        yield
    except SearchError as error:
        raise SearchError(f"{name}: {error}") from error


@contextlib.contextmanager
def _progress(measure: str) -> Iterator[Steps]:
    """Give steps that show one progress bar after the other, on a terminal only."""
    from rich.progress import (  # noqa: PLC0415 (keeps --help fast)
        BarColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    console = SafeConsole(stderr=True, quiet=is_quiet())
    with Progress(*columns, console=console, transient=True) as bars:

        def start(step: str) -> ProgressCallback:
            for shown in bars.task_ids:
                bars.remove_task(shown)
            bar: TaskID = bars.add_task(step, total=None, state="")

            def update(state: State) -> None:
                shown = _shown_state(state, measure)
                bars.update(bar, total=state.total, completed=state.settled, state=shown)

            return update

        yield start


def _shown_state(state: State, measure: str) -> str:
    nodes = (
        f"{state.settled:,} of {counted(state.total, 'node')}: {state.checked:,} checked, "
        f"{state.settled - state.checked:,} pruned"
    )
    if state.best is None:
        return nodes
    return f"{nodes}; best: {measure} {_lost(measure, state.best.loss)}, k {state.best.k}"


def _lost(measure: str, loss: float) -> str:
    """Return a loss as its measure is published: precision is higher where less is lost."""
    from dbt_anonymize.information_loss.registry import published  # noqa: PLC0415 (takes a while)

    return f"{published(measure, loss):.6g}"


def _show(console: SafeConsole, task: Task, found: Found) -> None:
    best, measure = found.result.optimum, task.options.measure
    if best is None:
        return
    levels = ", ".join(_levels(task.spec, best))
    console.print(
        f"{task.spec.name}: {levels} loses the least ({measure} {_lost(measure, best.loss)}), "
        f"with k = {best.k} and {best.suppressed} of {counted(task.table.total, 'record')} "
        f"suppressed."
    )
    if list(best.node) == [tree.levels for tree in task.spec.quasi_identifiers.values()]:
        console.print(
            "Everything is at the root: found so far, only a release that tells nothing about the "
            "quasi-identifiers keeps the guarantees."
        )
    console.print(_work(found, measure))
    chained: dict[CheckedNode, int] = {}
    if task.options.recoding == "local":
        _show_rounds(console, task, found)
    else:
        useful = (node for _, node in found.chain.points if any(node.node))
        chained = {node: number for number, node in enumerate(useful, start=1)}
        console.print("Efforts from weak to strong: the least loss with the required k")
        console.print(_nodes_table(task, found.chain.points, chained))
    unproven = "" if found.front.is_complete else " (as far as found in the time it had)"
    console.print(f"Pareto front: no other levels reach this k with less loss{unproven}")
    console.print(_nodes_table(task, found.front.points, chained, is_front=True))


def _rows(spec: Spec, measure: str, found: Found) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return what programs read of a search: the efforts, and the front."""
    from dbt_anonymize.information_loss.registry import published  # noqa: PLC0415 (takes a while)

    points: list[tuple[Any, ...]] = [
        ("effort", effort.required, None, effort.suppressed, effort.loss) for effort in found.local
    ] or [
        ("effort", required, node.k, node.suppressed, node.loss)
        for required, node in found.chain.points
        if any(node.node)
    ]
    front = [node for _, node in found.front.points]
    points += [("front", None, node.k, node.suppressed, node.loss) for node in front]
    levels = [effort.shown_levels for effort in found.efforts]
    levels += [" ".join(map(str, node.node)) for node in front]
    rows = list[tuple[Any, ...]]()
    for number, (point, shown) in enumerate(zip(points, levels, strict=True), start=1):
        kind, required, k, suppressed, loss = point
        effort = number if kind == "effort" else None
        lost = None if loss is None else published(measure, loss)
        rows.append((spec.name, kind, effort, required, k, suppressed, measure, lost, shown))
    columns = ["anonymization", "kind", "effort", "required_k", "k", "suppressed_records"]
    return [*columns, "measure", "value", "levels"], rows


def _work(found: Found, measure: str) -> str:
    result = found.result
    way = "best-first through " if _is_best_first(found) else ""
    proof = "" if found.is_complete else " The time limit ended it: best so far, not proven."
    if not result.is_complete:
        proof += (
            f" By what was searched, no levels can reach a better {measure} than "
            f"{_lost(measure, result.bound)}."
        )
    others = result.lattice_size - result.checked
    kind = "ruled out" if result.is_complete else "ruled out or open"
    rest = f", {others:,} {kind}" if others > 0 else ""
    return (
        f"Searched {way}{counted(result.lattice_size, 'node')} in {result.elapsed:.1f} s: "
        f"{result.checked:,} checked{rest}.{proof}\n"
    )


def _show_rounds(console: SafeConsole, task: Task, found: Found) -> None:
    names = ", ".join(task.spec.quasi_identifiers)
    console.print(f"Efforts from weak to strong: rounds of levels of {names}")
    numeric = ("effort", "required k", "suppressed", task.options.measure, "rounds")
    table = figures_table(numeric, ["levels of each round"])
    for number, effort in enumerate(found.local, start=1):
        loss = "-" if effort.loss is None else _lost(task.options.measure, effort.loss)
        cells = (number, effort.required, effort.suppressed, loss, len(effort.rounds))
        levels = "; ".join(" ".join(map(str, node)) for node in effort.rounds)
        table.add_row(*map(str, cells), levels)
    console.print(table)
    remarks = []
    if any(effort.loss is None for effort in found.local):
        remarks.append(f"The build measures {task.options.measure}.")
    if task.guarantees.release_rules:
        remarks.append("Suppressed are at most so many, since rounds may have classes in common.")
    if remarks:
        console.print(" ".join(remarks) + "\n")


def _is_best_first(found: Found) -> bool:
    from dbt_anonymize.search.optimum import MOST_ENUMERATED  # noqa: PLC0415

    return found.result.lattice_size > MOST_ENUMERATED


def _levels(spec: Spec, checked: CheckedNode) -> list[str]:
    return [f"{name} {n}" for name, n in zip(spec.quasi_identifiers, checked.node, strict=True)]


def _nodes_table(
    task: Task,
    points: tuple[tuple[int, CheckedNode], ...],
    efforts: dict[CheckedNode, int],
    *,
    is_front: bool = False,
) -> ShownTable:
    """Return required k and node of each point; on the front the required k is the reached one."""
    measure = task.options.measure
    headings = ("effort", *(() if is_front else ("required k",)), "reached k", "suppressed")
    table = figures_table((*headings, measure), ["levels"])
    for required, checked in points:
        table.add_row(
            str(efforts.get(checked, "-")),
            *(() if is_front else (str(required),)),
            str(checked.k),
            str(checked.suppressed),
            _lost(measure, checked.loss),
            ", ".join(_levels(task.spec, checked)),
        )
    return table


def _write(console: SafeConsole, project: Project, spec: Spec, efforts: tuple[Effort, ...]) -> None:
    from dbt_anonymize.spec.editing import write_efforts  # noqa: PLC0415
    from dbt_anonymize.spec.loading import spec_paths  # noqa: PLC0415

    path = spec_paths(project.root)[spec.name]
    shown = path.relative_to(project.root).as_posix()
    if write_efforts(path, efforts):
        console.print(
            f"{shown}: {counted(len(efforts), 'effort')}. Review the change, then run "
            f"`dbt-anonymize generate {spec.name}` and `dbt build`."
        )
    else:
        console.print(f"{shown}: has these efforts already.")
