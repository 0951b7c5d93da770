"""Refusals of tables and columns that no draft can be made of, in one line each."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.errors import SpecError
from dbt_anonymize.evaluation.data.targets import MAX_CLASSES
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.names import said_by
from dbt_anonymize.extensions.drafting.proposal import KEY, Proposal
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.spec.problems import did_you_mean, split_names
from dbt_anonymize.spec.problems import names as shown_names

_SHOWN = 20


def check_table(name: str, facts: Sequence[ColumnFacts]) -> None:
    """Raise a `SpecError` for a table without records, or with a column alone."""
    if len(facts) < 2:
        raise SpecError(
            f"{name}: must have a record key and columns to release; it has "
            f"{pluralized(len(facts), 'column')}. Join what is known of these records in a model."
        )
    if not facts[0].records:
        raise SpecError(f"{name}: must hold records; it has none. Load it first.")


def find_predictable(facts: Sequence[ColumnFacts], predict: str) -> ColumnFacts:
    """Return the column that was asked for; what models cannot predict is refused."""
    named = [one for one in facts if one.name.lower() == predict.lower()]
    if not named:
        more = f" and {len(facts) - _SHOWN} more" if len(facts) > _SHOWN else ""
        raise SpecError(
            f"--predict must name a column; there is no {predict}. Columns are "
            f"{', '.join(one.name for one in facts[:_SHOWN])}{more}."
        )
    (found,) = named
    if why := _unpredictable(found, facts):
        raise SpecError(
            f"--predict {predict} must be a column of classes or numbers that are known; it has "
            f"{why}. Name another column."
        )
    return found


def find_named(
    facts: Sequence[ColumnFacts], names: Sequence[str], option: str, purpose: str
) -> list[ColumnFacts]:
    """Return the columns that an option names, one by one or with commas between them.

    A name without a column is refused.
    """
    found = {one.name.lower(): one for one in facts}
    listed = split_names(names, [one for one in names if one.lower() in found])
    if missing := next((name for name in listed if name.lower() not in found), None):
        known = [one.name for one in facts]
        remedy = did_you_mean(missing, known, f"Columns are {shown_names(known)}.")
        raise SpecError(f"{option} must name a column {purpose}; there is no {missing}. {remedy}")
    return [found[name.lower()] for name in listed]


def find_dropped(
    facts: Sequence[ColumnFacts], drop: Sequence[str], *, used: Sequence[ColumnFacts | None]
) -> list[ColumnFacts]:
    """Return the columns that are left out; no column, or one that is used, is refused."""
    dropped = find_named(facts, drop, "--drop", "to leave out")
    if wanted := next((one for one in dropped if one in used), None):
        raise SpecError(
            f"--drop must name a column to leave out; {wanted.name} is what models predict. Name "
            "another column."
        )
    return dropped


def check_kept(proposals: Sequence[Proposal], keep: Sequence[ColumnFacts]) -> None:
    """Raise a `SpecError` for a column that must stay readable and is not released at all."""
    for one in proposals:
        if one.facts in keep and one.role in {"identifier", "dropped", KEY}:
            what = "the record key" if one.role == KEY else f"{one.role}: {one.reason}"
            raise SpecError(
                f"--keep must name a column that can be released; {one.name} is {what}. Leave it "
                "out, or decide its role in a draft of `dbt-anonymize init`."
            )


def _unpredictable(facts: ColumnFacts, others: Sequence[ColumnFacts]) -> str:
    """Return what keeps models from predicting a column; nothing where they can.

    A number of which everybody has another one, such as a wage, is predicted; a key is not.
    """
    is_said = any(said_by(facts.name, kind) for kind in ("key", "identifier", "row_number"))
    is_only_key = not any(one.is_unique and one is not facts for one in others)
    is_key = not facts.is_fractional and (facts.kind != "number" or is_said or is_only_key)
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
