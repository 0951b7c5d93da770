"""A hierarchy for each proposed quasi-identifier, and the command that builds it."""

from __future__ import annotations

import contextlib
import math
import re
import shlex
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import accumulate
from typing import Any

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.drafting.by_target import Inner
from dbt_anonymize.extensions.drafting.codes import (
    Structure,
    has_no_order,
    prefixes_of,
    structure_of,
)
from dbt_anonymize.extensions.drafting.facts import ColumnFacts
from dbt_anonymize.extensions.drafting.names import said_by
from dbt_anonymize.extensions.hierarchy_builders.dates import date_intervals
from dbt_anonymize.extensions.hierarchy_builders.growing import (
    growing_intervals,
    tells_little,
    truncated,
)
from dbt_anonymize.extensions.hierarchy_builders.integers import integer_groups
from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.extensions.hierarchy_builders.ordered import has_known_order, order_values
from dbt_anonymize.extensions.hierarchy_builders.others import rare_together
from dbt_anonymize.extensions.hierarchy_builders.padding import padded_labels
from dbt_anonymize.extensions.hierarchy_builders.splits import even_bounds, split_at
from dbt_anonymize.extensions.hierarchy_builders.steps import nice_step, nice_widths, widened
from dbt_anonymize.hierarchies.bounds import Bound, bound_text, numbers_of, parse_value
from dbt_anonymize.hierarchies.model import Hierarchy, IntervalHierarchy
from dbt_anonymize.project.values import MOST_VALUES, TableColumn

# Leaves of a draft: enough to choose from, few enough to search at once.
_LEAVES = 32
# Whole numbers in so small a range are leaves of their own.
_FEW_INTEGERS = 13
# Whole numbers up to so many are ages where their range is so wide, if their name says it or not.
_OLDEST, _AGES = 120, {True: 30, False: 45}
# Equal widths do not fit where one interval has more than a share of the records, or where the
# shares at both ends take half of the range.
_FULL, _TAIL, _ZEROS = 0.25, 0.01, 0.1
# So many words or ranges in an order are grouped.
_MOST_ORDERED = 100
# Of the values of a text column, from which on it holds numbers.
_MOST_ARE_NUMBERS = 0.9
# Dates of people and of what happened to them.
_FIRST_YEAR, _LAST_YEAR = 1000, 2200
# In so few days of a year, months tell too little.
_FEW_DAYS = 62
# More different moments are not counted to part them.
_MOST_DAYS = 100_000
_GRANULARITIES = ["month", "quarter", "year", "decade"]


@dataclass(frozen=True)
class Plan:
    """A hierarchy, the name of its seed, what builds it again, and what to know of its values."""

    column: str
    seed: str
    hierarchy: Hierarchy
    command: str
    remark: str = ""

    @property
    def kind(self) -> str:
        """Kind of the hierarchy, as specs call it."""
        return "interval" if isinstance(self.hierarchy, IntervalHierarchy) else "categorical"

    @property
    def readable(self) -> int:
        """Highest level that leaves something to read; it is a `HierarchyError` where none does."""
        highest = self.hierarchy.levels - 1
        if highest < (1 if self.kind == "interval" else 0):
            raise HierarchyError(
                f"{self.column}: has no level below `*`, so it cannot stay readable."
            )
        return highest

    @property
    def reads_target(self) -> bool:
        """Tell whether it was grown on what inner records show of the target."""
        return self.command.startswith("dbt-anonymize hierarchy by-target ")


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


def plan(
    facts: ColumnFacts,
    column: TableColumn,
    seed: str,
    place: str,
    folder: str,
    *,
    inner: Inner | None = None,
) -> Plan:
    """Return the hierarchy that is proposed for a column; ``place`` is ``--ref`` or ``--source``.

    Categories without an order merge by the target of ``inner`` records where these are given. A
    column that no hierarchy fits is a `HierarchyError`.
    """
    hierarchy, words, remark = _built(facts, column, inner)
    source = f" {place} --column {shlex.quote(facts.name)}"
    command = f"dbt-anonymize hierarchy {words}{source} -o {folder}/{seed}.csv"
    return Plan(facts.name, seed, hierarchy, command, remark)


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


def _built(
    facts: ColumnFacts, column: TableColumn, inner: Inner | None
) -> tuple[Hierarchy, str, str]:
    _refuse_what_no_build_compares(facts)
    if facts.kind in {"date", "timestamp"}:
        return *_dates(facts, column), ""
    if facts.distinct > MOST_VALUES and facts.kind == "number":
        return *_equal({}, column.number_ends(), whole=False), ""
    counts = column.counts()
    structure = structure_of(facts.name, counts)
    if structure is not None:
        return structure.build(list(counts)), structure.command, structure.remark
    if facts.kind == "number" and not has_no_order(facts.name):
        column.number_ends()
        return *number_plan(facts.name, numbers_of(counts)), ""
    return *_categories(facts, counts, inner), ""


def _categories(
    facts: ColumnFacts, counts: dict[str, int], inner: Inner | None
) -> tuple[Hierarchy, str]:
    if len(counts) <= _MOST_ORDERED and has_known_order(list(counts)):
        return order_values(counts), "ordered"
    is_even = facts.is_code and facts.shortest == facts.longest > 1
    has_zeros = any(re.match(r"0\d", value) for value in counts)
    if not (is_even or has_zeros) or all(isinstance(parse_value(value), date) for value in counts):
        _refuse_numbers_as_text(facts.name, list(counts))
    prefixes = prefixes_of(counts) if facts.is_code and len(counts) > _LEAVES else ()
    if prefixes:
        return Structure(prefixes).build(list(counts)), Structure(prefixes).command
    # Of too few categories nothing is learned.
    with contextlib.suppress(HierarchyError):
        if inner is not None:
            return inner.merge(facts.name, counts)
    return rare_together(counts), "others"


def _refuse_numbers_as_text(name: str, values: Sequence[str]) -> None:
    """Refuse many numbers that are stored as text: without their order all would become ``*``."""
    numbers = sum(parse_value(value) is not None for value in values)
    if len(values) > _LEAVES and numbers >= _MOST_ARE_NUMBERS * len(values):
        raise HierarchyError(
            f"{name}: must be of a type of numbers or dates to become intervals; {numbers:,} of "
            f"{len(values):,} values are numbers or dates, stored as text. Cast the column in the "
            "source, and code the others: as a number, NULL, or in a column of their own. If they "
            "are codes without an order, build a hierarchy of groups (`dbt-anonymize hierarchy`)."
        )


def _dates(facts: ColumnFacts, column: TableColumn) -> tuple[Hierarchy, str]:
    first, last = column.date_ends()
    if not _FIRST_YEAR <= first.year <= last.year <= _LAST_YEAR:
        raise HierarchyError(
            f"{facts.name}: must be dates of the years {_FIRST_YEAR} to {_LAST_YEAR}; some are "
            "not, and mostly stand for none or for ever. Make them NULL in a model before."
        )
    lower, upper = column.ends()
    units = _GRANULARITIES if last.year - first.year >= 20 else _GRANULARITIES[:3]
    if first.year == last.year:
        units = ["day", "week"] if (upper - lower).days < _FEW_DAYS else _GRANULARITIES[:2]
    records: dict[Bound, int] = {}
    if facts.distinct <= _MOST_DAYS:
        for text, count in column.counts().items():
            if (day := parse_value(text)) is not None:
                records[day] = records.get(day, 0) + count
    return _split(
        date_intervals(first, last, units), f"dates --granularities {','.join(units)}", records
    )


def number_plan(name: str, records: Mapping[Decimal, int]) -> tuple[Hierarchy, str]:
    """Return the hierarchy of a column of numbers, and the words of its command."""
    lower, upper = min(records), max(records)
    whole = all(number == number.to_integral_value() for number in records)
    is_small = lower >= 0 and upper - lower < _FEW_INTEGERS
    if whole and is_small and len(records) > 1:
        return integer_groups(records), "integers"
    few = truncated(records)
    # Years are far from zero: bounds that grow from there would be too far from each other.
    is_narrow = whole and upper - lower < _LEAVES and upper < 2 * lower
    is_skewed = not is_narrow and _is_skewed(few, lower, upper)
    is_named = said_by(name, "age")
    is_age = whole and lower >= 0 and upper <= _OLDEST and upper - lower >= _AGES[is_named]
    if is_age and (is_named or not is_skewed):
        return _widths(few, (lower, upper), [Decimal(5), Decimal(10), Decimal(20)], whole=whole)
    if is_skewed:
        with contextlib.suppress(HierarchyError):
            built = growing_intervals(few, leaves=_LEAVES, whole=whole)
            return _split(built, "growing --whole" if whole else "growing", few, whole=whole)
    return _equal(few, (lower, upper), whole=whole)


def _equal(
    records: Mapping[Decimal, int], ends: tuple[Decimal, Decimal], *, whole: bool
) -> tuple[Hierarchy, str]:
    grid = math.gcd(*map(int, records)) if whole and len(records) > 1 else 1
    widths = nice_widths(*ends, leaves=_LEAVES, whole=whole, grid=grid)
    return _widths(records, ends, widths, whole=whole)


def _widths(
    records: Mapping[Decimal, int],
    ends: tuple[Decimal, Decimal],
    widths: list[Decimal],
    *,
    whole: bool,
) -> tuple[Hierarchy, str]:
    while len(widths) > 1 and tells_little(*(_fullest(records, w) for w in widths[:-3:-1])):
        widths = widths[:-1]
    start, end = widened(*ends, widths[-1])
    built = padded_labels(equal_width_intervals(start, end, widths), whole=whole)
    words = f"intervals --widths {','.join(format(w, 'f') for w in widths)}"
    return _split(built, f"{words} {'--whole' if whole else '--padded'}", records, whole=whole)


def _split(
    hierarchy: IntervalHierarchy, words: str, records: Mapping[Any, int], *, whole: bool = False
) -> tuple[Hierarchy, str]:
    """Part its highest level in two or three where it has many intervals."""
    bounds = even_bounds(hierarchy, records)
    if not bounds:
        return hierarchy, words
    built = padded_labels(split_at(hierarchy, bounds), whole=whole)
    return built, f"{words} --split {','.join(map(bound_text, bounds))}"


def _fullest(records: Mapping[Decimal, int], width: Decimal) -> float:
    """Return the share of the records in the interval of a width that has most of them."""
    counts: dict[Decimal, int] = {}
    for number, count in records.items():
        place = (number / width).to_integral_value("ROUND_FLOOR")
        counts[place] = counts.get(place, 0) + count
    return max(counts.values(), default=0) / max(1, sum(counts.values()))


def _is_skewed(records: Mapping[Decimal, int], lower: Decimal, upper: Decimal) -> bool:
    """Tell whether equal widths would leave most intervals nearly empty, or most records in one."""
    if upper == lower:
        return False
    width = nice_step((upper - lower) / _LEAVES)
    leaves: dict[int, list[int]] = {}
    for number, count in records.items():
        leaves.setdefault(int((number / width).to_integral_value("ROUND_FLOOR")), []).append(count)
    total = sum(records.values())
    # One value that many have is no reason: no width divides it.
    fullest = max(sum(counts) - max(counts) for counts in leaves.values())
    is_sparse = 2 * len(leaves) < (upper - lower) / width
    ordered = sorted(records)
    sums = list(accumulate(records[number] for number in ordered))
    low, high = (ordered[bisect_left(sums, share * total)] for share in (_TAIL, 1 - _TAIL))
    # Zero is another thing than a small amount.
    zeros = records.get(Decimal(0), 0)
    has_zeros = zeros >= _ZEROS * total and any(0 < abs(number) < width for number in records)
    return is_sparse or has_zeros or fullest > _FULL * total or high - low < (upper - lower) / 2
