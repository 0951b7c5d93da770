"""The command ``dbt-anonymize try``: what a table would look like, and how useful it would be."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dbt_anonymize.cli.common import SafeConsole, at_work, figures_table, is_quiet, note
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import SearchError

if TYPE_CHECKING:
    from dbt_anonymize.drafting.counted import Counted
    from dbt_anonymize.drafting.table import Drafted
    from dbt_anonymize.project.warehouse import Warehouse
    from dbt_anonymize.spec import Source, Spec
    from dbt_anonymize.trial.alternatives import Alternative, Trial
    from dbt_anonymize.trial.sample import Sampled

# CPU seconds in which models are trained.
SECONDS = 12.0
# Characters of a value that is shown.
_WIDEST = 24


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
    drafted: Drafted
    spec: Spec
    counted: Counted
    sampled: Sampled
    trial: Trial


@on_target
def try_(
    place: Place,
    relation: Annotated[
        str, typer.Argument(help="Model or seed, or source_name.table_name.", show_default=False)
    ],
    *,
    predict: Annotated[
        str | None, typer.Option(help="Column that models predict, the target.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Name of the anonymization; that of the table by default.")
    ] = None,
    take: Annotated[
        Taken | None, typer.Option(help="Write this alternative: spec, hierarchies, models.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0, help="CPU seconds in which models are trained.")
    ] = SECONDS,
    evaluations: Annotated[
        int | None, typer.Option(min=1, help="Models to train at most, instead of seconds.")
    ] = None,
) -> None:
    """Show three ways to release a table: levels, class sizes, what models learn, five rows.

    Roles and hierarchies are drafted, levels are searched and scored on untouched records. Nothing
    is written unless an alternative is taken.
    """
    from dbt_anonymize.drafting.text import check_name  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.project.engines import in_memory  # noqa: PLC0415
    from dbt_anonymize.search.race import Budget  # noqa: PLC0415

    begin = time.monotonic()
    declared = _source(relation)
    named = name or _name_of(relation)
    path = check_name(place.project, named) if take or name else None
    budget = Budget(evaluations, None if evaluations else time_limit)
    with in_memory() as session:
        tried = _try(place, declared, named, predict, budget=budget, session=session)
        console = SafeConsole(quiet=is_quiet())
        _show(console, tried, time.monotonic() - begin)
        if take is None:
            console.print(
                f"Nothing was written. `dbt-anonymize try {relation} --predict "
                f"{tried.spec.target} --take balanced` writes spec, hierarchies and models of "
                "these alternatives and releases the one that is taken."
            )
            return
        _take(place, tried, str(take.value), path or check_name(place.project, named))


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
    predict: str | None,
    *,
    budget: Any,
    session: Any,
) -> _Tried:
    from dbt_anonymize.trial.alternatives import find_alternatives  # noqa: PLC0415
    from dbt_anonymize.trial.sample import read_sample  # noqa: PLC0415

    with place.warehouse() as warehouse:
        drafted, spec = _drafted(place, warehouse, declared, name, predict)
        with at_work("Counting combinations"):
            relation = warehouse.relation_of(declared)
            counted = _counted(warehouse, relation, spec, drafted)
            sampled = read_sample(warehouse, relation, spec, counted, session)
    # The warehouse is closed meanwhile: a file of DuckDB would be locked for everybody else.
    try:
        with at_work("Training models on candidates"):
            trial = find_alternatives(spec, counted, sampled.records, budget)
    except SearchError as error:
        raise SearchError(f"{name}: {error}") from error
    return _Tried(name, declared, drafted, spec, counted, sampled, trial)


def _drafted(
    place: Place, warehouse: Warehouse, declared: Source, name: str, predict: str | None
) -> tuple[Drafted, Spec]:
    """Draft roles, hierarchies and a spec without efforts."""
    from dbt_anonymize.cli.init import option_of  # noqa: PLC0415
    from dbt_anonymize.drafting.facts import read_facts  # noqa: PLC0415
    from dbt_anonymize.drafting.refusals import check_table  # noqa: PLC0415
    from dbt_anonymize.drafting.roles import propose, take_all  # noqa: PLC0415
    from dbt_anonymize.drafting.table import check_complete, draft_table  # noqa: PLC0415
    from dbt_anonymize.drafting.telling import with_telling  # noqa: PLC0415
    from dbt_anonymize.drafting.text import spec_of, spec_text  # noqa: PLC0415

    relation = warehouse.relation_of(declared)
    with at_work(f"Reading {relation.identifier}"):
        facts = read_facts(warehouse, relation)
        check_table(relation.identifier, facts)
        if predict is not None:
            facts = with_telling(warehouse, relation, facts, predict)
        proposals = take_all(propose(facts, predict))
        drafted = draft_table(
            warehouse,
            relation,
            proposals,
            name=name,
            place=option_of(declared),
            folder=place.shown(place.project.seeds),
            efforts=0,
        )
    check_complete(relation.identifier, drafted)
    return drafted, spec_of(spec_text(name, declared, drafted, takes_all=True), drafted)


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

    spec, trial, plans = tried.spec, tried.trial, tried.counted.plans
    measure = spec.quality.measure
    total = tried.counted.table.total
    _show_roles(console, tried)
    first = trial.alternatives[0].raced
    headings = ("k", "left out", measure, "of untouched")
    table = figures_table((*headings,), ["alternative"])
    for one in trial.alternatives:
        share = _share(one)
        table.add_row(
            str(one.checked.k),
            f"{one.checked.suppressed:,}",
            f"{one.raced.score:.3f}",
            "-" if share is None else f"{share:.0%}",
            ", ".join(one.names),
        )
    console.print(table)
    console.print(
        f"{measure} of models trained on each alternative and scored on untouched records; "
        f"untouched {first.untouched:.3f}, zero rule {first.zero_rule:.3f}; the share is of what "
        f"the untouched table gains over the zero rule. {total:,} records, "
        f"{len(tried.sampled.records.rows):,} of them for models; {trial.trained} models in "
        f"{seconds:.0f} s.\n"
    )
    places = shown_places(tried.sampled, trial)
    words = {plan.column: level_words(plan.hierarchy) for plan in plans}
    for one in trial.alternatives:
        effort = Effort(levels=dict(zip(words, one.checked.node, strict=True)))
        said = in_words(effort, spec.quasi_identifiers, words)
        console.print(f"{', '.join(one.names)}: {said}.")
        console.print(_cells(generalized(tried.sampled, plans, one.checked.node, places)))
    if rest := others(tried.sampled, places):
        console.print("The same records in the columns that no alternative generalizes:")
        console.print(_cells(rest))


def _cells(columns: dict[str, list[str]]) -> Any:
    """Return a line for each column: records stand side by side, so that wide tables fit."""
    most = max(map(len, columns.values()), default=0)
    table = figures_table((), ["column", *([""] * most)])
    table.show_header = False
    for name, values in columns.items():
        shown = (one if len(one) <= _WIDEST else f"{one[: _WIDEST - 1]}…" for one in values)
        table.add_row(name, *shown)
    return table


def _show_roles(console: SafeConsole, tried: _Tried) -> None:
    """Say which columns are which; a reader must see what is taken for harmless."""
    roles: dict[str, list[str]] = {}
    for name, column in tried.spec.columns.items():
        roles.setdefault(column.role.replace("_", "-"), []).append(name)
    console.print(f"Predicts {tried.spec.target} from {tried.counted.table.total:,} records.")
    for role, names in roles.items():
        console.print(f"{role}: {', '.join(names)}")


def _share(one: Alternative) -> float | None:
    """Return which share of what the untouched table gains over the zero rule is kept."""
    gain = one.raced.untouched - one.raced.zero_rule
    return (one.raced.score - one.raced.zero_rule) / gain if gain > 0 else None


def _take(place: Place, tried: _Tried, wanted: str, path: Any) -> None:
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
    text = spec_text(tried.name, tried.source, drafted, takes_all=True)
    text = with_released(with_efforts(text, efforts), number)
    write_schema(place.project.root)
    written = write_seeds(place, tried.name, tried.drafted)
    (place.project.root / path).write_text(text, encoding="utf-8")
    for file in written:
        note(file)
    note(path.as_posix())
    changed = generate.generate(place.folder, [tried.name])
    note(f"{len(changed)} models. Next: `dbt build`, then `dbt-anonymize results {tried.name}`.")
