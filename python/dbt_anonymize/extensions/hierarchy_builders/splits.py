"""A last level of intervals in two or three parts, where the one below has many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import interval_label
from dbt_anonymize.extensions.hierarchy_builders.neighbours import name_runs, partition, runs
from dbt_anonymize.extensions.hierarchy_builders.rules import check
from dbt_anonymize.hierarchies.bounds import Bound
from dbt_anonymize.hierarchies.model import ROOT, IntervalHierarchy

# Intervals from which a level before `*` is worth it, and from which it has three parts.
_HALVES, _THIRDS = 4, 7
# Smallest share of the records in a part.
_LEAST = 0.1


def even_bounds(hierarchy: IntervalHierarchy, records: Mapping[Bound, int]) -> tuple[Bound, ...]:
    """Return the bounds at which a level before ``*`` divides the records most evenly.

    They are bounds of the highest level, which must have records in four intervals or more: from
    seven on there are two bounds, else one; none where a part would have less than a tenth of them.

    Examples
    --------
    >>> from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
    >>> from decimal import Decimal
    >>> ages = equal_width_intervals(0, 100, [5, 20])
    >>> even_bounds(ages, {Decimal(age): 1 for age in range(18, 91)})
    (Decimal('60'),)
    """
    lowers, sums = _highest(hierarchy, records)
    occupied = sum(count > 0 for count in sums)
    if occupied < _HALVES:
        return ()
    parts = partition(sums, 3 if occupied >= _THIRDS else 2)
    shares = [
        sum(count for count, part in zip(sums, parts, strict=True) if part == number)
        for number in sorted(set(parts))
    ]
    if min(shares) < _LEAST * sum(sums):
        return ()
    return tuple(lowers[place] for place, (a, b) in enumerate(pairwise(parts), 1) if a != b)


def split_at(hierarchy: IntervalHierarchy, bounds: Sequence[Bound | None]) -> IntervalHierarchy:
    """Add a level before ``*`` that is split at bounds of the highest level.

    Numbers are labelled by their bounds, dates by the first and the last label: ``2019 to 2021``.
    Bounds that do not rise or are none of that level are a `HierarchyError`.

    Examples
    --------
    >>> from dbt_anonymize.extensions.hierarchy_builders.intervals import equal_width_intervals
    >>> from decimal import Decimal
    >>> split_at(equal_width_intervals(0, 80, [20]), [Decimal(40)]).labels[1]
    ('[0, 40)', '[0, 40)', '[40, 80)', '[40, 80)')
    """
    if not bounds:
        return hierarchy
    lowers, _ = _highest(hierarchy, {})
    if [*bounds] != [bound for bound in lowers[1:] if bound in bounds]:
        raise HierarchyError(
            "a split must be at bounds that rise, inside the range, each of the highest level; it "
            "is not. Build it without, and look at that level."
        )
    places = [
        sum(bound <= lower for bound in bounds)  # type: ignore[operator]
        for lower in hierarchy.lower_bounds
    ]

    def name(first: int, last: int) -> str:
        lower = hierarchy.lower_bounds[first]
        if isinstance(lower, date) and hierarchy.levels > 1:
            level = hierarchy.labels[-2]
            return " to ".join(dict.fromkeys((level[first], level[last])))
        return interval_label(lower, hierarchy.upper_bounds[last])

    labels = (*hierarchy.labels[:-1], name_runs(places, name), (ROOT,) * len(places))
    return check(replace(hierarchy, labels=labels), name="that is split", nested=False)


def _highest(
    hierarchy: IntervalHierarchy, records: Mapping[Bound, int]
) -> tuple[list[Bound], list[int]]:
    """Return the lower bounds of the level before ``*``, and the records of each interval."""
    counts = [0] * len(hierarchy.lower_bounds)
    for value, count in records.items():
        place = hierarchy.leaf(value)
        counts[place if place is not None else -1] += count
    level = hierarchy.labels[-2] if hierarchy.levels > 1 else ()
    groups = runs(level)
    lowers = [hierarchy.lower_bounds[first] for first, _ in groups]
    return lowers, [sum(counts[first : last + 1]) for first, last in groups]
