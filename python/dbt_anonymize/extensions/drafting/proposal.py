"""The proposed role of a column."""

from __future__ import annotations

from dataclasses import dataclass

from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.pluralize import pluralized

KEY = "record_key"
# Roles of columns that models may predict, or learn from.
PREDICTED = frozenset({"sensitive", "insensitive", "quasi_identifier"})
# Most distinct texts for a readable hierarchy; columns with more are left to a person.
MOST_CATEGORIES = 100
# A number with more distinct values is predicted as a number; where single records have a value of
# their own, which no class of a model may be, with more than the second.
_MOST_CLASSES, _MOST_WITH_RARE = 20, 5
# Explained share of the target from which on a column is rarely known before it.
_GIVES_AWAY = 0.5


@dataclass(frozen=True)
class Proposal:
    """The proposed role of a column; `KEY` for the record key.

    ``is_decided``: names or values settle it; else a person should review it. ``is_time``: the time
    until the target happens; ``is_leak``: no feature, since it reveals the target.
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
    def is_unchanged(self) -> bool:
        """Tell whether it is released as it is."""
        return self.role in {"sensitive", "insensitive"} and not self.mask

    @property
    def is_telling(self) -> bool:
        """Tell whether it is released unchanged, and singles out records by itself."""
        return self.is_unchanged and self.facts.singled > 0

    @property
    def gives_away(self) -> bool:
        """Tell whether it alone may reveal the target, as a part or a consequence of it."""
        is_feature = self.role in PREDICTED and not (self.is_target or self.is_time)
        return is_feature and (self.facts.tells or 0.0) >= _GIVES_AWAY


def is_amount(facts: ColumnFacts) -> bool:
    """Tell whether models predict a column as a number, not as a class.

    Examples
    --------
    >>> from dataclasses import replace
    >>> cigarettes = ColumnFacts("cigarettes", "INTEGER", "number", 1388, 1388, 18, singled=3)
    >>> is_amount(cigarettes), is_amount(replace(cigarettes, singled=0))
    (True, False)
    """
    most = _MOST_WITH_RARE if facts.singled else _MOST_CLASSES
    return facts.kind == "number" and facts.distinct > most


def singling_text(facts: ColumnFacts) -> str:
    """Return the number of values of a column, and of records that they single out, in words."""
    values = pluralized(facts.distinct, "value")
    return f"{values}, {pluralized(facts.singled, 'record')} singled out by it alone"
