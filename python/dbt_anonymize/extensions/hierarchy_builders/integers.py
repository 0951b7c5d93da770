"""Few whole numbers: each by itself, then neighbours together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.neighbours import name_runs, neighbour_levels
from dbt_anonymize.extensions.hierarchy_builders.rules import check
from dbt_anonymize.hierarchies.model import ROOT, IntervalHierarchy

MOST_INTEGERS = 40
# Numbers of fewer records at an end are one leaf.
_FEW = 5


def integer_groups(records: Mapping[Decimal, int]) -> IntervalHierarchy:
    """Build a leaf for each whole number >= 0 of a range, then merge neighbours.

    Groups hold about equally many records. Numbers at an end that few records have are one leaf,
    whose bound is round: ``7+``. Other numbers, and a range of more than 40, are a
    `HierarchyError`.

    Examples
    --------
    >>> children = {Decimal(n): count for n, count in enumerate((40, 20, 20, 9, 2, 0, 1))}
    >>> integer_groups(children).labels[:2]
    (('0', '1', '2', '3+'), ('0', '1+', '1+', '1+'))
    """
    numbers = sorted(records)
    is_whole = all(number == number.to_integral_value() for number in numbers)
    if not numbers or not is_whole or numbers[0] < 0 or numbers[-1] - numbers[0] >= MOST_INTEGERS:
        raise HierarchyError(
            f"integers must be whole numbers >= 0 in a range of at most {MOST_INTEGERS}; they are "
            "not. Use intervals or growing ones."
        )
    first, last = int(numbers[0]), int(numbers[-1])
    start, end = _frequent(records, first, last)
    lowers = [first if start == number else number for number in range(start, end + 1)]
    is_open = end < last
    uppers = [*lowers[1:], (last // 10 + 1) * 10 if is_open else last + 1]
    counts = [
        sum(count for number, count in records.items() if lower <= number < upper)
        for lower, upper in zip(lowers, uppers, strict=True)
    ]
    width = len(str(end))
    groups = [list(range(len(lowers))), *neighbour_levels(counts)]
    labels = [_labels(lowers, uppers, level, width, is_open) for level in groups]
    built = IntervalHierarchy(
        tuple(map(Decimal, lowers)),
        tuple(map(Decimal, uppers)),
        (*labels, (ROOT,) * len(lowers)),
    )
    return check(built, name="of whole numbers")


def _frequent(records: Mapping[Decimal, int], first: int, last: int) -> tuple[int, int]:
    """Return the first and the last leaf: numbers beyond, of few records, join them."""
    start, end = first, last
    low, high = records.get(Decimal(first), 0), records.get(Decimal(last), 0)
    while high < _FEW and end - start > 1:
        end -= 1
        high += records.get(Decimal(end), 0)
    while low < _FEW and end - start > 1:
        start += 1
        low += records.get(Decimal(start), 0)
    return start, end


def _labels(
    lowers: Sequence[int], uppers: Sequence[int], groups: Sequence[int], width: int, is_open: bool
) -> tuple[str, ...]:
    def name(first: int, last: int) -> str:
        lower, upper = f"{lowers[first]:0{width}d}", f"{uppers[last] - 1:0{width}d}"
        if is_open and last == len(lowers) - 1:
            return f"{lower}+"
        return lower if lower == upper else f"{lower}-{upper}"

    return name_runs(groups, name)
