"""Time until an event: its column, and the value of the target that says that it happened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.drafting.facts import ColumnFacts, find_column
from dbt_anonymize.literals import quote_name
from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec.problems import did_you_mean

# Values of an event that happened, in lower case.
_HAPPENED = {"1", "true", "t", "yes", "y", "event", "dead", "died", "death", "deceased", "relapsed"}


def find_time(facts: Sequence[ColumnFacts], target: ColumnFacts, time: str) -> ColumnFacts:
    """Return the column of ``--time``; one that cannot be a time is a `SpecError`."""
    column = find_column(facts, time)
    if column is None:
        remedy = did_you_mean(time, [one.name for one in facts], "Name another column.")
        raise SpecError(f"--time must name a column; there is no {time}. {remedy}")
    reasons = {
        "the target, too": column is target,
        f"the type {column.type}": column.kind != "number",
        "NULLs": column.known < column.records,
        "one value only": column.distinct <= 1,
    }
    why = next((reason for reason, holds in reasons.items() if holds), "")
    if not why and target.distinct != 2:
        why = f"a target with {target.distinct} classes beside it, not happened or censored"
    if why:
        raise SpecError(
            f"--time {time} must be a number, the time until the event or until somebody was last "
            f"seen; it has {why}. Name another column."
        )
    return column


def find_event(warehouse: Warehouse, relation: Any, target: str, event: str | None) -> str:
    """Return the value of a target for which the event happened, as text.

    Without ``event``, a target with no or several such values is a `SpecError`.
    """
    text = warehouse.macro("type_string", package="dbt")
    rows = warehouse.rows(
        f"select distinct cast({quote_name(target)} as {text}) from {relation} "  # noqa: S608 (quoted)
        f"where {quote_name(target)} is not null"
    )
    values = [str(value) for (value,) in rows]
    event_values = _HAPPENED if event is None else {event.lower()}
    happened = [value for value in values if value.lower() in event_values]
    if len(happened) == 1:
        return happened[0]
    if event is None:
        raise SpecError(
            f"--time needs to know which value of {target} says that it happened; its values say "
            "nothing. Name it: --event <value>."
        )
    raise SpecError(f"--event must be a value of {target}; it has another one. Name one.")
