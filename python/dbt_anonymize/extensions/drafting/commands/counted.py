"""The draft of a table of counts, by ``dbt-anonymize init --dimensions``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_anonymize.cli.common import note, spinner
from dbt_anonymize.cli.place import Place
from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.commands.asking import ask_role
from dbt_anonymize.extensions.drafting.commands.seeds import write_seeds
from dbt_anonymize.extensions.drafting.counted import (
    check_amounts,
    drafting_function,
    table_text,
    with_kept_dimensions,
)
from dbt_anonymize.extensions.drafting.counted_columns import check_shown, propose_counted
from dbt_anonymize.extensions.drafting.plans import option_of
from dbt_anonymize.extensions.drafting.table import check_complete, draft_table
from dbt_anonymize.extensions.drafting.target_shares import facts_for
from dbt_anonymize.extensions.drafting.text import columns_text, spec_of
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.spec.json_schema import write_schema

if TYPE_CHECKING:
    from dbt_anonymize.extensions.drafting.table import Draft
    from dbt_anonymize.spec import Source


@dataclass(frozen=True)
class Asked:
    """Columns that the options name."""

    dimensions: Sequence[str]
    sums: Sequence[str]


def init_table(
    place: Place,
    name: str,
    path: Path,
    declared: Source,
    asked: Asked,
    *,
    takes_all: bool,
    replaces: bool,
) -> None:
    """Write the draft of a spec with a table, and its hierarchies."""
    drafting_function()
    with place.warehouse() as warehouse:
        relation = warehouse.relation_of(declared)
        with spinner(f"Reading {relation.identifier}"):
            facts = facts_for(warehouse, relation, None)
    proposals, dimensions, sums = propose_counted(facts, asked.dimensions, asked.sums)
    if not takes_all and sys.stdin.isatty():  # the warehouse is closed during prompts
        proposals = [ask_role(one) for one in proposals]
        check_shown(proposals, dimensions)
    with place.warehouse() as warehouse, spinner("Building hierarchies and counting"):
        relation = warehouse.relation_of(declared)
        drafted = draft_table(
            warehouse,
            relation,
            proposals,
            name=name,
            place=option_of(declared),
            folder=place.relative_name(place.project.seeds),
            efforts=0,
        )
        drafted = with_kept_dimensions(drafted)
        if takes_all:
            check_complete(relation, declared, drafted, needs_target=False)
        check_amounts(warehouse, relation, sums)
        table = table_text(warehouse, relation, drafted, dimensions, sums)
    described = f"{relation.identifier}, counted by {', '.join(dimensions)} (draft)."
    text = columns_text(name, declared, drafted, takes_all=takes_all, described=described) + table
    is_undecided = ": TODO" in text
    if not is_undecided:
        spec_of(text, drafted)
    is_known = replaces and (place.project.root / path).exists()
    written = write_seeds(place, name, drafted, replaces=replaces)
    write_schema(place.project.root)
    (place.project.root / path).write_text(text, encoding="utf-8")
    _print_table(drafted, [*dimensions, *sums])
    for file in [f"replaced {path.as_posix()}"] * is_known + written:
        note(file)
    step = "decide every TODO" if is_undecided else "read it"
    then = "`dbt build` and `dbt-anonymize results`"
    note(f"{path.as_posix()}: {step}, then run `dbt-anonymize generate {name}`, {then}.")


def check_beside(others: Mapping[str, object], *, has_dimensions: bool) -> None:
    """Refuse options that are of no use for a table; ``others`` are those that are given."""
    if not has_dimensions:
        raise SpecError("--sums are sums of a table, which needs --dimensions <columns>.")
    if given := next((option for option, value in others.items() if value), None):
        raise SpecError(
            f"--dimensions drafts a table of counts, for which {given} is of no use: leave one of "
            "them out."
        )


def _print_table(drafted: Draft, shown: Sequence[str]) -> None:
    left_out = 0
    for one in drafted.proposals:
        if one.role == "dropped" and one.name not in shown:
            left_out += 1
            continue
        note(f"{one.name}: {one.role}{'' if one.is_decided else ' (undecided)'}, {one.reason}")
    if left_out:
        note(f"{pluralized(left_out, 'other column')} dropped: the table does not show them.")
    if drafted.subject:
        facts = drafted.subject.facts
        records = pluralized(facts.records, "record")
        note(
            f"subject: {facts.name}, since {records} are of {facts.distinct:,}, who decide which "
            "cells are small."
        )
