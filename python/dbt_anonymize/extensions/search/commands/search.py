"""The command ``dbt-anonymize search``: find efforts, print them, and write them into the spec."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from dbt_anonymize.cli.common import (
    Keep,
    Name,
    RowFormat,
    SafeConsole,
    is_quiet,
    machine_readable_stdout,
    show_rows,
    spinner,
)
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import EvaluationError, SearchError
from dbt_anonymize.extensions.search.commands.joint import (
    SECONDS,
    check_options,
    joint_rows,
    search_joint,
)
from dbt_anonymize.extensions.search.commands.search_output import (
    describe_reasons,
    print_search,
    published_text,
    result_rows,
)
from dbt_anonymize.extensions.search.commands.spec_file import read_spec, write_found
from dbt_anonymize.extensions.search.declared import search_of
from dbt_anonymize.extensions.search.measure_names import GUIDED, MEASURE_NAMES
from dbt_anonymize.information_loss import LOSS
from dbt_anonymize.output import Format
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from dbt_anonymize.extensions.search.efforts import Options, SearchOutcome, Steps
    from dbt_anonymize.extensions.search.records import Records
    from dbt_anonymize.extensions.search.results import Progress as State
    from dbt_anonymize.extensions.search.results import ProgressCallback, Training
    from dbt_anonymize.privacy.table import Table
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Spec

# CPU seconds for training in a search by quality.
SECONDS_OF_RACES = 60.0

# The measures of the spec as choices of the command line.
Measure = Enum(  # type: ignore[misc]
    "Measure", {name: name for name in MEASURE_NAMES}
)


class Recoding(StrEnum):
    """Recoding to search: one set of levels for all records, or levels per record."""

    full_domain = "full_domain"
    local = "local"


Seconds = Annotated[
    float | None,
    typer.Option(
        min=0, help="Seconds, then the best so far is taken; by quality of trained models, or 60."
    ),
]
Evaluations = Annotated[
    int | None, typer.Option(min=1, help="Models to train at most, by quality.")
]


Sizes = Annotated[
    str | None, typer.Option(help="Class sizes of the efforts instead, such as 5,10,20,50.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what is found; write nothing.")]


@on_target
def search(
    place: Place,
    name: Name,
    *,
    efforts: Annotated[
        int | None, typer.Option(min=1, help="Efforts to find; search.efforts of the spec, or 5.")
    ] = None,
    ks: Sizes = None,
    measure: Annotated[
        Measure | None,
        typer.Option(
            help="Measure to search by: search.measure of the spec, or quality; loss if no target."
        ),
    ] = None,
    keep: Keep = None,
    time_limit: Seconds = None,
    evaluations: Evaluations = None,
    recoding: Annotated[
        Recoding, typer.Option(help="Same levels for all records, or rounds of levels.")
    ] = Recoding.full_domain,
    dry_run: DryRun = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show the Pareto front too, as JSON and CSV do.")
    ] = False,
    form: RowFormat = Format.table,
) -> None:
    """Find efforts from weak to strong and write them into anonymizations/<name>.yml.

    CSV and JSON have a row for each effort and for each point of the Pareto front.
    """
    from dbt_anonymize.extensions.search.keeping import keep_readable  # noqa: PLC0415 (keeps --help fast)

    is_table = form is Format.table
    sizes = _class_sizes(ks, efforts)
    # The results are the requested output only if nothing is written.
    console = SafeConsole(quiet=is_quiet() and not (dry_run and is_table), stderr=not is_table)
    with machine_readable_stdout(form) as out:
        spec = keep_readable(read_spec(console, place, name), keep or ())
        if spec.differential_privacy is not None:
            _search_privately(console, place, spec, dry_run=dry_run)
            return
        options = _options(
            spec,
            efforts=efforts,
            sizes=sizes,
            measure=None if measure is None else str(measure.value),
            recoding=recoding,
            time_limit=time_limit,
            evaluations=evaluations,
        )
        if spec.trees_beside:
            _search_jointly(console, place, spec, options, form, dry_run=dry_run, out=out)
            return
        if (measure or search_of(spec).measure) is None and spec.targets and spec.efforts:
            console.print(_default_measure(name, options.measure))
        outcome, reasons = _search(console, place, spec, options, dry_run=dry_run, verbose=verbose)
        if not is_table:
            columns, rows = result_rows(spec, options.loss, outcome)
            show_rows(columns, rows, form, out=out)
        if not outcome.efforts:
            console.print(_no_efforts(has_sizes=bool(sizes)))
        elif not dry_run:
            write_found(console, place, spec, outcome.efforts, reasons)


def _search_jointly(
    console: SafeConsole,
    place: Place,
    spec: Spec,
    options: Options,
    form: Format,
    *,
    dry_run: bool,
    out: TextIO,
) -> None:
    """Search own levels and those of other tables together, and write both."""
    with _prefixed(spec.name), _progress(options.loss) as steps:
        beside, outcome = search_joint(console, place, spec, options, steps)
    if form is not Format.table:
        columns, rows = joint_rows(spec, beside, outcome)
        show_rows(columns, rows, form, out=out)
    if not dry_run:
        write_found(console, place, spec, outcome.efforts)


def _default_measure(name: str, measure: str) -> str:
    return (
        f"{name}: searched by {measure}, the default; earlier versions searched by `loss`. "
        "`search: {measure: …}` in the spec says which, and ends this line."
    )


def _options(
    spec: Spec,
    *,
    efforts: int | None,
    sizes: tuple[int, ...],
    measure: str | None,
    recoding: Recoding,
    time_limit: float | None,
    evaluations: int | None,
) -> Options:
    """Return options, with a default limit for what needs one to end."""
    from dbt_anonymize.extensions.search.efforts import Options  # noqa: PLC0415 (keeps --help fast)

    if spec.trees_beside:
        check_options(spec, measure, recoding.value, evaluations)
        measure, time_limit = LOSS, SECONDS if time_limit is None else time_limit
    options = Options(
        efforts=search_of(spec).efforts if efforts is None else efforts,
        measure=measure or search_of(spec).measure_of(spec),
        recoding=recoding.value,
        time_limit=time_limit,
        ks=sizes,
        evaluations=evaluations,
    )
    is_open = time_limit is None and evaluations is None
    return replace(options, time_limit=SECONDS_OF_RACES) if options.races and is_open else options


def _no_efforts(*, has_sizes: bool) -> str:
    if has_sizes:
        return "None of the class sizes is an effort: there is none to write."
    return (
        "The untouched table keeps every guarantee already, and nothing coarser reaches "
        "more: there is no effort to write."
    )


def _search(
    console: SafeConsole,
    place: Place,
    spec: Spec,
    options: Options,
    *,
    dry_run: bool,
    verbose: bool,
) -> tuple[SearchOutcome, list[str]]:
    """Load, search and print; write ``<n>_lattice`` unless dry. Return reasons, too."""
    from dbt_anonymize.extensions.search.category_limits import limits_in_warehouse  # noqa: PLC0415
    from dbt_anonymize.extensions.search.coded_guarantees import coded_guarantees  # noqa: PLC0415
    from dbt_anonymize.extensions.search.efforts import Task, find_efforts  # noqa: PLC0415
    from dbt_anonymize.extensions.search.report import lattice_rows, write_lattice  # noqa: PLC0415
    from dbt_anonymize.project.level_words import words_of_seeds  # noqa: PLC0415
    from dbt_anonymize.spec.hierarchy_levels import ProjectFiles  # noqa: PLC0415

    begin = time.monotonic()
    with place.warehouse() as warehouse:
        with spinner("Reading records"):
            table, records = _load(warehouse, spec, options.loss)
        task = Task(spec, table, coded_guarantees(warehouse, spec), options, records)
        limits = limits_in_warehouse(warehouse, spec)
    # The warehouse is closed during the search: a file of DuckDB would be locked for all others.
    with _prefixed(spec.name), _progress(options.loss) as steps:
        outcome = find_efforts(task, steps)
    words = words_of_seeds(ProjectFiles(place.project.root), task.spec)
    print_search(console, task, outcome, time.monotonic() - begin, words, verbose=verbose)
    for line in limits:
        console.print(line)
    if not dry_run:
        rows = lattice_rows(task, outcome)
        with place.warehouse() as warehouse:
            relation = write_lattice(warehouse, spec.name, list(spec.quasi_identifiers), rows)
        console.print(f"{relation}: {pluralized(len(rows), 'node')}.")
    return outcome, describe_reasons(spec, outcome, words)


def _load(warehouse: Warehouse, spec: Spec, measure: str) -> tuple[Table, Records | None]:
    """Read the coded table; for the guided measure with predictions of models."""
    from dbt_anonymize.extensions.search.load import load  # noqa: PLC0415

    loaded = load(warehouse, spec, measure=measure)
    if measure != GUIDED:
        return loaded.table, None
    from dbt_anonymize.extensions.search.predictions import FOLDS, with_predictions  # noqa: PLC0415
    from dbt_anonymize.extensions.search.records import read_records  # noqa: PLC0415

    try:
        records = read_records(warehouse, spec, loaded, FOLDS)
        return with_predictions(loaded.table, records), records
    except EvaluationError as error:
        raise EvaluationError(
            f"{spec.name}: {error} Or search with `--measure loss`, which trains no model."
        ) from error


def _search_privately(console: SafeConsole, place: Place, spec: Spec, *, dry_run: bool) -> None:
    """Draw the levels of one effort, pay for it, and print nothing else of the data."""
    from dbt_anonymize.extensions.search.budget import spend_on_search  # noqa: PLC0415
    from dbt_anonymize.extensions.search.exponential import draw_levels  # noqa: PLC0415
    from dbt_anonymize.extensions.search.load import load_table  # noqa: PLC0415
    from dbt_anonymize.spec import Effort  # noqa: PLC0415

    private = spec.differential_privacy
    if private is None or private.search_epsilon is None or dry_run:
        raise SearchError(
            f"{spec.name}: a search under differential_privacy must be paid for, and so must every "
            "look at what it finds: it needs search_epsilon, and has no --dry-run. Add "
            "search_epsilon, or fix the levels without looking at the data."
        )
    with _prefixed(spec.name), place.warehouse() as warehouse:
        table = load_table(warehouse, spec, measure="loss")
        spend_on_search(warehouse, spec, private)
        levels = draw_levels(table, private, fixed=list(spec.targets)[:1])
    levels_text = ", ".join(f"{name} {level}" for name, level in levels.items())
    console.print(f"{spec.name}: {levels_text} was drawn for epsilon {private.search_epsilon:g}.")
    write_found(console, place, spec, (Effort(levels=levels),))


@contextlib.contextmanager
def _prefixed(name: str) -> Iterator[None]:

    try:
        yield
    except SearchError as error:
        raise SearchError(f"{name}: {error}") from error


@contextlib.contextmanager
def _progress(measure: str) -> Iterator[Steps]:
    """Yield a function that starts the progress bar of a step, on a terminal only."""
    from rich.progress import (  # noqa: PLC0415 (keeps --help fast)
        BarColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
    )

    from dbt_anonymize.extensions.search.results import Training  # noqa: PLC0415 (as above)

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[state]}"),
        TimeElapsedColumn(),
    )
    console = SafeConsole(stderr=True, quiet=is_quiet())
    with Progress(*columns, console=console, transient=True) as bars:

        def start(step: str) -> ProgressCallback:
            for task in bars.task_ids:
                bars.remove_task(task)
            if step.startswith("rounds") and not console.is_terminal:
                console.print(f"Searching {step} ...")  # they take the longest
            bar: TaskID = bars.add_task(step, total=None, state="")

            def update(state: State | Training) -> None:
                if isinstance(state, Training):
                    bars.update(bar, total=1.0, completed=state.share, state=str(state))
                    return
                text = _state_text(state, measure)
                bars.update(bar, total=state.total, completed=state.settled, state=text)

            return update

        yield start


def _state_text(state: State, measure: str) -> str:
    nodes = (
        f"{state.settled:,} of {pluralized(state.total, 'node')}: {state.checked:,} checked, "
        f"{state.settled - state.checked:,} pruned"
    )
    if state.best is None:
        return nodes
    return f"{nodes}; best: {measure} {published_text(measure, state.best.loss)}, k {state.best.k}"


def _class_sizes(text: str | None, efforts: int | None) -> tuple[int, ...]:
    """Return the class sizes of the option ``--ks``."""
    if text is None:
        return ()
    if efforts is not None:
        raise typer.BadParameter("say either --efforts or --ks.")
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch("[1-9][0-9]{0,11}", part) for part in parts):
        raise typer.BadParameter("--ks must be whole numbers, such as 5,10,20,50.")
    return tuple(map(int, parts))
