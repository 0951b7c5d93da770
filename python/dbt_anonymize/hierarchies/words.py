"""Words for the levels of a hierarchy."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from dbt_anonymize.hierarchies.bounds import Bound, bound_text
from dbt_anonymize.hierarchies.model import ROOT, Hierarchy, IntervalHierarchy
from dbt_anonymize.pluralize import pluralized

AS_IT_IS = "as it is"
_MONTHS = {1: "month", 3: "quarter", 12: "year", 120: "decade", 1200: "century"}


def level_words(tree: Hierarchy) -> tuple[str, ...]:
    """Describe the detail that each level leaves, from level 1 on; the root is ``*``.

    Intervals are described by their common width; of five or more, the two at the ends may differ.
    Whole numbers with a label each are "as it is".

    Examples
    --------
    >>> from dbt_anonymize.hierarchies.model import CategoricalHierarchy
    >>> bounds = tuple(Decimal(number) for number in (0, 20, 30, 40, 50, 120))
    >>> labels = tuple("abcde"), tuple("xyyyy"), tuple("*****")
    >>> level_words(IntervalHierarchy(bounds[:-1], bounds[1:], labels))
    ('by 10', 'in 2 intervals', '*')
    >>> level_words(CategoricalHierarchy(("a", "b", "c"), (("x", "x", "y"), ("*", "*", "*"))))
    ('in 2 groups', '*')
    """
    if isinstance(tree, IntervalHierarchy):
        return tuple(_interval_words(tree, labels) for labels in tree.labels)
    return tuple(
        ROOT if {*labels} == {ROOT} else f"in {pluralized(len({*labels}), 'group')}"
        for labels in tree.labels
    )


def _interval_words(tree: IntervalHierarchy, labels: Sequence[str]) -> str:
    if {*labels} == {ROOT}:
        return ROOT
    if all(map(_is_value, tree.lower_bounds, tree.upper_bounds, labels)):
        return AS_IT_IS
    ends: dict[str, tuple[Bound, Bound]] = {}
    for lower, upper, label in zip(tree.lower_bounds, tree.upper_bounds, labels, strict=True):
        ends[label] = (ends.get(label, (lower,))[0], upper)
    intervals = list(ends.values())
    inner = intervals[1:-1] if len(intervals) > 4 else intervals
    width = _common_width(inner)
    return f"by {width}" if width else f"in {pluralized(len(intervals), 'interval')}"


def _is_value(lower: Bound, upper: Bound, label: str) -> bool:
    """Tell whether a label is the only whole number of its interval."""
    if not isinstance(lower, Decimal) or not isinstance(upper, Decimal):
        return False
    return upper - lower == 1 and label.isdecimal() and Decimal(label) == lower


def _common_width(intervals: Sequence[tuple[Bound, Bound]]) -> str | None:
    """Return the common width of intervals, of dates in calendar units; None if widths differ."""
    widths = {upper - lower for lower, upper in intervals}  # type: ignore[operator]
    dates = [(a, b) for a, b in intervals if isinstance(a, date) and isinstance(b, date)]
    months = {(b.year - a.year) * 12 + b.month - a.month for a, b in dates}
    if dates and len(months) == 1 and all(a.day == b.day == 1 for a, b in dates):
        return _calendar_text(months.pop())
    if len(widths) == 1:
        width = widths.pop()
        return bound_text(width) if isinstance(width, Decimal) else _days_text(width.days)
    return None


def _calendar_text(months: int) -> str:
    years, rest = divmod(months, 12)
    return _MONTHS.get(months) or (f"{months} months" if rest else f"{years} years")


def _days_text(days: int) -> str:
    return {1: "day", 7: "week"}.get(days) or f"{days} days"
