"""Intervals of equal width, or between chosen cut points."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import Number, as_decimal, stack_levels
from dbt_anonymize.extensions.hierarchy_builders.rules import check
from dbt_anonymize.hierarchies.bounds import Bound
from dbt_anonymize.hierarchies.model import IntervalHierarchy

MOST_LEAVES = 1_000_000


def equal_width_intervals(
    lower: Number, upper: Number, widths: Sequence[Number], *, merge: Sequence[int] = ()
) -> IntervalHierarchy:
    """Build one level of equal intervals per width, then merge the last of them further.

    Intervals start at ``lower``; the last is cut at ``upper``, which is not part of it, and named
    by its true bounds. ``widths`` rise and are multiples of the first; the levels nest only if each
    divides the next. Each number in ``merge`` adds a level: how many neighbours of the level below
    become one. An empty range, and widths that do not rise or cut a leaf, are a `HierarchyError`.

    Examples
    --------
    >>> equal_width_intervals(0, 20, [5, 15]).labels[1]
    ('[0, 15)', '[0, 15)', '[0, 15)', '[15, 20)')
    """
    start, end = as_decimal(lower, who="lower"), as_decimal(upper, who="upper")
    steps = [as_decimal(width, who="a width") for width in widths]
    if not steps or steps[0] <= 0 or any(a >= b for a, b in pairwise(steps)):
        raise HierarchyError(
            "widths must be numbers > 0 that rise; they do not. List them upwards."
        )
    if not start < end:
        raise HierarchyError(f"lower must be below upper; got {start} and {end}. Swap them.")
    if (end - start) / steps[0] > MOST_LEAVES:
        raise HierarchyError(
            f"a hierarchy must have at most {MOST_LEAVES} leaves; the first width gives more. "
            "Widen it."
        )
    levels: list[Sequence[Bound]] = [_steps(start, end, step) for step in steps]
    return _merged(levels, merge, name="of equal intervals")


def cut_intervals(cuts: Sequence[Number], *, merge: Sequence[int] = ()) -> IntervalHierarchy:
    """Build a leaf between each two neighbouring cut points, then merge neighbours: always nested.

    The first and the last of ``cuts`` (>= 2, rising) are the range; ``merge`` as above. Cut points
    that do not rise, or a merged level of a single interval, are a `HierarchyError`.

    Examples
    --------
    >>> cut_intervals([0, 20, 30, 50, 200], merge=[2]).labels[1]
    ('[0, 30)', '[0, 30)', '[30, 200)', '[30, 200)')
    """
    leaves = tuple(as_decimal(cut, who="a cut point") for cut in cuts)
    if len(leaves) < 2:
        raise HierarchyError(f"cuts must be at least two numbers; got {len(leaves)}. Add some.")
    return _merged([leaves], merge, name="of cut points")


def merge_boundaries(boundaries: Sequence[Bound], factor: int) -> tuple[Bound, ...]:
    """Merge each ``factor`` (>= 2) neighbouring intervals into one; the last may have fewer.

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


def _merged(levels: list[Sequence[Bound]], merge: Sequence[int], *, name: str) -> IntervalHierarchy:
    for factor in merge:
        levels.append(merge_boundaries(levels[-1], factor))
    return check(stack_levels(levels), name=name, nested=False)


def _steps(start: Decimal, end: Decimal, width: Decimal) -> tuple[Decimal, ...]:
    whole = int((end - start) // width)
    boundaries = [start + step * width for step in range(whole + 1)]
    return tuple(boundaries) if boundaries[-1] == end else (*boundaries, end)
