"""The command ``dbt-anonymize init``: the draft of a spec, from what a relation holds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import note, say, spinner
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.commands.aim import (
    Aim,
    Categories,
    Dimensions,
    Event,
    Explain,
    For,
    Linked,
    MergedBy,
    Predict,
    Purpose,
    Replace,
    Sums,
    Time,
    Yes,
)
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from dbt_anonymize.extensions.drafting.commands.linked import Neighbours
    from dbt_anonymize.extensions.drafting.facts import ColumnFacts
    from dbt_anonymize.extensions.drafting.linked_tables import LinkedTables
    from dbt_anonymize.extensions.drafting.proposal import Proposal
    from dbt_anonymize.extensions.drafting.table import Draft
    from dbt_anonymize.spec import Source


@on_target
def init(
    place: Place,
    name: Annotated[str, typer.Argument(help="Name of the new anonymization.")],
    *,
    ref: Annotated[str | None, typer.Option(help="Model or seed to anonymize.")] = None,
    source: Annotated[
        str | None, typer.Option(help="dbt source to anonymize, as source_name.table_name.")
    ] = None,
    predict: Predict = None,
    time: Time = None,
    event: Event = None,
    dimensions: Dimensions = None,
    sums: Sums = None,
    linked: Linked = None,
    purpose: For = None,
    categories: MergedBy = Categories.frequency,
    yes: Yes = False,
    replace_: Replace = False,
    explain: Explain = None,
) -> None:
    """Draft anonymizations/<name>.yml and its hierarchies from what a relation holds."""
    from dbt_anonymize.extensions.drafting.commands.linked import (  # noqa: PLC0415
        Asked,
        draft_linked,
        note_neighbours,
    )
    from dbt_anonymize.extensions.drafting.text import check_name, spec_text  # noqa: PLC0415

    declared, aim = declared_source(ref, source), Aim(Purpose.model, predict, time, event)
    path = check_name(place.project, name, replaces=replace_, is_written=explain is None)
    by_target = categories is Categories.target
    if dimensions or sums:
        from dbt_anonymize.extensions.drafting.commands import counted  # noqa: PLC0415

        others = {"--predict": predict, "--categories target": by_target, "--explain": explain}
        further = {"--purpose": purpose, "--linked": linked}
        counted.check_beside({**others, **further}, has_dimensions=bool(dimensions))
        table = counted.Asked(dimensions or [], sums or [])
        counted.init_table(place, name, path, declared, table, takes_all=yes, replaces=replace_)
        return
    if by_target:
        _check_target(place.project.root / path, predict, purpose, explain, linked)
    facts = _read_facts(place, declared, aim, by_target=by_target)
    if explain is not None:
        _print_report(place, declared, facts, explain, name=name, aim=aim)
        return
    is_asked = not yes and sys.stdin.isatty()
    purpose = purpose or (_ask_purpose() if is_asked and not by_target else Purpose.model)
    is_tested = predict is not None or purpose is Purpose.model
    proposals = _propose_roles(facts, aim, is_tested=is_tested, is_asked=is_asked, takes_all=yes)
    options = {"takes_all": yes, "is_tested": is_tested, "by_target": by_target}
    drafted, neighbours = _build_draft(place, declared, proposals, name, event=event, **options)
    asked = Asked(linked or [], is_asked=is_asked, takes_all=yes)
    tables = draft_linked(place, neighbours, drafted, asked, name=name, declared=declared)
    text = spec_text(name, declared, drafted, takes_all=yes, purpose=purpose.value, linked=tables)
    for line in _write_draft(place, path, text, drafted, tables, replaces=replace_):
        note(line)
    if not tables:
        note_neighbours(neighbours, drafted)
    note(_next_steps(name, path, drafted, text, searched=Purpose.statistics if tables else purpose))


def _write_draft(
    place: Place,
    path: Path,
    text: str,
    drafted: Draft,
    tables: LinkedTables | None,
    *,
    replaces: bool,
) -> list[str]:
    """Write the spec and its hierarchies; return notes of roles, and for each file but a spec."""
    from dbt_anonymize.extensions.drafting.commands.linked import (  # noqa: PLC0415
        check_valid,
        linked_lines,
    )
    from dbt_anonymize.extensions.drafting.commands.seeds import write_seeds  # noqa: PLC0415
    from dbt_anonymize.spec.json_schema import write_schema  # noqa: PLC0415

    plans = dict(drafted.plans)
    if tables:
        check_valid(text, drafted, tables)
        plans |= tables.plans
    file = place.project.root / path
    known = [f"replaced {path.as_posix()}"] if replaces and file.exists() else []
    written = write_seeds(place, path.stem, replace(drafted, plans=plans), replaces=replaces)
    write_schema(place.project.root)
    file.write_text(text, encoding="utf-8")
    return [*_draft_lines(drafted), *linked_lines(tables), *known, *written]


def _check_target(
    path: Path,
    predict: str | None,
    purpose: Purpose | None,
    explain: str | None,
    linked: Sequence[str] | None,
) -> None:
    """Refuse categories by target without a target, or if its values may not be read."""
    import yaml  # noqa: PLC0415 (keeps --help fast)

    raw = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    declared = raw.get("guarantees") if isinstance(raw, dict) else None
    reasons = {
        "needs a target: --predict <column>": predict is None,
        "is for models, not for --purpose statistics: leave one of them out": (
            purpose is Purpose.statistics
        ),
        f"must not stand beside differential_privacy, which {path.name} declares: its hierarchies "
        "would tell of targets without any noise. Leave it out": (
            "differential_privacy" in (declared or ())
        ),
        "drafts, and --explain writes nothing: leave one of them out": explain is not None,
        "keeps records from the choice of hierarchies, which linked tables cannot: leave --linked "
        "or it out": bool(linked),
    }
    if reason := next((reason for reason, holds in reasons.items() if holds), None):
        raise SpecError(f"--categories target {reason}.")


def _outer_text(drafted: Draft) -> str:
    if drafted.outer_share is None:
        return "No categories were merged by target: none are without an order and frequent enough."
    return (
        f"quality.outer_share: {drafted.outer_share}, since categories were merged by the target: "
        "these records had no part in it and score the chosen effort."
    )


def _read_facts(place: Place, declared: Source, aim: Aim, *, by_target: bool) -> list[ColumnFacts]:
    from dbt_anonymize.extensions.drafting.target_shares import facts_for  # noqa: PLC0415 (keeps --help fast)

    with place.warehouse() as warehouse:
        relation = warehouse.relation_of(declared)
        with spinner(f"Reading {relation.identifier}"):
            return facts_for(warehouse, relation, aim.predict, aim.time, has_outer=by_target)


def _propose_roles(
    facts: Sequence[ColumnFacts],
    aim: Aim,
    *,
    is_tested: bool,
    is_asked: bool,
    takes_all: bool,
) -> list[Proposal]:
    """Return a role for each column; the warehouse is closed during prompts."""
    from dbt_anonymize.extensions.drafting.commands.asking import ask_role  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.guessed_target import target_guess_reason  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.roles import decide_all, propose  # noqa: PLC0415

    proposals = propose(facts, aim.predict, aim.time, is_guessed=is_tested)
    target = next((proposal for proposal in proposals if proposal.is_target), None)
    if is_asked:
        if aim.predict is None and is_tested:
            proposals = _ask_target(facts, target)
        return [ask_role(proposal) for proposal in proposals]
    if takes_all and aim.predict is None and target is not None:
        note(
            f"Predicts {target.name} (guess: {target_guess_reason(target)}; --predict names "
            "another)."
        )
    return decide_all(proposals) if takes_all else proposals


def _build_draft(
    place: Place,
    declared: Source,
    proposals: Sequence[Proposal],
    name: str,
    *,
    takes_all: bool,
    is_tested: bool,
    by_target: bool,
    event: str | None,
) -> tuple[Draft, Neighbours]:
    from dbt_anonymize.extensions.drafting.commands.linked import read_neighbours  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.plans import option_of  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.table import (  # noqa: PLC0415
        check_complete,
        draft_table,
        with_event,
    )

    with place.warehouse() as warehouse, spinner("Building hierarchies and efforts"):
        relation = warehouse.relation_of(declared)
        drafted = draft_table(
            warehouse,
            relation,
            proposals,
            name=name,
            place=option_of(declared),
            folder=place.relative_name(place.project.seeds),
            by_target=by_target,
        )
        drafted = with_event(warehouse, relation, drafted, event)
        neighbours = read_neighbours(warehouse, declared, drafted)
    if takes_all:
        check_complete(relation, declared, drafted, needs_target=is_tested)
    if by_target:
        note(_outer_text(drafted))
    return drafted, neighbours


def _print_report(
    place: Place,
    declared: Source,
    facts: Sequence[ColumnFacts],
    column: str,
    *,
    name: str,
    aim: Aim,
) -> None:
    """Print the report of a column; nothing is written."""
    from dbt_anonymize.extensions.drafting.column_report import hierarchy_lines, report_lines  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.plans import option_of  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.roles import propose  # noqa: PLC0415
    from dbt_anonymize.extensions.drafting.table import draft_table  # noqa: PLC0415
    from dbt_anonymize.spec.problems import did_you_mean  # noqa: PLC0415

    proposals = propose(facts, aim.predict, aim.time)
    proposal = next(
        (proposal for proposal in proposals if proposal.name.lower() == column.lower()), None
    )
    if proposal is None:
        names = [fact.name for fact in facts]
        raise SpecError(
            f"--explain must name a column; there is no {column}. "
            + did_you_mean(column, names, f"The first is {names[0]}.")
        )
    with place.warehouse() as warehouse:
        relation = warehouse.relation_of(declared)
        for line in report_lines(warehouse, relation, proposals, proposal):
            say(line)
        drafted = draft_table(
            warehouse,
            relation,
            [proposal],
            name=name,
            place=option_of(declared),
            folder=place.relative_name(place.project.seeds),
            efforts=0,
        )
    for plan in drafted.plans.values():
        for line in hierarchy_lines(plan):
            say(line)
    for reason in drafted.failed.values():
        say(f"  no hierarchy fits: {reason}")


def _ask_purpose() -> Purpose:
    answer = ""
    while answer not in set(Purpose):
        answer = typer.prompt("What is it for? (model, statistics)", default="model").strip()
    return Purpose(answer)


def _ask_target(facts: Sequence[ColumnFacts], guess: Proposal | None) -> list[Proposal]:
    """Ask for the target until the answer is a column that models can predict."""
    from dbt_anonymize.extensions.drafting.roles import propose  # noqa: PLC0415

    while True:
        answer = typer.prompt("Which column do models predict?", default=guess and guess.name)
        try:
            return propose(facts, answer.strip())
        except SpecError as error:
            say(str(error), err=True)


def declared_source(ref: str | None, source: str | None) -> Source:
    """Return the relation of the options ``--ref`` and ``--source``."""
    from dbt_anonymize.spec import Source  # noqa: PLC0415

    source_name, _, table = (source or "").partition(".")
    if (ref is None) == (source is None) or (source is not None and not (source_name and table)):
        raise SpecError(
            "init: must be given exactly one relation. "
            "Write --ref model_or_seed, or --source source_name.table_name."
        )
    return Source(ref=ref) if ref is not None else Source(source=(source_name, table))


def _draft_lines(drafted: Draft) -> Iterator[str]:
    for proposal in drafted.proposals:
        mark = "" if proposal.is_decided else " (undecided)"
        yield f"{proposal.name}: {proposal.role}{mark}, {proposal.reason}"
    if drafted.subject:
        facts = drafted.subject.facts
        people = f"{pluralized(facts.records, 'record')} are of {facts.distinct:,}"
        yield f"subject: {facts.name}, since {people}; k counts these."
    if drafted.singled:
        names, count = drafted.singled[-1]
        yield f"{', '.join(names)} together single out {pluralized(count, 'record')}."


def _next_steps(name: str, path: Path, drafted: Draft, text: str, *, searched: Purpose) -> str:
    """Return what to do next; a search is for a purpose."""
    if ": TODO" in text or "[TODO]" in text:
        return f"{path.as_posix()}: decide every TODO, then run `dbt-anonymize generate {name}`."
    if drafted.efforts:
        return (
            f"{path.as_posix()}: read it, then run `dbt-anonymize generate {name}` and "
            f"`dbt build`. `dbt-anonymize search {name}` then finds the levels "
            + ("on which models do best." if searched is Purpose.model else "that lose the least.")
        )
    return (
        f"{path.as_posix()}: read it, then run `dbt-anonymize generate {name}`, "
        f"`dbt build --select +{name}_frequencies` and `dbt-anonymize search {name}`."
    )
