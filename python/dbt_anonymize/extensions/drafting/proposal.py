"""The proposed role of a column."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.pluralize import pluralized

KEY = "record_key"
# Roles of what models may predict, or learn from.
PREDICTED = frozenset({"sensitive", "insensitive", "quasi_identifier"})
# Texts of more different values are no hierarchy that anybody reads; they are left to a person.
MOST_CATEGORIES = 100
# A number of more different values is predicted as a number.
_MOST_CLASSES = 20
# A column that alone explains so much of the target is seldom known before it.
_GIVES_AWAY = 0.5


@dataclass(frozen=True)
class Proposal:
    """A role of a column; ``KEY`` is the record key, which has none.

    ``is_decided``: names or values say so; else a person should look at it. ``is_time``: the time
    until the target happens; ``is_leak``: left out, since it tells what models predict.
    """

    facts: ColumnFacts
    role: str
    reason: str
    is_decided: bool = True
    is_target: bool = False
    is_time: bool = False
    is_leak: bool = False
    mask: str | None = None

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.facts.name

    @property
    def is_telling(self) -> bool:
        """Tell whether it is released as it is, and finds records by itself."""
        is_kept = self.role in {"sensitive", "insensitive"} and not self.mask
        return is_kept and self.facts.distinct > MOST_CATEGORIES and self.facts.singled > 0

    @property
    def gives_away(self) -> bool:
        """Tell whether models learn the target from it alone: part of it, or what follows it."""
        is_feature = self.role in PREDICTED and not (self.is_target or self.is_time)
        return is_feature and (self.facts.tells or 0.0) >= _GIVES_AWAY


def is_amount(facts: ColumnFacts) -> bool:
    """Tell whether models predict a column as a number, not as a class."""
    return facts.kind == "number" and facts.distinct > _MOST_CLASSES


def alone(facts: ColumnFacts) -> str:
    """Say how many values a column has, and how many records they single out."""
    values = pluralized(facts.distinct, "value")
    return f"{values}, {pluralized(facts.singled, 'record')} singled out by it alone"
