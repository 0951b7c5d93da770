"""The command ``dbt-anonymize init``: the draft of a spec, from what a relation holds."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import note, say, spinner
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import ProjectError, SpecError
from dbt_anonymize.extensions.drafting.commands.aim import (
    Aim,
    Categories,
    Dimensions,
    Event,
    Explain,
    For,
    MergedBy,
    Predict,
    Purpose,
    Sums,
    Time,
)
from dbt_anonymize.pluralize import pluralized

if TYPE_CHECKING:
    from dbt_anonymize.extensions.drafting.facts import ColumnFacts
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
    purpose: For = None,
    categories: MergedBy = Categories.frequency,
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Take what is proposed, and drop what is in doubt."),
    ] = False,
    replace_: Annotated[
        bool, typer.Option("--replace", help="Write the files of an earlier draft anew.")
    ] = False,
    explain: Explain = None,
) -> None:
    """Draft anonymizations/<name>.yml and its hierarchies from what a relation holds."""
    from dbt_anonymize.extensions.drafting.text import check_name, spec_text  # noqa: PLC0415
    from dbt_anonymize.spec.json_schema import write_schema  # noqa: PLC0415

    declared, aim = declared_source(ref, source), Aim(Purpose.model, predict, time, event)
    path = check_name(place.project, name, replaces=replace_, is_written=explain is None)
    by_target = categories is Categories.target
    if dimensions or sums:
        from dbt_anonymize.extensions.drafting.commands import counted  # noqa: PLC0415

        others = {"--predict": predict, "--categories target": by_target, "--explain": explain}
        counted.check_beside({**others, "--purpose": purpose}, has_dimensions=bool(dimensions))
        table = counted.Asked(dimensions or [], sums or [])
        counted.init_table(place, name, path, declared, table, takes_all=yes, replaces=replace_)
        return
    if by_target:
        _check_target(place.project.root / path, predict, purpose, explain)
    facts = _read_facts(place, declared, aim, by_target=by_target)
    if explain is not None:
        _print_report(place, declared, facts, explain, name=name, aim=aim)
        return
    is_asked = not yes and sys.stdin.isatty()
    purpose = purpose or (_ask_purpose() if is_asked and not by_target else Purpose.model)
    is_tested = predict is not None or purpose is Purpose.model
    proposals = _propose_roles(facts, aim, is_tested=is_tested, is_asked=is_asked, takes_all=yes)
    options = {"takes_all": yes, "is_tested": is_tested, "by_target": by_target}
    drafted = _build_draft(place, declared, proposals, name, event=event, **options)
    is_known = replace_ and (place.project.root / path).exists()
    written = write_seeds(place, name, drafted, replaces=replace_)
    write_schema(place.project.root)
    text = spec_text(name, declared, drafted, takes_all=yes, purpose=purpose.value)
    (place.project.root / path).write_text(text, encoding="utf-8")
    _print_draft(drafted, by_target=by_target)
    for file in [f"replaced {path.as_posix()}"] * is_known + written:
        note(file)
    note(_next_steps(name, path, drafted, text, is_searched=purpose is Purpose.model))


def _check_target(
    path: Path, predict: str | None, purpose: Purpose | None, explain: str | None
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
    from dbt_anonymize.extensions.drafting.roles import decide_all, propose, target_guess_reason  # noqa: PLC0415

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
) -> Draft:
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
    if takes_all:
        check_complete(relation.identifier, drafted, needs_target=is_tested)
    return drafted


def option_of(declared: Source) -> str:
    """Return the option that names a relation."""
    if declared.ref:
        return f"--ref {declared.ref}"
    return f"--source {'.'.join(declared.source or ())}"


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


def ask_role(proposal: Proposal) -> Proposal:
    """Ask for the role of an undecided proposal."""
    from dbt_anonymize.spec.draft import ROLES  # noqa: PLC0415

    if proposal.is_decided:
        return proposal
    roles = [role for role in ROLES if role != "masked"]
    say(f"{proposal.name} ({proposal.facts.type}): {proposal.reason}")
    role = ""
    while role not in roles:
        role = typer.prompt(f"  role ({', '.join(roles)})", default=proposal.role)
    return replace(
        proposal,
        role=role,
        is_decided=True,
        mask=proposal.mask if role == proposal.role else None,
        is_target=proposal.is_target and role in {"sensitive", "insensitive"},
    )


def check_seeds(
    place: Place, name: str, drafted: Draft, *, replaces: bool = False
) -> tuple[list[str], list[str]]:
    """Return the files of hierarchies that a draft replaces, and those that it removes.

    An existing file is an error unless it is replaced; seeds of other anonymizations always stay.
    """
    files = [f"{plan.seed}.csv" for plan in drafted.plans.values()]
    properties = f"_{name}_hierarchies.yml"
    files += [properties] if files else []
    seeds = place.project.seeds
    stale = _stale_seeds(seeds / properties, files) if replaces else []
    existing = [file for file in files if (seeds / file).exists()]
    if existing and not replaces:
        raise ProjectError(
            f"{seeds.name}/{existing[0]}: must not exist yet. Move it, or take another "
            "name for the anonymization."
        )
    _check_owned(place, name, [*existing, *stale])
    return existing, stale


def write_seeds(place: Place, name: str, drafted: Draft, *, replaces: bool = False) -> list[str]:
    """Write the hierarchies and their properties; return a note for each file."""
    from dbt_anonymize.extensions.drafting.text import seeds_text  # noqa: PLC0415
    from dbt_anonymize.hierarchies.seed_csv import hierarchy_csv  # noqa: PLC0415

    existing, stale = check_seeds(place, name, drafted, replaces=replaces)
    files = {f"{plan.seed}.csv": hierarchy_csv(plan.hierarchy) for plan in drafted.plans.values()}
    if files:
        files[f"_{name}_hierarchies.yml"] = seeds_text(name, drafted)
    seeds = place.project.seeds
    seeds.mkdir(exist_ok=True)
    for file, text in files.items():
        (seeds / file).write_text(text, encoding="utf-8", newline="\n")
    for file in stale:
        (seeds / file).unlink()
    marks = dict.fromkeys(existing, "replaced ") | dict.fromkeys(stale, "removed ")
    return [marks.get(file, "") + place.relative_name(seeds / file) for file in [*files, *stale]]


def _stale_seeds(properties: Path, files: Sequence[str]) -> list[str]:
    """Return the seeds of an earlier draft that a new one lacks."""
    if not properties.exists():
        return []
    seeds = re.findall(r"^  - name: (\w+)$", properties.read_text(encoding="utf-8"), re.MULTILINE)
    stale = [f"{seed}.csv" for seed in seeds if f"{seed}.csv" not in files]
    return [file for file in stale if (properties.parent / file).exists()]


def _check_owned(place: Place, name: str, files: Sequence[str]) -> None:
    """Raise a `ProjectError` if another anonymization reads a seed that would be replaced."""
    for spec in sorted((place.project.root / "anonymizations").glob("*.yml")):
        if spec.stem == name:
            continue
        words = set(re.findall(r"\w+", spec.read_text(encoding="utf-8")))
        if shared := next((file for file in files if file.removesuffix(".csv") in words), None):
            raise ProjectError(
                f"{place.relative_name(place.project.seeds / shared)}: must not be replaced, since "
                f"anonymizations/{spec.name} reads it too. Give it a hierarchy of its own first."
            )


def _print_draft(drafted: Draft, *, by_target: bool) -> None:
    if by_target:
        note(_outer_text(drafted))
    for proposal in drafted.proposals:
        mark = "" if proposal.is_decided else " (undecided)"
        note(f"{proposal.name}: {proposal.role}{mark}, {proposal.reason}")
    if drafted.subject:
        facts = drafted.subject.facts
        people = f"{pluralized(facts.records, 'record')} are of {facts.distinct:,}"
        note(f"subject: {facts.name}, since {people}; k counts these.")
    if drafted.singled:
        names, count = drafted.singled[-1]
        note(f"{', '.join(names)} together single out {pluralized(count, 'record')}.")


def _next_steps(name: str, path: Path, drafted: Draft, text: str, *, is_searched: bool) -> str:
    if ": TODO" in text or "[TODO]" in text:
        return f"{path.as_posix()}: decide every TODO, then run `dbt-anonymize generate {name}`."
    if drafted.efforts:
        return (
            f"{path.as_posix()}: read it, then run `dbt-anonymize generate {name}` and "
            f"`dbt build`. `dbt-anonymize search {name}` then finds the levels "
            + ("on which models do best." if is_searched else "that lose the least.")
        )
    return (
        f"{path.as_posix()}: read it, then run `dbt-anonymize generate {name}`, "
        f"`dbt build --select +{name}_frequencies` and `dbt-anonymize search {name}`."
    )
