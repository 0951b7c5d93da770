"""Bounds of intervals: exact decimal numbers, or dates."""

from __future__ import annotations

import re
from datetime import date, datetime
from decimal import Decimal

from dbt_anonymize.errors import HierarchyError

Bound = Decimal | date
"""One end of an interval. All bounds of one hierarchy are of the same type."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_CLOCK = re.compile(r"\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def parse_bound(text: str) -> Bound | None:
    """Return the finite number or ISO date in a cell; None for anything else.

    Examples
    --------
    >>> parse_bound("10.50"), parse_bound("2024-02-29")
    (Decimal('10.50'), datetime.date(2024, 2, 29))
    >>> parse_bound("Infinity") is None
    True
    """
    if _NUMBER.fullmatch(text):
        return Decimal(text)
    if _DATE.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            return None
    return None


def parse_value(text: str) -> Bound | None:
    """Return the bound that a value is compared with: the number or date, or the day of a moment.

    Examples
    --------
    >>> parse_value("2024-02-29 23:59:59.5"), parse_value("2024-02-29T08:00"), parse_value("12")
    (datetime.date(2024, 2, 29), datetime.date(2024, 2, 29), Decimal('12'))
    >>> parse_value("2024-02-29 noon") is None
    True
    """
    day, clock = text[:10], text[11:]
    if text[10:11] in ("T", " ") and _DATE.fullmatch(day) and _CLOCK.fullmatch(clock):
        return parse_bound(day)
    return parse_bound(text)


def bound_text(bound: Bound) -> str:
    """Return a bound as seeds and labels show it: plain digits, or an ISO date.

    Examples
    --------
    >>> bound_text(Decimal("1.50e2")), bound_text(Decimal("-0.0")), bound_text(date(2024, 1, 2))
    ('150', '0', '2024-01-02')
    """
    if isinstance(bound, datetime):
        raise HierarchyError(
            "a bound must be a date without a time; got a timestamp. Use its date."
        )
    if isinstance(bound, date):
        return bound.isoformat()
    text = format(bound, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
