"""A hierarchy for each proposed quasi-identifier, and the command that builds it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dbt_anonymize.drafting.facts import ColumnFacts
from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.hierarchies.bounds import parse_bound
from dbt_anonymize.hierarchies.dates import date_intervals
from dbt_anonymize.hierarchies.intervals import equal_width_intervals
from dbt_anonymize.hierarchies.model import Hierarchy, IntervalHierarchy
from dbt_anonymize.hierarchies.priority import priority_by_frequency
from dbt_anonymize.hierarchies.quantiles import quantile_intervals
from dbt_anonymize.hierarchies.redaction import redact_codes
from dbt_anonymize.project.values import TableColumn, nice_step, widened

# Leaves of a draft: enough to choose from, few enough to search at once.
_LEAVES = 32
_QUANTILES = 16
_MERGED = (2, 2, 2)
_LEVELS_OF_CATEGORIES = 3
# Of the values of a text column, from which on it holds numbers.
_MOST_ARE_NUMBERS = 0.9
_GRANULARITIES = ["month", "quarter", "year", "decade"]


@dataclass(frozen=True)
class Plan:
    """A hierarchy, the name of its seed, and what builds it again."""

    column: str
    seed: str
    hierarchy: Hierarchy
    command: str

    @property
    def kind(self) -> str:
        """Kind of the hierarchy, as specs call it."""
        return "interval" if isinstance(self.hierarchy, IntervalHierarchy) else "categorical"


def seed_name(anonymization: str, column: str, taken: set[str]) -> str:
    """Return a name of a seed that no other column has.

    Examples
    --------
    >>> seed_name("shop", "Birth date", set()), seed_name("shop", "größe", {"shop_hierarchy_gr_e"})
    ('shop_hierarchy_birth_date', 'shop_hierarchy_gr_e_2')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", column.lower()).strip("_")[:60] or "column"
    name, number = f"{anonymization}_hierarchy_{plain}", 1
    while name in taken:
        number += 1
        name = f"{anonymization}_hierarchy_{plain}_{number}"
    taken.add(name)
    return name


def plan(facts: ColumnFacts, column: TableColumn, seed: str, place: str, folder: str) -> Plan:
    """Return the hierarchy that is proposed for a column; ``place`` is ``--ref`` or ``--source``.

    A column that no hierarchy fits is a `HierarchyError`.
    """
    hierarchy, words = _built(facts, column)
    source = f" {place} --column {shlex.quote(facts.name)}"
    command = f"dbt-anonymize hierarchy {words}{source} -o {folder}/{seed}.csv"
    return Plan(facts.name, seed, hierarchy, command)


def _refuse_what_no_build_compares(facts: ColumnFacts) -> None:
    """Refuse types that a build refuses as quasi-identifiers, with the same remedy."""
    if facts.has_zone:
        raise HierarchyError(
            f"{facts.name}: must have no time zone, or its labels follow the zone of each session. "
            "Cast it in a model before, with the zone that is meant (at time zone 'UTC')."
        )
    if facts.is_of_four_bytes:
        raise HierarchyError(
            f"{facts.name}: must be a number of eight bytes, or an exact one; .7 of four bytes "
            "falls below a bound of .7. Cast its text in a model before."
        )


def _built(facts: ColumnFacts, column: TableColumn) -> tuple[Hierarchy, str]:
    _refuse_what_no_build_compares(facts)
    if facts.kind in {"date", "timestamp"}:
        return _dates(column)
    if facts.kind == "number":
        return _numbers(column)
    counts = column.counts()
    if facts.is_code and facts.shortest == facts.longest > 1 and facts.distinct > _LEAVES:
        levels = list(range(1, facts.longest))
        return redact_codes(list(counts), counts=levels), "redaction"
    if not counts:
        raise HierarchyError("a hierarchy must have values; all are NULL. Drop the column.")
    _refuse_numbers_as_text(facts.name, list(counts))
    # Of three and fewer values there is little to merge: each, or none.
    levels_ = _LEVELS_OF_CATEGORIES if len(counts) > _LEVELS_OF_CATEGORIES else 1
    return priority_by_frequency(counts, levels=levels_), f"priority --levels {levels_}"


def _refuse_numbers_as_text(name: str, values: Sequence[str]) -> None:
    """Refuse many numbers that are stored as text: without their order all would become ``*``."""
    numbers = sum(parse_bound(value) is not None for value in values)
    if len(values) > _LEAVES and numbers >= _MOST_ARE_NUMBERS * len(values):
        raise HierarchyError(
            f"{name}: must be of a type of numbers or dates to become intervals; {numbers:,} of "
            f"{len(values):,} values are numbers or dates, stored as text. Cast the column in the "
            "source, and code the others: as a number, NULL, or in a column of their own. If they "
            "are codes without an order, build a hierarchy of groups (`dbt-anonymize hierarchy`)."
        )


def _dates(column: TableColumn) -> tuple[Hierarchy, str]:
    first, last = column.date_ends()
    units = _GRANULARITIES if last.year - first.year >= 20 else _GRANULARITIES[:3]
    if first.year == last.year:
        units = _GRANULARITIES[:2]
    return date_intervals(first, last, units), f"dates --granularities {','.join(units)}"


def _numbers(column: TableColumn) -> tuple[Hierarchy, str]:
    lower, upper = column.number_ends()
    width = nice_step((upper - lower or Decimal(1)) / _LEAVES)
    if _is_skewed(column, lower, upper):
        return _quantiles(column, lower, upper)
    # Steps by which each width divides the next.
    widths = [width * factor for factor in (1, 2, 4, 8) if width * factor < upper - lower]
    widths = widths or [width]
    start, end = widened(lower, upper, widths[-1])
    built = equal_width_intervals(start, end, widths)
    return built, f"intervals --widths {','.join(format(w, 'f') for w in widths)}"


def _quantiles(column: TableColumn, lower: Decimal, upper: Decimal) -> tuple[Hierarchy, str]:
    """Return intervals of about equally many values; fewer levels where cut points coincide."""
    start, end = widened(lower, upper, nice_step((upper - lower) / 4))
    decimals = 0 if upper - lower >= _LEAVES else 2
    values = column.values()
    for length in range(len(_MERGED), -1, -1):
        merge = _MERGED[:length]
        try:
            built = quantile_intervals(
                values, start, end, leaves=_QUANTILES, decimals=decimals, merge=merge
            )
        except HierarchyError:
            if length:
                continue
            raise
        words = f"quantiles --leaves {_QUANTILES} --decimals {decimals}"
        break
    return built, f"{words} --merge {','.join(map(str, merge))}" if merge else words


def _is_skewed(column: TableColumn, lower: Decimal, upper: Decimal) -> bool:
    """Whether equal widths would leave most intervals nearly empty."""
    if upper == lower:
        return False
    mean: Any
    ((mean,),) = column.warehouse.rows(
        f"select avg({column.quoted}) from {column.relation}"  # noqa: S608 (quoted)
    )
    share = (Decimal(str(mean)) - lower) / (upper - lower)
    return not Decimal("0.2") < share < Decimal("0.8")
