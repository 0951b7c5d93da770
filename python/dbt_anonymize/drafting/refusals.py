"""Refusals of tables and columns that no draft can be made of, in one line each."""

from __future__ import annotations

from collections.abc import Sequence

from dbt_anonymize.drafting.facts import ColumnFacts
from dbt_anonymize.errors import SpecError
from dbt_anonymize.evaluation.data.targets import MAX_CLASSES
from dbt_anonymize.pluralize import counted

_SHOWN = 20


def check_table(name: str, facts: Sequence[ColumnFacts]) -> None:
    """Raise a `SpecError` for a table without records, or with a column alone."""
    if len(facts) < 2:
        raise SpecError(
            f"{name}: must have a record key and columns to release; it has "
            f"{counted(len(facts), 'column')}. Join what is known of these records in a model."
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
    if why := _unpredictable(found):
        raise SpecError(
            f"--predict {predict} must be a column of classes or numbers that are known; it has "
            f"{why}. Name another column."
        )
    return found


def find_dropped(
    facts: Sequence[ColumnFacts], drop: Sequence[str], *, used: Sequence[ColumnFacts | None]
) -> list[ColumnFacts]:
    """Return the columns that are left out; no column, or one that is used, is refused."""
    found = {one.name.lower(): one for one in facts}
    for name in drop:
        one = found.get(name.lower())
        if one is None or one in used:
            why = f"there is no {name}" if one is None else f"{name} is what models predict"
            raise SpecError(f"--drop must name a column to leave out; {why}. Name another column.")
    return [found[name.lower()] for name in drop]


def _unpredictable(facts: ColumnFacts) -> str:
    """Return what keeps models from predicting a column; nothing where they can."""
    has_many = facts.kind != "number" and facts.distinct > MAX_CLASSES
    many = f"{facts.distinct} values in {counted(facts.records, 'record')}, each its own"
    reasons = {
        "NULL everywhere": not facts.known,
        "one value only": facts.distinct <= 1,
        f"values that look like {facts.looks}, which name people": bool(facts.looks),
        many: facts.is_unique,
        f"{facts.distinct} classes, and models tell at most {MAX_CLASSES} apart: group them in a "
        "model": has_many,
        f"the type {facts.type}: cast it in a model before": (
            facts.kind not in {"number", "text", "boolean"}
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")
