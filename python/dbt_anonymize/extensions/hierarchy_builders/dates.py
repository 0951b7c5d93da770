"""Intervals of the calendar: days, weeks, months, quarters, years, decades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import cast

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import Label, stack_levels
from dbt_anonymize.extensions.hierarchy_builders.rules import check
from dbt_anonymize.hierarchies.bounds import Bound
from dbt_anonymize.hierarchies.model import IntervalHierarchy

FIRST_YEAR, LAST_YEAR = 10, 9980


@dataclass(frozen=True)
class Granularity:
    """A calendar unit: where the unit of a day starts, where the next one starts, and its name."""

    start: Callable[[date], date]
    next: Callable[[date], date]
    name: Callable[[date], str]


def _months_later(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, 1)


def _week_name(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04d}-W{week:02d}"


GRANULARITIES: dict[str, Granularity] = {
    "day": Granularity(lambda d: d, lambda d: d + timedelta(days=1), lambda d: d.isoformat()),
    "week": Granularity(
        lambda d: d - timedelta(days=d.weekday()), lambda d: d + timedelta(days=7), _week_name
    ),
    "month": Granularity(
        lambda d: d.replace(day=1),
        lambda d: _months_later(d, 1),
        lambda d: f"{d.year:04d}-{d.month:02d}",
    ),
    "quarter": Granularity(
        lambda d: date(d.year, (d.month - 1) // 3 * 3 + 1, 1),
        lambda d: _months_later(d, 3),
        lambda d: f"{d.year:04d}-Q{(d.month - 1) // 3 + 1}",
    ),
    "year": Granularity(
        lambda d: date(d.year, 1, 1), lambda d: _months_later(d, 12), lambda d: f"{d.year:04d}"
    ),
    "decade": Granularity(
        lambda d: date(d.year // 10 * 10, 1, 1),
        lambda d: _months_later(d, 120),
        lambda d: f"{d.year // 10 * 10:04d}s",
    ),
}
"""Units from fine to coarse. Weeks are ISO weeks (Monday first): they do not nest in months."""


def date_intervals(first: date, last: date, granularities: Sequence[str]) -> IntervalHierarchy:
    """Build one level per unit, fine to coarse: day, week, month, quarter, year or decade.

    The range from ``first`` to ``last`` (years 10 to 9980) is widened to whole units of the
    coarsest, so that names are true; only weeks are cut at its ends. Labels are ``2024-03-05``,
    ``2024-W10``, ``2024-03``, ``2024-Q1``, ``2024`` and ``2020s``. Weeks below coarser units do not
    nest. Units that are unknown or not in order, weeks as leaves below coarser units, a level of a
    single unit and days out of range are a `HierarchyError`.

    Examples
    --------
    >>> hierarchy = date_intervals(date(2023, 11, 5), date(2024, 2, 1), ["quarter", "year"])
    >>> hierarchy.labels[0][2:6], hierarchy.labels[1][2:6]
    (('2023-Q3', '2023-Q4', '2024-Q1', '2024-Q2'), ('2023', '2023', '2024', '2024'))
    """
    _refuse_bad_dates(first, last, granularities)
    coarsest = GRANULARITIES[granularities[-1]]
    start = coarsest.start(first)
    end = coarsest.next(coarsest.start(last))
    levels = [_boundaries(start, end, GRANULARITIES[name]) for name in granularities]
    labels = [_label(GRANULARITIES[name]) for name in granularities]
    return check(stack_levels(levels, labels), name="of dates", nested=False)


def _boundaries(start: date, end: date, unit: Granularity) -> tuple[Bound, ...]:
    boundaries: list[Bound] = []
    day = start
    while day < end:
        boundaries.append(day)
        day = unit.next(unit.start(day))
    return (*boundaries, end)


def _label(unit: Granularity) -> Label:
    def label(lower: Bound, upper: Bound) -> str:
        return unit.name(cast("date", lower))

    return label


def _refuse_bad_dates(first: date, last: date, granularities: Sequence[str]) -> None:
    order = list(GRANULARITIES)
    unknown = [name for name in granularities if name not in order]
    if unknown or not granularities:
        raise HierarchyError(
            f"granularities must be some of {', '.join(order)}; got "
            f"{', '.join(unknown) or 'none'}. Correct them."
        )
    positions = [order.index(name) for name in granularities]
    if any(a >= b for a, b in pairwise(positions)):
        raise HierarchyError(
            f"granularities must go from fine to coarse; got {', '.join(granularities)}. Sort them."
        )
    if first > last or first.year < FIRST_YEAR or last.year > LAST_YEAR:
        raise HierarchyError(
            f"dates must lie in the years {FIRST_YEAR} to {LAST_YEAR}, the first not after the "
            f"last; got {first} and {last}. Correct them."
        )
