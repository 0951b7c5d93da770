"""Intervals that hold about equally many values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation, getcontext

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import Number, as_decimal
from dbt_anonymize.extensions.hierarchy_builders.intervals import cut_intervals
from dbt_anonymize.hierarchies.model import IntervalHierarchy


def quantile_intervals(
    values: Iterable[Number],
    lower: Number,
    upper: Number,
    *,
    leaves: int,
    decimals: int,
    merge: Sequence[int] = (),
) -> IntervalHierarchy:
    """Build leaves of about equal frequency, then merge neighbours: always nested.

    All values lie from ``lower`` to below ``upper``. The range must be wider than the data: its
    ends are published, and must not be somebody's value. Nor must cut points: they are rounded to
    ``decimals`` (negative: tens, hundreds). There are fewer than ``leaves`` (>= 2) if rounded cut
    points coincide. Each number in ``merge`` adds a level: how many neighbours of the level below
    become one. No values, values out of range and no cut point left are a `HierarchyError`.

    Examples
    --------
    >>> quantile_intervals([1, 2, 3, 4, 50], 0, 100, leaves=2, decimals=0).labels[0]
    ('[0, 3)', '[3, 100)')
    """
    start, end = as_decimal(lower, who="lower"), as_decimal(upper, who="upper")
    ordered = sorted(as_decimal(value, who="every value") for value in values)
    if leaves < 2 or not ordered:
        raise HierarchyError(
            f"quantiles need at least 2 leaves and 1 value; got {leaves} leaves and "
            f"{len(ordered)} values. Give more."
        )
    outside = sum(1 for value in ordered if not start <= value < end)
    if outside:
        raise HierarchyError(
            f"every value must lie between lower and upper; {outside} of {len(ordered)} do not. "
            "Widen the range."
        )
    cuts = {_rounded(_quantile(ordered, part, leaves), decimals) for part in range(1, leaves)}
    inner = sorted(cut for cut in cuts if start < cut < end)
    return cut_intervals([start, *inner, end], merge=merge)


def _rounded(cut: Decimal, decimals: int) -> Decimal:
    try:
        return cut.quantize(Decimal(1).scaleb(-decimals))
    except InvalidOperation:
        raise HierarchyError(
            f"cut points must have at most {getcontext().prec} digits; {decimals} decimals give "
            "more. Round them more."
        ) from None


def _quantile(ordered: Sequence[Decimal], part: int, parts: int) -> Decimal:
    """Return the ``part / parts`` quantile, interpolated linearly."""
    position, rest = divmod(part * (len(ordered) - 1), parts)
    below = ordered[position]
    if not rest:
        return below
    return below + (ordered[position + 1] - below) * rest / parts
