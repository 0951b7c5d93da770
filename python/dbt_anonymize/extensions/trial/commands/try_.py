"""The command ``dbt-anonymize try``: what a table would look like, and how useful it would be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dbt_anonymize.cli.common import Keep, SafeConsole, is_quiet, note, spinner
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import SearchError, SpecError
from dbt_anonymize.extensions.drafting.commands.aim import (
    Aim,
    Drop,
    Event,
    K,
    Predict,
    Purpose,
    Sensitive,
    Time,
)
from dbt_anonymize.extensions.trial.commands.tried import (
    Tried,
    count,
    open_identifiers,
    singled_by_sensitive,
)

if TYPE_CHECKING:
    from dbt_anonymize.extensions.drafting.equal_levels import DistinctLevels
    from dbt_anonymize.extensions.drafting.table import Draft
    from dbt_anonymize.extensions.search.race import Budget
    from dbt_anonymize.extensions.trial.alternatives import Trial
    from dbt_anonymize.extensions.trial.sample import Drawn
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Source, Spec

# Models to train on at most RECORDS records, in proportion fewer on more. A number, not seconds, so
# that repeated trials have equal results. Models of times take longer.
MODELS, MODELS_OF_TIMES, FEWEST_MODELS, RECORDS = 300, 75, 50, 10_000
# CPU seconds that limit the training; and a search of levels by loss.
SECONDS, SECONDS_BY_LOSS = 60.0, 14.0


class AlternativeName(StrEnum):
    """Alternatives by name."""

    more_use = "more-use"
    balanced = "balanced"
    more_privacy = "more-privacy"


Replace = Annotated[
    bool, typer.Option("--replace", help="Write the files of an earlier draft anew.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0, help="CPU seconds in which models are trained, or levels searched."),
]
Evaluations = Annotated[
    int | None, typer.Option(min=1, help="Models to train at most; by default always as many.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Show records and reasons of each alternative.")
]


@on_target
def try_(
    place: Place,
    relation: Annotated[
        str, typer.Argument(help="Model or seed, or source_name.table_name.", show_default=False)
    ],
    *,
    predict: Predict = None,
    time: Time = None,
    event: Event = None,
    drop: Drop = None,
    keep: Keep = None,
    sensitive: Sensitive = None,
    k: K = None,
    purpose: Annotated[
        Purpose, typer.Option(help="To learn models, or to count and sum without any model.")
    ] = Purpose.model,
    name: Annotated[
        str | None, typer.Option(help="Name of the anonymization; that of the table by default.")
    ] = None,
    take: Annotated[
        AlternativeName | None,
        typer.Option(help="Write this alternative: spec, hierarchies, models."),
    ] = None,
    replace_: Replace = False,
    time_limit: TimeLimit = None,
    evaluations: Evaluations = None,
    verbose: Verbose = False,
) -> None:
    """Show three ways to release a table: levels, class sizes, what models learn, five rows.

    Roles and hierarchies are drafted, levels are searched and scored on untouched records; for
    statistics by 1 - loss. Nothing is written unless an alternative is taken.
    """
    from dbt_anonymize.extensions.drafting.text import check_name  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.trial.commands.try_output import print_alternative, print_trial  # noqa: PLC0415
    from dbt_anonymize.extensions.trial.commands.try_taking import take as take_one  # noqa: PLC0415
    from dbt_anonymize.project.engines import in_memory  # noqa: PLC0415

    begin = monotonic()
    if purpose is Purpose.statistics and (predict is not None or evaluations is not None):
        raise SpecError(
            "--purpose statistics trains no model, and --predict and --evaluations are of models. "
            "Leave them or it out."
        )
    named = {"drop": drop, "keep": keep, "sensitive": sensitive}
    aim = Aim(purpose, predict, time, event, k=k, **{n: tuple(of or ()) for n, of in named.items()})
    declared, anonymization = _source(relation), name or _name_of(relation)
    is_written = bool(take or name)
    path = check_name(place.project, anonymization, replaces=replace_, k=k) if is_written else None
    options = {"name": name, "evaluations": evaluations, "time-limit": time_limit}
    with in_memory() as session:
        asked = (aim, _budget(evaluations, time_limit), replace_ if take else None)
        tried = _run_trial(place, declared, anonymization, asked=asked, session=session)
        console = SafeConsole(quiet=is_quiet())
        if take is None or verbose:
            print_trial(console, tried, monotonic() - begin, verbose=verbose)
        if take is None or path is None:
            console.print(_next_steps(place, relation, tried, options))
            return
        chosen = next(a for a in tried.trial.alternatives if take.value in a.names)
        print_alternative(console, tried, chosen)
        take_one(place, tried, take.value, path, replaces=replace_)


def _budget(evaluations: int | None, seconds: float | None) -> Budget:
    from dbt_anonymize.extensions.search.race import Budget  # noqa: PLC0415 (keeps --help fast)

    return Budget(evaluations, None if evaluations else seconds)


def _next_steps(
    place: Place, relation: str, tried: Tried, options: Mapping[str, object | None]
) -> str:
    from dbt_anonymize.spec.loading import FOLDER, SUFFIX  # noqa: PLC0415 (keeps --help fast)

    is_known = (place.project.root / FOLDER / f"{tried.name}{SUFFIX}").exists()
    words = [relation, _with_target(tried.aim, tried.spec).options]
    words += [f"--{option} {value}" for option, value in options.items() if value is not None]
    words += ["--take balanced", *["--replace"] * is_known]
    time_note = (
        "Time ended the search, so that another table may be found in another run or with a larger "
        f"--time-limit; with --evaluations {max(tried.trial.trained, 1)} every run finds the same. "
        if tried.trial.is_timed
        else ""
    )
    return (
        f"Nothing was written. `dbt-anonymize try {' '.join(filter(None, words))}` writes it. "
        f"{time_note}--keep <column> keeps one readable, --drop <column> leaves one out, "
        "--sensitive <column> releases one as it is, --verbose shows more."
    )


def _with_target(aim: Aim, spec: Spec) -> Aim:
    """Return the aim with the target, also where it was guessed."""
    return replace(aim, predict=spec.target) if spec.is_tested else aim


def _source(relation: str) -> Source:
    from dbt_anonymize.extensions.drafting.commands.init import declared_source  # noqa: PLC0415

    has_source = "." in relation
    return declared_source(None if has_source else relation, relation if has_source else None)


def _name_of(relation: str) -> str:
    plain = re.sub("[^a-z0-9_]+", "_", relation.rpartition(".")[2].lower()).strip("_")
    return plain if plain[:1].isalpha() else f"t_{plain}"


def _run_trial(
    place: Place,
    declared: Source,
    name: str,
    *,
    asked: tuple[Aim, Budget, bool | None],
    session: Any,
) -> Tried:
    """Return the trial, that which was shown if one of its alternatives is taken.

    ``asked`` has the aim, the budget, and whether files are replaced if one is taken, else None.
    """
    from dbt_anonymize.extensions.drafting.commands.seeds import check_seeds  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.extensions.drafting.companions import find_times  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.target_shares import find_copies  # noqa: PLC0415
    from dbt_anonymize.extensions.search.evidence import NothingLearnedError  # noqa: PLC0415
    from dbt_anonymize.extensions.trial.remembered import (  # noqa: PLC0415
        file_of,
        has_changed,
        recall,
        remember,
    )
    from dbt_anonymize.extensions.trial.sample import read_examples, read_sample  # noqa: PLC0415

    aim, budget, replaces = asked
    with place.warehouse() as warehouse:
        drafted, spec = _draft(place, warehouse, declared, name, aim)
        if replaces is not None:
            check_seeds(place, name, drafted, replaces=replaces)
        with spinner("Counting combinations"):
            relation = warehouse.relation_of(declared)
            copies = find_copies(warehouse, relation, drafted.proposals)
            times = find_times(warehouse, relation, drafted.proposals) if aim.time is None else []
            names = open_identifiers(warehouse, relation, spec)
            singled = singled_by_sensitive(warehouse, relation, spec)
            counted = count(warehouse, relation, spec, drafted)
            read = read_sample if spec.is_tested else read_examples
            drawn = read(warehouse, relation, spec, counted, session)
    # The warehouse is closed during the search: a file of DuckDB would be locked for all others.
    options = (declared, _with_target(aim, spec), budget)
    file = file_of(place.project.root, options, spec, counted, drawn)
    trial = None if replaces is None else recall(file, spec, counted, drawn)
    if replaces is not None and has_changed(file):
        note(f"{relation.identifier} has changed since it was shown: it is tried anew.")
    if trial is None:
        try:
            trial = _search_alternatives(spec, counted, drawn, budget)
        except NothingLearnedError as error:
            raise SearchError(f"{name}: {error} {_learned_from(spec)}") from error
        except SearchError as error:
            raise SearchError(f"{name}: {error}") from error
        remember(file, trial)
    found = (copies, times, names, singled)
    return Tried(name, declared, aim, drafted, spec, counted, drawn, trial, *found)


def _learned_from(spec: Spec) -> str:
    """Return the columns that models had, and those that they had not."""
    dropped = [name for name, column in spec.columns.items() if column.role == "dropped"]
    text = f"The models learned from {', '.join(spec.features)}."
    if dropped:
        text += f" Left out: {', '.join(dropped)}; --keep takes some of them in."
    return f"{text} --purpose statistics chooses levels without models."


def _models(spec: Spec, records: int) -> int:
    """Return the number of models to train on ``records`` records.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> spec = SimpleNamespace(task="classification")
    >>> [_models(spec, records) for records in (500, 10_000, 50_000)]
    [300, 300, 60]
    """
    most = MODELS_OF_TIMES if spec.task == "survival" else MODELS
    return max(most * RECORDS // max(records, RECORDS), FEWEST_MODELS)


def _search_alternatives(
    spec: Spec, counted: DistinctLevels, drawn: Drawn, budget: Budget
) -> Trial:
    """Search alternatives by scores of models, or by the loss if none are trained."""
    from dbt_anonymize.extensions.search.race import Budget  # noqa: PLC0415
    from dbt_anonymize.extensions.trial.alternatives import find_alternatives, find_least_losses  # noqa: PLC0415
    from dbt_anonymize.extensions.trial.sample import Sampled  # noqa: PLC0415

    if isinstance(drawn, Sampled):
        if budget.evaluations is None and budget.seconds is None:
            budget = Budget(_models(spec, len(drawn.rows)), SECONDS)
        with spinner("Training models on candidates") as callback:
            return find_alternatives(spec, counted, drawn.records, budget, callback)
    with spinner("Searching levels"):
        seconds = SECONDS_BY_LOSS if budget.seconds is None else budget.seconds
        return find_least_losses(spec, counted, drawn.rows, seconds)


def _draft(
    place: Place,
    warehouse: Warehouse,
    declared: Source,
    name: str,
    aim: Aim,
) -> tuple[Draft, Spec]:
    """Draft roles, hierarchies and a spec without efforts."""
    from dbt_anonymize.extensions.drafting.plans import option_of  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.refusals import find_named  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.roles import decide_all, propose  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.table import (  # noqa: PLC0415
        check_complete,
        draft_table,
        with_event,
    )
    from dbt_anonymize.extensions.drafting.target_shares import facts_for  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.text import spec_of, spec_text  # noqa: PLC0415

    relation, is_tested = warehouse.relation_of(declared), aim.purpose is Purpose.model
    with spinner(f"Reading {relation.identifier}"):
        facts = facts_for(warehouse, relation, aim.predict, aim.time)
        proposals = decide_all(
            propose(
                facts,
                *(aim.predict, aim.time),
                is_guessed=is_tested,
                drop=aim.drop,
                keep=aim.keep,
                sensitive=aim.sensitive,
            )
        )
        drafted = draft_table(
            warehouse,
            relation,
            proposals,
            name=name,
            place=option_of(declared),
            folder=place.relative_name(place.project.seeds),
            efforts=0,
        )
        drafted = with_event(warehouse, relation, drafted, aim.event)
        kept_columns = find_named(facts, aim.keep, "--keep", "that stays readable")
        drafted = replace(
            drafted, keep=tuple(column.name for column in kept_columns), k=aim.k or drafted.k
        )
    check_complete(relation, declared, drafted, needs_target=is_tested)
    text = spec_text(name, declared, drafted, takes_all=True, purpose=aim.purpose.value)
    return drafted, spec_of(text, drafted)
