"""Hierarchies of proposed quasi-identifiers, and the commands that build them."""

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
from dbt_anonymize.extensions.drafting.names import name_indicates
from dbt_anonymize.extensions.hierarchy_builders.building import numbers_of
from dbt_anonymize.extensions.hierarchy_builders.dates import date_intervals
from dbt_anonymize.extensions.hierarchy_builders.growing import (
    growing_intervals,
    is_nearly_constant,
    truncate_values,
)
from dbt_anonymize.extensions.hierarchy_builders.integers import integer_groups
from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
from dbt_anonymize.extensions.hierarchy_builders.ordered import has_known_order, order_values
from dbt_anonymize.extensions.hierarchy_builders.others import rare_together
from dbt_anonymize.extensions.hierarchy_builders.padding import padded_labels
from dbt_anonymize.extensions.hierarchy_builders.splits import even_bounds, split_at
from dbt_anonymize.extensions.hierarchy_builders.steps import nice_step, nice_widths, widened
from dbt_anonymize.extensions.hierarchy_builders.table_column import MOST_VALUES, TableColumn
from dbt_anonymize.hierarchies.bounds import Bound, bound_text, parse_value
from dbt_anonymize.hierarchies.model import ROOT, Hierarchy, IntervalHierarchy
from dbt_anonymize.spec.sources import Source

# Leaves of a draft: enough to choose from, few enough for a fast search.
_LEAVES = 32
# Whole numbers in a smaller range are leaves of their own.
_FEW_INTEGERS = 13
# Largest age; least range of ages with and without a column name of ages.
_OLDEST, _AGES = 120, {True: 30, False: 45}
# Equal widths do not fit if one interval has more than this share of the records, if the tails
# of this share take half of the range, or if zeros have this share.
_FULL, _TAIL, _ZEROS = 0.25, 0.01, 0.1
# Most ordered words or ranges that are grouped.
_MOST_ORDERED = 100
# Share of numbers from which on a text column holds numbers.
_MOST_ARE_NUMBERS = 0.9
# Years of plausible dates.
_FIRST_YEAR, _LAST_YEAR = 1000, 2200
# Days in one year below which months are too coarse.
_FEW_DAYS = 62
# Most distinct timestamps that are counted to split levels evenly.
_MOST_DAYS = 100_000
_GRANULARITIES = ["month", "quarter", "year", "decade"]


@dataclass(frozen=True)
class Plan:
    """A hierarchy with its seed, the command that builds it again, and a remark on its values.

    ``has_unknown``: the column has an empty text, which no seed can hold, so it is like a NULL.
    """

    column: str
    seed: str
    hierarchy: Hierarchy
    command: str
    remark: str = ""
    has_unknown: bool = False

    @property
    def kind(self) -> str:
        """Kind of the hierarchy, as specs call it."""
        return "interval" if isinstance(self.hierarchy, IntervalHierarchy) else "categorical"

    @property
    def readable(self) -> int:
        """Highest level below `*`; a `HierarchyError` without any."""
        highest = self.hierarchy.levels - 1
        if highest < (1 if self.kind == "interval" else 0):
            raise HierarchyError(
                f"{self.column}: has no level below `*`, so it cannot stay readable."
            )
        return highest

    @property
    def reads_target(self) -> bool:
        """Tell whether it was built from the targets of inner records."""
        return self.command.startswith("dbt-anonymize hierarchy by-target ")


def seed_name(anonymization: str, column: str, taken: set[str]) -> str:
    """Return a unique name of a seed, and add it to ``taken``.

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


def option_of(declared: Source) -> str:
    """Return the option of commands that names a relation."""
    if declared.ref:
        return f"--ref {declared.ref}"
    return f"--source {'.'.join(declared.source or ())}"


def plan_hierarchy(
    facts: ColumnFacts,
    column: TableColumn,
    seed: str,
    place: str,
    folder: str,
    *,
    inner: Inner | None = None,
) -> Plan:
    """Return the proposed hierarchy of a column; ``place`` is ``--ref`` or ``--source``.

    With ``inner`` records, categories without an order merge by target. A column that no hierarchy
    fits is a `HierarchyError`.
    """
    hierarchy, words, remark = _build_hierarchy(facts, column, inner)
    source = f" {place} --column {shlex.quote(facts.name)}"
    command = f"dbt-anonymize hierarchy {words}{source} -o {folder}/{seed}.csv"
    return Plan(facts.name, seed, hierarchy, command, remark, has_unknown=facts.empty > 0)


def _check_comparable(facts: ColumnFacts) -> None:
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


def _check_no_root(name: str, counts: Mapping[str, int]) -> None:
    if records := counts.get(ROOT):
        have = "record has" if records == 1 else "records have"
        raise HierarchyError(
            f"{name}: must not have the value `{ROOT}`, which is the root of hierarchies; "
            f"{records:,} {have} it. Make it NULL in a model before: nullif({name}, '{ROOT}')."
        )


def _build_hierarchy(
    facts: ColumnFacts, column: TableColumn, inner: Inner | None
) -> tuple[Hierarchy, str, str]:
    _check_comparable(facts)
    if facts.kind in {"date", "timestamp"}:
        return *_date_plan(facts, column), ""
    if facts.distinct > MOST_VALUES and facts.kind == "number":
        return *_equal_width_plan({}, column.number_ends(), whole=False), ""
    counts = column.counts()
    _check_no_root(facts.name, counts)
    structure = structure_of(facts.name, counts)
    if structure is not None:
        return structure.build(list(counts)), structure.command, structure.remark
    if facts.kind == "number" and not has_no_order(facts.name):
        column.number_ends()
        return *number_plan(facts.name, numbers_of(counts)), ""
    return *_category_plan(facts, counts, inner), ""


def _category_plan(
    facts: ColumnFacts, counts: dict[str, int], inner: Inner | None
) -> tuple[Hierarchy, str]:
    if len(counts) <= _MOST_ORDERED and has_known_order(list(counts)):
        return order_values(counts), "ordered"
    is_even = facts.is_code and facts.shortest == facts.longest > 1
    has_zeros = any(re.match(r"0\d", value) for value in counts)
    if not (is_even or has_zeros) or all(isinstance(parse_value(value), date) for value in counts):
        _check_no_numbers_as_text(facts.name, list(counts))
    prefixes = prefixes_of(counts) if facts.is_code and len(counts) > _LEAVES else ()
    if prefixes:
        return Structure(prefixes).build(list(counts)), Structure(prefixes).command
    # Too few categories cannot be merged by target.
    with contextlib.suppress(HierarchyError):
        if inner is not None:
            return inner.merge(facts.name, counts)
    return rare_together(counts), "others"


def _check_no_numbers_as_text(name: str, values: Sequence[str]) -> None:
    """Refuse many numbers stored as text: without their order all would become ``*``."""
    numbers = sum(parse_value(value) is not None for value in values)
    if len(values) > _LEAVES and numbers >= _MOST_ARE_NUMBERS * len(values):
        raise HierarchyError(
            f"{name}: must be of a type of numbers or dates to become intervals; {numbers:,} of "
            f"{len(values):,} values are numbers or dates, stored as text. Cast the column in the "
            "source, and code the others: as a number, NULL, or in a column of their own. If they "
            "are codes without an order, build a hierarchy of groups (`dbt-anonymize hierarchy`)."
        )


def _date_plan(facts: ColumnFacts, column: TableColumn) -> tuple[Hierarchy, str]:
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
    return _split_top_level(
        date_intervals(first, last, units), f"dates --granularities {','.join(units)}", records
    )


def number_plan(name: str, records: Mapping[Decimal, int]) -> tuple[Hierarchy, str]:
    """Return the hierarchy of a column of numbers, and the arguments of its command."""
    lower, upper = min(records), max(records)
    whole = all(number == number.to_integral_value() for number in records)
    is_small = lower >= 0 and upper - lower < _FEW_INTEGERS
    if whole and is_small and len(records) > 1:
        return integer_groups(records), "integers"
    few = truncate_values(records)
    # Years are far from zero, where growing bounds would be too far from each other.
    is_narrow = whole and upper - lower < _LEAVES and upper < 2 * lower
    is_skewed = not is_narrow and _is_skewed(few, lower, upper)
    is_named = name_indicates(name, "age")
    is_age = whole and lower >= 0 and upper <= _OLDEST and upper - lower >= _AGES[is_named]
    if is_age and (is_named or not is_skewed):
        return _width_plan(few, (lower, upper), [Decimal(5), Decimal(10), Decimal(20)], whole=whole)
    if is_skewed:
        with contextlib.suppress(HierarchyError):
            built = growing_intervals(few, leaves=_LEAVES, whole=whole)
            return _split_top_level(
                built, "growing --whole" if whole else "growing", few, whole=whole
            )
    return _equal_width_plan(few, (lower, upper), whole=whole)


def _equal_width_plan(
    records: Mapping[Decimal, int], ends: tuple[Decimal, Decimal], *, whole: bool
) -> tuple[Hierarchy, str]:
    grid = math.gcd(*map(int, records)) if whole and len(records) > 1 else 1
    widths = nice_widths(*ends, leaves=_LEAVES, whole=whole, grid=grid)
    return _width_plan(records, ends, widths, whole=whole)


def _width_plan(
    records: Mapping[Decimal, int],
    ends: tuple[Decimal, Decimal],
    widths: list[Decimal],
    *,
    whole: bool,
) -> tuple[Hierarchy, str]:
    while len(widths) > 1 and is_nearly_constant(
        *(_largest_share(records, w) for w in widths[:-3:-1])
    ):
        widths = widths[:-1]
    start, end = widened(*ends, widths[-1])
    built = padded_labels(equal_width_intervals(start, end, widths), whole=whole)
    words = f"intervals --widths {','.join(format(w, 'f') for w in widths)}"
    return _split_top_level(
        built, f"{words} {'--whole' if whole else '--padded'}", records, whole=whole
    )


def _split_top_level(
    hierarchy: IntervalHierarchy, words: str, records: Mapping[Any, int], *, whole: bool = False
) -> tuple[Hierarchy, str]:
    """Add a level of two or three intervals on top of a level of many."""
    bounds = even_bounds(hierarchy, records)
    if not bounds:
        return hierarchy, words
    built = padded_labels(split_at(hierarchy, bounds), whole=whole)
    return built, f"{words} --split {','.join(map(bound_text, bounds))}"


def _largest_share(records: Mapping[Decimal, int], width: Decimal) -> float:
    """Return the share of the records in the fullest interval of a width."""
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
    # A single frequent value does not count: no width divides it.
    fullest = max(sum(counts) - max(counts) for counts in leaves.values())
    is_sparse = 2 * len(leaves) < (upper - lower) / width
    ordered = sorted(records)
    sums = list(accumulate(records[number] for number in ordered))
    low, high = (ordered[bisect_left(sums, share * total)] for share in (_TAIL, 1 - _TAIL))
    # Zero is not a small amount.
    zeros = records.get(Decimal(0), 0)
    has_zeros = zeros >= _ZEROS * total and any(0 < abs(number) < width for number in records)
    return is_sparse or has_zeros or fullest > _FULL * total or high - low < (upper - lower) / 2
