"""The command ``dbt-anonymize try``: what a table would look like, and how useful it would be."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from enum import StrEnum
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dbt_anonymize.cli.aim import Aim, Drop, Event, Predict, Time
from dbt_anonymize.cli.common import (
    Purpose,
    SafeConsole,
    at_work,
    figures_table,
    is_quiet,
    note,
)
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import SearchError, SpecError

if TYPE_CHECKING:
    from dbt_anonymize.drafting.counted import Counted
    from dbt_anonymize.drafting.table import Drafted
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.search.by_quality import Raced
    from dbt_anonymize.search.race import Budget
    from dbt_anonymize.spec import Source, Spec
    from dbt_anonymize.trial.alternatives import Alternative, Trial
    from dbt_anonymize.trial.sample import Drawn

# CPU seconds in which models are trained.
SECONDS = 12.0
# Characters of a value that is shown.
_WIDEST = 24
# Sorts the labels of growing intervals, and says nothing to a reader of five records.
_RANK = re.compile(r"^\d+(-\d+)?: (?=\[)")


class Taken(StrEnum):
    """Alternatives by name."""

    more_use = "more-use"
    balanced = "balanced"
    more_privacy = "more-privacy"


@dataclass(frozen=True)
class _Tried:
    """All that a trial knows; nothing of it is written."""

    name: str
    source: Source
    aim: Aim
    drafted: Drafted
    spec: Spec
    counted: Counted
    sampled: Drawn
    trial: Trial
    copies: list[tuple[str, str, int]]


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
    purpose: Annotated[
        Purpose, typer.Option(help="To learn models, or to count and sum without any model.")
    ] = Purpose.model,
    name: Annotated[
        str | None, typer.Option(help="Name of the anonymization; that of the table by default.")
    ] = None,
    take: Annotated[
        Taken | None, typer.Option(help="Write this alternative: spec, hierarchies, models.")
    ] = None,
    replace_: Annotated[
        bool, typer.Option("--replace", help="Write the files of an earlier draft anew.")
    ] = False,
    time_limit: Annotated[
        float,
        typer.Option(min=0, help="CPU seconds in which models are trained, or levels searched."),
    ] = SECONDS,
    evaluations: Annotated[
        int | None, typer.Option(min=1, help="Models to train at most, instead of seconds.")
    ] = None,
) -> None:
    """Show three ways to release a table: levels, class sizes, what models learn, five rows.

    Roles and hierarchies are drafted, levels are searched and scored on untouched records; for
    statistics by 1 - loss. Nothing is written unless an alternative is taken.
    """
    from dbt_anonymize.drafting.text import check_name  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.engines import in_memory  # noqa: PLC0415
    from dbt_anonymize.search.race import Budget  # noqa: PLC0415

    begin = monotonic()
    if purpose is Purpose.statistics and (predict is not None or evaluations is not None):
        raise SpecError(
            "--purpose statistics trains no model, and --predict and --evaluations are of models. "
            "Leave them or it out."
        )
    aim = Aim(purpose, predict, time, event, tuple(drop or ()))
    declared = _source(relation)
    named = name or _name_of(relation)
    path = check_name(place.project, named, replaces=replace_) if take or name else None
    budget = Budget(evaluations, None if evaluations else time_limit)
    with in_memory() as session:
        tried = _try(place, declared, named, aim=aim, budget=budget, session=session)
        console = SafeConsole(quiet=is_quiet())
        _show(console, tried, monotonic() - begin)
        if take is None:
            console.print(_next(place, relation, tried))
            return
        _take(place, tried, str(take.value), path, replaces=replace_)


def _next(place: Place, relation: str, tried: _Tried) -> str:
    from dbt_anonymize.spec.loading import FOLDER, SUFFIX  # noqa: PLC0415 (keeps --help fast)

    is_known = (place.project.root / FOLDER / f"{tried.name}{SUFFIX}").exists()
    again = " --replace" * is_known
    aim = replace(tried.aim, predict=tried.spec.target) if tried.spec.is_tested else tried.aim
    return (
        f"Nothing was written. `dbt-anonymize try {relation} {aim.options} --take balanced{again}` "
        "writes spec, hierarchies and models of these alternatives and releases the one that is "
        "taken."
    )


def _source(relation: str) -> Source:
    from dbt_anonymize.cli.init import declared_source  # noqa: PLC0415

    has_source = "." in relation
    return declared_source(None if has_source else relation, relation if has_source else None)


def _name_of(relation: str) -> str:
    plain = re.sub("[^a-z0-9_]+", "_", relation.rpartition(".")[2].lower()).strip("_")
    return plain if plain[:1].isalpha() else f"t_{plain}"


def _try(
    place: Place,
    declared: Source,
    name: str,
    *,
    aim: Aim,
    budget: Budget,
    session: Any,
) -> _Tried:
    from dbt_anonymize.drafting.telling import find_copies  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.trial.sample import read_few, read_sample  # noqa: PLC0415

    with place.warehouse() as warehouse:
        drafted, spec = _drafted(place, warehouse, declared, name, aim)
        with at_work("Counting combinations"):
            relation = warehouse.relation_of(declared)
            copies = find_copies(warehouse, relation, drafted.proposals)
            counted = _counted(warehouse, relation, spec, drafted)
            read = read_sample if spec.is_tested else read_few
            drawn = read(warehouse, relation, spec, counted, session)
    # The warehouse is closed meanwhile: a file of DuckDB would be locked for everybody else.
    try:
        trial = _searched(spec, counted, drawn, budget)
    except SearchError as error:
        raise SearchError(f"{name}: {error}") from error
    return _Tried(name, declared, aim, drafted, spec, counted, drawn, trial, copies)


def _searched(spec: Spec, counted: Counted, drawn: Drawn, budget: Budget) -> Trial:
    """Find alternatives by what models learn, or by what is lost where none is trained."""
    from dbt_anonymize.trial.alternatives import find_alternatives, least_losses  # noqa: PLC0415
    from dbt_anonymize.trial.sample import Sampled  # noqa: PLC0415

    if isinstance(drawn, Sampled):
        with at_work("Training models on candidates") as tell:
            return find_alternatives(spec, counted, drawn.records, budget, tell)
    with at_work("Searching levels"):
        return least_losses(spec, counted, drawn.rows, budget.seconds)


def _drafted(
    place: Place,
    warehouse: Warehouse,
    declared: Source,
    name: str,
    aim: Aim,
) -> tuple[Drafted, Spec]:
    """Draft roles, hierarchies and a spec without efforts."""
    from dbt_anonymize.cli.init import option_of  # noqa: PLC0415
    from dbt_anonymize.drafting.roles import propose, take_all  # noqa: PLC0415
    from dbt_anonymize.drafting.table import (  # noqa: PLC0415
        check_complete,
        draft_table,
        with_event,
    )
    from dbt_anonymize.drafting.telling import facts_for  # noqa: PLC0415
    from dbt_anonymize.drafting.text import spec_of, spec_text  # noqa: PLC0415

    relation, is_tested = warehouse.relation_of(declared), aim.purpose is Purpose.model
    with at_work(f"Reading {relation.identifier}"):
        facts = facts_for(warehouse, relation, aim.predict)
        proposals = take_all(
            propose(facts, aim.predict, aim.time, is_guessed=is_tested, drop=aim.drop)
        )
        drafted = draft_table(
            warehouse,
            relation,
            proposals,
            name=name,
            place=option_of(declared),
            folder=place.shown(place.project.seeds),
            efforts=0,
        )
        drafted = with_event(warehouse, relation, drafted, aim.event)
    check_complete(relation.identifier, drafted, needs_target=is_tested)
    text = spec_text(name, declared, drafted, takes_all=True, purpose=aim.purpose.value)
    return drafted, spec_of(text, drafted)


def _counted(warehouse: Warehouse, relation: Any, spec: Spec, drafted: Drafted) -> Counted:
    from dbt_anonymize.drafting.counted import count_combinations  # noqa: PLC0415

    limited = [str(one["attribute"]) for one in spec.guarantees.resolved if "attribute" in one]
    return count_combinations(
        warehouse,
        relation,
        [drafted.plans[one] for one in spec.quasi_identifiers],
        subject=spec.subject,
        sensitive=list(dict.fromkeys(limited)),
    )


def _show(console: SafeConsole, tried: _Tried, seconds: float) -> None:
    from dbt_anonymize.hierarchies.words import level_words  # noqa: PLC0415
    from dbt_anonymize.project.descriptions import in_words  # noqa: PLC0415
    from dbt_anonymize.spec import Effort  # noqa: PLC0415
    from dbt_anonymize.trial.shown import generalized, others, shown_places  # noqa: PLC0415

    trial, plans = tried.trial, tried.counted.plans
    _show_roles(console, tried)
    if tried.spec.is_tested:
        _show_raced(console, tried, seconds)
    else:
        _show_losses(console, tried, seconds)
    places = shown_places(tried.sampled, trial)
    words = {plan.column: level_words(plan.hierarchy) for plan in plans}
    for one in trial.alternatives:
        effort = Effort(levels=dict(zip(words, one.checked.node, strict=True)))
        said = in_words(effort, tried.spec.quasi_identifiers, words)
        console.print(f"{', '.join(one.names)}: {said}.")
        console.print(_cells(generalized(tried.sampled, plans, one.checked.node, places)))
    if rest := others(tried.sampled, places):
        console.print("The same records in the columns that no alternative generalizes:")
        console.print(_cells(rest))


def _show_raced(console: SafeConsole, tried: _Tried, seconds: float) -> None:
    """Show how models do on each alternative."""
    trial, measure = tried.trial, tried.spec.measure
    raced = [(one, one.raced) for one in trial.alternatives if one.raced is not None]
    _, first = raced[0]
    table = figures_table(("k", "left out", measure, "of untouched"), ["alternative"])
    for one, scores in raced:
        share = _share(scores)
        table.add_row(
            *_sizes(one),
            f"{scores.score:.3f}",
            "-" if share is None else f"{share:.0%}",
            ", ".join(one.names),
        )
    console.print(table)
    console.print(
        f"{measure} of models trained on each alternative and scored on untouched records; "
        f"untouched {first.untouched:.3f}, zero rule {first.zero_rule:.3f}; the share is of what "
        f"the untouched table gains over the zero rule. {tried.counted.table.total:,} records, "
        f"{len(tried.sampled.rows):,} of them for models; {trial.trained} models in "
        f"{seconds:.0f} s.\n"
    )


def _show_losses(console: SafeConsole, tried: _Tried, seconds: float) -> None:
    """Show how much detail each alternative keeps."""
    from dbt_anonymize.spec.tested import NO_MODEL  # noqa: PLC0415 (keeps --help fast)

    table = figures_table(("k", "left out", tried.spec.shown_measure), ["alternative"])
    for one in tried.trial.alternatives:
        table.add_row(*_sizes(one), f"{1 - one.checked.loss:.3f}", ", ".join(one.names))
    console.print(table)
    console.print(
        f"{tried.spec.shown_measure} is the share of detail that is left, 1 for the untouched "
        f"table; {NO_MODEL}. Searched in {seconds:.0f} s.\n"
    )


def _sizes(one: Alternative) -> tuple[str, str]:
    return str(one.checked.k), f"{one.checked.suppressed:,}"


def _cells(columns: dict[str, list[str]]) -> Any:
    """Return a line for each column: records stand side by side, so that wide tables fit."""
    most = max(map(len, columns.values()), default=0)
    table = figures_table((), ["column", *([""] * most)])
    table.show_header = False
    for name, values in columns.items():
        plain = (_RANK.sub("", one) for one in values)
        shown = (one if len(one) <= _WIDEST else f"{one[: _WIDEST - 1]}…" for one in plain)
        table.add_row(name, *shown)
    return table


def _show_roles(console: SafeConsole, tried: _Tried) -> None:
    """Say which columns are which; a reader must see what is taken for harmless."""
    roles: dict[str, list[str]] = {}
    for name, column in tried.spec.columns.items():
        roles.setdefault(column.role.replace("_", "-"), []).append(name)
    total = f"{tried.counted.table.total:,} records"
    if tried.spec.is_tested:
        console.print(f"Predicts {tried.spec.target} from {total}.")
    else:
        console.print(f"Predicts nothing; {total}.")
    for role, names in roles.items():
        console.print(f"{role}: {', '.join(names)}")
    if telling := [one for one in tried.drafted.proposals if one.gives_away]:
        said = ", ".join(f"{one.name} {one.facts.explains}" for one in telling)
        options = " ".join(f"--drop {shlex.quote(one.name)}" for one in telling)
        console.print(
            f"By itself, {said} of {tried.spec.target}: it may be part of it, or known only "
            f"after it. Then models learn little else; leave it out: {options}"
        )
    for one in (one for one in tried.drafted.proposals if one.is_telling):
        console.print(
            f"{one.name} is released as it is, and {one.facts.singled:,} records have a value of "
            "their own: who knows it finds them, whatever k is. Round it in a model before."
        )
    for quasi, kept, count in tried.copies:
        console.print(
            f"{kept} is released as it is and equals {quasi} in {count:,} records: who knows "
            f"{quasi} finds them, whatever k is. Round {kept} in a model before, or, where nobody "
            f"could know {quasi}, --drop {shlex.quote(quasi)}"
        )


def _share(raced: Raced) -> float | None:
    """Return which share of what the untouched table gains over the zero rule is kept."""
    gain = raced.untouched - raced.zero_rule
    return (raced.score - raced.zero_rule) / gain if gain > 0 else None


def _take(place: Place, tried: _Tried, wanted: str, path: Any, *, replaces: bool) -> None:
    """Count an alternative once more, and write it."""
    from dbt_anonymize.cli.init import write_seeds  # noqa: PLC0415
    from dbt_anonymize.drafting.text import spec_text  # noqa: PLC0415
    from dbt_anonymize.project import generate  # noqa: PLC0415
    from dbt_anonymize.spec.editing import with_efforts, with_released  # noqa: PLC0415
    from dbt_anonymize.spec.json_schema import write_schema  # noqa: PLC0415
    from dbt_anonymize.trial.alternatives import recount  # noqa: PLC0415

    (number,) = [
        number
        for number, one in enumerate(tried.trial.alternatives, start=1)
        if wanted in one.names
    ]
    with place.warehouse() as warehouse:
        relation = warehouse.relation_of(tried.source)
        counted = _counted(warehouse, relation, tried.spec, tried.drafted)
    for one in tried.trial.alternatives:
        recount(tried.spec, counted, one)
    efforts = [one.effort(tried.spec) for one in tried.trial.alternatives]
    levels = [one.levels for one in efforts if one.levels]
    drafted = replace(tried.drafted, efforts=levels, is_tried=True)
    text = spec_text(
        *(tried.name, tried.source, drafted), takes_all=True, purpose=tried.aim.purpose.value
    )
    text = with_released(with_efforts(text, efforts), number)
    write_schema(place.project.root)
    written = write_seeds(place, tried.name, tried.drafted, replaces=replaces)
    (place.project.root / path).write_text(text, encoding="utf-8")
    for file in written:
        note(file)
    note(path.as_posix())
    changed = generate.generate(place.folder, [tried.name])
    note(
        f"models/{tried.name}/: {len(changed)} files. Next: `dbt build`, then "
        f"`dbt-anonymize results {tried.name}`."
    )
