"""Parts of hierarchies that several builders need."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.rules import check
from dbt_anonymize.hierarchies.bounds import Bound, bound_text, parse_bound
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy, IntervalHierarchy

Number = int | float | Decimal | str
"""Numbers that builders accept; floats count as their shortest exact text."""

Label = Callable[[Bound, Bound], str]
"""Names an interval by its bounds."""


def as_decimal(value: Number, *, who: str) -> Decimal:
    """Return a finite number as an exact decimal: the float 0.1 is one tenth.

    Anything else is a `HierarchyError` about ``who``.
    """
    number = parse_bound(str(value).strip())
    if not isinstance(number, Decimal):
        raise HierarchyError(
            f"{who} must be a finite number; got something else. Write it as 12.5."
        )
    return number


def numbers_of(records: Mapping[str, int]) -> dict[Decimal, int]:
    """Return the records of each finite number; other texts are a `HierarchyError`.

    Examples
    --------
    >>> numbers_of({"1": 2, "1.0": 3})
    {Decimal('1'): 5}
    """
    numbers: dict[Decimal, int] = {}
    for text, count in records.items():
        number = as_decimal(text, who="every value")
        numbers[number] = numbers.get(number, 0) + count
    return numbers


def interval_label(lower: Bound, upper: Bound) -> str:
    """Return the label of a half-open interval.

    Examples
    --------
    >>> interval_label(Decimal(10), Decimal("12.50"))
    '[10, 12.5)'
    """
    return f"[{bound_text(lower)}, {bound_text(upper)})"


def build_categories(
    values: Iterable[str], labels: Iterable[tuple[str, ...]], *, name: str
) -> CategoricalHierarchy:
    """Return a checked hierarchy with ``labels``, level by level, below the root.

    Examples
    --------
    >>> build_categories(["Porto", "Vigo"], [("Portugal", "Spain")], name="of cities").labels
    (('Portugal', 'Spain'), ('*', '*'))
    """
    leaves = tuple(values)
    hierarchy = CategoricalHierarchy(leaves, (*labels, (ROOT,) * len(leaves)))
    return check(hierarchy, name=name)


def stack_levels(
    boundaries: Sequence[Sequence[Bound]], labels: Sequence[Label] | None = None
) -> IntervalHierarchy:
    """Stack levels of intervals and put the root on top.

    ``boundaries`` ascend, the leaves first; a higher level uses some of the boundaries of the
    leaves, the first and the last included. ``labels`` name the intervals of each level, by default
    ``[lower, upper)``. Boundaries that do not rise, and a higher level that cuts a leaf or is a
    single interval, are a `HierarchyError`.

    Examples
    --------
    >>> from decimal import Decimal
    >>> zero, one, two, three = map(Decimal, range(4))
    >>> stack_levels([(zero, one, two, three), (zero, two, three)]).labels
    (('[0, 1)', '[1, 2)', '[2, 3)'), ('[0, 2)', '[0, 2)', '[2, 3)'), ('*', '*', '*'))
    """
    leaves = tuple(boundaries[0])
    _refuse_bad_boundaries(boundaries)
    names = labels if labels is not None else [interval_label] * len(boundaries)
    stacked = [
        _level_labels(leaves, level, name) for level, name in zip(boundaries, names, strict=True)
    ]
    root = (ROOT,) * (len(leaves) - 1)
    return IntervalHierarchy(leaves[:-1], leaves[1:], (*stacked, root))


def _refuse_bad_boundaries(boundaries: Sequence[Sequence[Bound]]) -> None:
    leaves = list(boundaries[0])
    problems = []
    if len(leaves) < 2 or any(a >= b for a, b in pairwise(leaves)):  # type: ignore[operator]
        problems.append(
            "boundaries must be at least two and rise strictly; they do not. "
            "Sort them, remove doubles, or round them less."
        )
    for level, level_boundaries in enumerate(boundaries[1:], start=2):
        ends = (level_boundaries[0], level_boundaries[-1])
        if ends != (leaves[0], leaves[-1]) or not set(level_boundaries) <= set(leaves):
            problems.append(
                f"level {level} must merge whole leaf intervals; it cuts some of them. "
                "Choose finer leaves, or multiples of the leaf width."
            )
        if len(level_boundaries) < 3:
            problems.append(
                f"level {level} must have at least two intervals below the root; it has one. "
                "Leave it out: the root is added by itself."
            )
    if problems:
        raise HierarchyError("hierarchy of intervals: " + " ".join(problems))


def _level_labels(leaves: Sequence[Bound], level: Sequence[Bound], name: Label) -> tuple[str, ...]:
    names = [name(lower, upper) for lower, upper in pairwise(level)]
    return tuple(names[bisect_right(level, lower) - 1] for lower in leaves[:-1])
