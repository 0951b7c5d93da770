"""The command ``dbt-anonymize init``: the draft of a spec, from what a relation holds."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dbt_anonymize.cli.common import at_work, note, say
from dbt_anonymize.cli.place import Place, on_target
from dbt_anonymize.errors import ProjectError, SpecError
from dbt_anonymize.pluralize import counted

if TYPE_CHECKING:
    from dbt_anonymize.drafting.roles import Proposal
    from dbt_anonymize.drafting.table import Drafted
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
    predict: Annotated[
        str | None, typer.Option(help="Column that models predict, the target.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Take what is proposed without asking.")
    ] = False,
) -> None:
    """Draft anonymizations/<name>.yml and its hierarchies from what a relation holds."""
    from dbt_anonymize.drafting.facts import read_facts  # noqa: PLC0415 (keeps --help fast)
    from dbt_anonymize.drafting.roles import propose, take_all  # noqa: PLC0415
    from dbt_anonymize.drafting.table import draft_table  # noqa: PLC0415
    from dbt_anonymize.drafting.text import check_name, spec_text  # noqa: PLC0415
    from dbt_anonymize.spec.json_schema import write_schema  # noqa: PLC0415

    declared = declared_source(ref, source)
    path = check_name(place.project, name)
    with place.warehouse() as warehouse:
        relation = warehouse.relation_of(declared)
        note(f"Reading {relation.identifier} ...")
        proposals = propose(read_facts(warehouse, relation), predict)
    if not any(one.facts.records for one in proposals):
        say(f"{relation.identifier} holds no record: load it first, or decide all.", err=True)
    if yes:
        proposals = take_all(proposals)
    # Closed while somebody thinks: a file of DuckDB is locked for everybody else.
    elif sys.stdin.isatty():
        proposals = [_asked(one) for one in proposals]
    with place.warehouse() as warehouse, at_work("Building hierarchies and efforts"):
        drafted = draft_table(
            warehouse,
            warehouse.relation_of(declared),
            proposals,
            name=name,
            place=f"--ref {ref}" if ref else f"--source {source}",
            folder=place.shown(place.project.seeds),
        )
    write_schema(place.project.root)
    written = write_seeds(place, name, drafted)
    text = spec_text(name, declared, drafted, takes_all=yes)
    (place.project.root / path).write_text(text, encoding="utf-8")
    _show(drafted)
    for file in written:
        note(file)
    note(_next(name, path, drafted, is_open=": TODO" in text or "[TODO]" in text))


def declared_source(ref: str | None, source: str | None) -> Source:
    """Return the one relation that options name."""
    from dbt_anonymize.spec import Source  # noqa: PLC0415

    source_name, _, table = (source or "").partition(".")
    if (ref is None) == (source is None) or (source is not None and not (source_name and table)):
        raise SpecError(
            "init: must be given exactly one relation. "
            "Write --ref model_or_seed, or --source source_name.table_name."
        )
    return Source(ref=ref) if ref is not None else Source(source=(source_name, table))


def _asked(proposal: Proposal) -> Proposal:
    """Return an undecided proposal as somebody decides it."""
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


def write_seeds(place: Place, name: str, drafted: Drafted) -> list[str]:
    """Write the hierarchies and their properties; a file that exists is kept and an error."""
    from dbt_anonymize.drafting.text import seeds_text  # noqa: PLC0415
    from dbt_anonymize.hierarchies.seed_csv import hierarchy_csv  # noqa: PLC0415

    if not drafted.plans:
        return []
    files = {f"{plan.seed}.csv": hierarchy_csv(plan.hierarchy) for plan in drafted.plans.values()}
    files[f"_{name}_hierarchies.yml"] = seeds_text(name, drafted)
    seeds = place.project.seeds
    existing = [file for file in files if (seeds / file).exists()]
    if existing:
        raise ProjectError(
            f"{seeds.name}/{existing[0]}: must not exist yet. Move it, or take another "
            "name for the anonymization."
        )
    seeds.mkdir(exist_ok=True)
    for file, text in files.items():
        (seeds / file).write_text(text, encoding="utf-8", newline="\n")
    return [place.shown(seeds / file) for file in files]


def _show(drafted: Drafted) -> None:
    for one in drafted.proposals:
        mark = "" if one.is_decided else " (undecided)"
        note(f"{one.name}: {one.role}{mark}, {one.reason}")
    if drafted.subject:
        facts = drafted.subject.facts
        people = f"{counted(facts.records, 'record')} are of {facts.distinct:,}"
        note(f"subject: {facts.name}, since {people}; k counts these.")
    if drafted.singled:
        names, count = drafted.singled[-1]
        note(f"{', '.join(names)} together single out {counted(count, 'record')}.")


def _next(name: str, path: Path, drafted: Drafted, *, is_open: bool) -> str:
    if is_open:
        return f"{path.as_posix()}: decide every TODO, then run `dbt-anonymize generate {name}`."
    if drafted.efforts:
        return (
            f"{path.as_posix()}: read it, then run `dbt-anonymize generate {name}` and "
            f"`dbt build`. `dbt-anonymize search {name}` then finds the levels on which models do "
            "best."
        )
    return (
        f"{path.as_posix()}: read it, then run `dbt-anonymize generate {name}`, "
        f"`dbt build --select +{name}_frequencies` and `dbt-anonymize search {name}`."
    )
