"""Bounds of intervals: exact decimal numbers, or dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal

from dbt_anonymize.errors import HierarchyError

Bound = Decimal | date
"""One end of an interval. All bounds of one hierarchy are of the same type."""

Number = int | float | Decimal | str
"""What builders accept as a number; floats count as their shortest exact text."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def parse_bound(text: str) -> Bound | None:
    """Return the finite number or ISO date that a cell holds, or None.

    Parameters
    ----------
    text : str
        Cell of a seed.

    Returns
    -------
    decimal.Decimal, datetime.date or None
        None for everything else: empty, NaN, infinity, times, thousands separators.

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


def as_decimal(value: Number, *, who: str) -> Decimal:
    """Return a number as an exact decimal.

    Parameters
    ----------
    value : int, float, Decimal or str
        A finite number.
    who : str
        Named in the error.

    Returns
    -------
    decimal.Decimal
        The number; a float counts as its shortest exact text, so 0.1 is one tenth.

    Raises
    ------
    HierarchyError
        If ``value`` is not a finite number.
    """
    number = parse_bound(str(value).strip())
    if not isinstance(number, Decimal):
        raise HierarchyError(
            f"{who} must be a finite number; got something else. Write it as 12.5."
        )
    return number


def bound_text(bound: Bound) -> str:
    """Return a bound as it is written into seeds and labels.

    Parameters
    ----------
    bound : decimal.Decimal or datetime.date
        Finite bound.

    Returns
    -------
    str
        Plain digits without exponent or superfluous zeros, or an ISO date.

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


def interval_label(lower: Bound, upper: Bound) -> str:
    """Return the label of a half-open interval.

    Parameters
    ----------
    lower, upper : decimal.Decimal or datetime.date
        Its bounds; ``upper`` is not part of it.

    Returns
    -------
    str
        For instance ``[10, 15)``.

    Examples
    --------
    >>> interval_label(Decimal(10), Decimal("12.50"))
    '[10, 12.5)'
    """
    return f"[{bound_text(lower)}, {bound_text(upper)})"


Label = Callable[[Bound, Bound], str]
"""Names an interval by its bounds."""


def merge_boundaries(boundaries: Sequence[Bound], factor: int) -> tuple[Bound, ...]:
    """Merge each ``factor`` neighbouring intervals into one.

    Parameters
    ----------
    boundaries : sequence of bounds
        Ascending; n + 1 of them for n intervals.
    factor : int >= 2
        How many intervals become one. The last one may be made of fewer.

    Returns
    -------
    tuple of bounds
        The remaining boundaries, first and last included.

    Raises
    ------
    HierarchyError
        If ``factor`` is below 2.

    Examples
    --------
    >>> [int(b) for b in merge_boundaries([Decimal(b) for b in (0, 5, 10, 20)], 2)]
    [0, 10, 20]
    """
    if factor < 2:
        raise HierarchyError(
            f"a merging factor must be an int >= 2; got {factor}. "
            "It says how many neighbours become one."
        )
    return (*boundaries[:-1:factor], boundaries[-1])
