"""Refusals of tables and columns that cannot be drafted, in one line each."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.errors import SpecError
from dbt_anonymize.evaluation.data.targets import MAX_CLASSES
from dbt_anonymize.extensions.drafting.facts import ColumnFacts, find_column
from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.drafting.proposal import KEY, Proposal
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.spec.problems import did_you_mean, split_names
from dbt_anonymize.spec.problems import names as shown_names

_SHOWN = 20


def check_table(name: str, facts: Sequence[ColumnFacts]) -> None:
    """Raise a `SpecError` for a table without records, or with a single column."""
    delimiter = next((sign for sign in ";\t|" if facts and sign in facts[0].name), None)
    if len(facts) == 1 and delimiter:
        shown = {"\t": "tabs"}.get(delimiter, f"`{delimiter}`")
        raise SpecError(
            f"{name}: must have columns; it has one, whose name holds {shown}: its file was read "
            "with commas. Of a seed, write `config: {delimiter: ...}` into its properties."
        )
    if len(facts) < 2:
        raise SpecError(
            f"{name}: must have a record key and columns to release; it has "
            f"{pluralized(len(facts), 'column')}. Join what is known of these records in a model."
        )
    if not facts[0].records:
        raise SpecError(f"{name}: must hold records; it has none. Load it first.")


def find_predictable(facts: Sequence[ColumnFacts], predict: str) -> ColumnFacts:
    """Return the column of ``--predict``; one that models cannot predict is a `SpecError`."""
    column = find_column(facts, predict)
    if column is None:
        others = f" and {len(facts) - _SHOWN} more" if len(facts) > _SHOWN else ""
        raise SpecError(
            f"--predict must name a column; there is no {predict}. Columns are "
            f"{', '.join(column.name for column in facts[:_SHOWN])}{others}."
        )
    if why := _unpredictable_reason(column, facts):
        raise SpecError(
            f"--predict {predict} must be a column of classes or numbers that are known; it has "
            f"{why}. Name another column."
        )
    return column


def find_named(
    facts: Sequence[ColumnFacts], names: Sequence[str], option: str, purpose: str
) -> list[ColumnFacts]:
    """Return the columns of an option, which may be repeated or separate names by commas.

    An unknown name is a `SpecError`.
    """
    by_name = {column.name.lower(): column for column in facts}
    listed = split_names(names, [name for name in names if name.lower() in by_name])
    if missing := next((name for name in listed if name.lower() not in by_name), None):
        names_of_columns = [column.name for column in facts]
        remedy = did_you_mean(
            missing, names_of_columns, f"Columns are {shown_names(names_of_columns)}."
        )
        raise SpecError(f"{option} must name a column {purpose}; there is no {missing}. {remedy}")
    return [by_name[name.lower()] for name in listed]


def find_dropped(
    facts: Sequence[ColumnFacts], drop: Sequence[str], *, used: Sequence[ColumnFacts | None]
) -> list[ColumnFacts]:
    """Return the columns to leave out; an unknown or used one is a `SpecError`."""
    dropped = find_named(facts, drop, "--drop", "to leave out")
    if in_use := next((column for column in dropped if column in used), None):
        raise SpecError(
            f"--drop must name a column to leave out; {in_use.name} is what models predict. Name "
            "another column."
        )
    return dropped


def check_kept(proposals: Sequence[Proposal], keep: Sequence[ColumnFacts]) -> None:
    """Raise a `SpecError` for a column to keep readable that is not released."""
    for proposal in proposals:
        if proposal.facts in keep and proposal.role in {"identifier", "dropped", KEY}:
            role_text = (
                "the record key" if proposal.role == KEY else f"{proposal.role}: {proposal.reason}"
            )
            raise SpecError(
                f"--keep must name a column that can be released; {proposal.name} is {role_text}. "
                "Leave it out, or decide its role in a draft of `dbt-anonymize init`."
            )


def _unpredictable_reason(facts: ColumnFacts, others: Sequence[ColumnFacts]) -> str:
    """Return the reason why models cannot predict a column; "" if they can.

    A unique number such as a wage can be predicted; a key cannot.
    """
    is_named_key = any(
        name_indicates(facts.name, kind) for kind in ("key", "identifier", "row_number")
    )
    is_only_key = not any(other.is_unique and other is not facts for other in others)
    is_key = not facts.is_fractional and (facts.kind != "number" or is_named_key or is_only_key)
    has_many = facts.kind != "number" and facts.distinct > MAX_CLASSES
    many = f"{facts.distinct} values in {pluralized(facts.records, 'record')}, each its own"
    reasons = {
        "NULL everywhere": not facts.known,
        "one value only": facts.distinct <= 1,
        f"values that look like {facts.looks}, which name people": bool(facts.looks),
        many: facts.is_unique and is_key,
        f"{facts.distinct} classes, and models tell at most {MAX_CLASSES} apart: group them in a "
        "model": has_many,
        f"the type {facts.type}: cast it in a model before": (
            facts.kind not in {"number", "text", "boolean"}
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")
