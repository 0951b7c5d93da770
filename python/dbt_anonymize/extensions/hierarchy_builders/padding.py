"""Labels of intervals that sort as text in the order of their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import cast

from dbt_anonymize.extensions.hierarchy_builders.neighbours import name_runs
from dbt_anonymize.hierarchies.bounds import bound_text
from dbt_anonymize.hierarchies.model import ROOT, IntervalHierarchy


def padded_labels(
    hierarchy: IntervalHierarchy, *, whole: bool = False, digits: int | None = None
) -> IntervalHierarchy:
    """Return it with bounds of equally many digits in its labels; dates sort already.

    ``digits`` before the point are those of the largest lower bound, unless they are given.
    ``whole`` numbers are named by the first and the last where some are alone in a leaf. Text puts
    negative numbers in the wrong order, so that labels start with the places of their leaves where
    several bounds are negative.

    Examples
    --------
    >>> from dbt_anonymize.extensions.hierarchy_builders.intervals import cut_intervals
    >>> padded_labels(cut_intervals([0, 1, 10, 100]), whole=True).labels[0]
    ('0', '[01, 10)', '[10, 100)')
    >>> padded_labels(cut_intervals(["-1", "-0.5", "0", "1"], merge=[2])).labels[1]
    ('1-2: [-1.0, 0.0)', '1-2: [-1.0, 0.0)', '3: [0.0, 1.0)')
    """
    if isinstance(hierarchy.lower_bounds[0], date):
        return hierarchy
    write = _writer(
        hierarchy.lower_bounds,  # type: ignore[arg-type]
        hierarchy.upper_bounds[-1],  # type: ignore[arg-type]
        digits,
    )
    uppers = hierarchy.upper_bounds
    has_single = whole and any(
        upper - lower == 1 and lower != 0  # type: ignore[operator]
        for lower, upper in zip(hierarchy.lower_bounds, uppers, strict=True)
    )
    below = sum(bound < 0 for bound in hierarchy.lower_bounds)  # type: ignore[operator]
    is_ranked = below > (0 if whole else 1)
    places_digits = len(str(len(hierarchy.lower_bounds)))

    def name(first: int, last: int) -> str:
        lower = cast("Decimal", hierarchy.lower_bounds[first])
        upper = cast("Decimal", hierarchy.upper_bounds[last])
        text = f"[{write(lower)}, {write(upper)})"
        if has_single and lower >= 0:
            text = f"{write(lower)}-{write(upper - 1)}"
        if whole and upper - lower == 1:
            text = write(lower) if lower else "0"
        return places_label(first, last, places_digits) + text if is_ranked else text

    labels = [name_runs(level, name) for level in hierarchy.labels[:-1]]
    return replace(hierarchy, labels=(*labels, (ROOT,) * len(hierarchy.lower_bounds)))


def places_label(first: int, last: int, digits: int) -> str:
    """Return the places of the first and the last member of a group, counted from 1.

    Examples
    --------
    >>> places_label(0, 1, 1), places_label(8, 8, 2)
    ('1-2: ', '09: ')
    """
    start, end = f"{first + 1:0{digits}d}", f"{last + 1:0{digits}d}"
    return f"{start}: " if first == last else f"{start}-{end}: "


def _writer(
    lowers: Sequence[Decimal], last: Decimal, digits: int | None
) -> Callable[[Decimal], str]:
    """Return a function that formats numbers with the digits of the longest.

    Lower bounds give the order, so that the last upper bound may be longer before the point.
    """
    parts = [bound_text(abs(bound)).partition(".") for bound in (*lowers, last)]
    whole = digits or max(len(part[0]) for part in parts[:-1])
    decimals = max(len(part[2]) for part in parts)
    width = whole + (decimals + 1 if decimals else 0)

    def write(bound: Decimal) -> str:
        text = format(abs(bound), f".{decimals}f").zfill(width)
        return f"-{text}" if bound < 0 else text

    return write
