"""The two kinds of hierarchy."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.hierarchies.bounds import Bound, Label, bound_text, interval_label
from dbt_anonymize.hierarchies.table import SeedRow, SeedTable, level_columns

ROOT = "*"
"""The label of everything: the only label of the last level."""


@dataclass(frozen=True)
class IntervalHierarchy:
    """A hierarchy of numbers or dates, in ascending order of its leaves.

    A leaf holds its lower bound, not its upper; ``labels[i - 1]`` is level i, one label per leaf.
    """

    lower_bounds: tuple[Bound, ...]
    upper_bounds: tuple[Bound, ...]
    labels: tuple[tuple[str, ...], ...]

    @property
    def levels(self) -> int:
        """Number of levels, the root included and the raw value (level 0) not."""
        return len(self.labels)

    def leaf(self, value: Bound) -> int | None:
        """Return the position of the leaf that holds ``value``; None if it is out of range."""
        position = bisect_right(self.lower_bounds, value) - 1
        if position < 0 or value >= self.upper_bounds[position]:  # type: ignore[operator]
            return None
        return position

    def table(self) -> SeedTable:
        """Return the rows of the seed."""
        cells = zip(
            map(bound_text, self.lower_bounds),
            map(bound_text, self.upper_bounds),
            *self.labels,
            strict=True,
        )
        columns = ("lower_bound", "upper_bound", *level_columns(self.levels))
        return SeedTable("interval", columns, _rows(cells))


@dataclass(frozen=True)
class CategoricalHierarchy:
    """A hierarchy of values without a numeric order; ``labels[i - 1]`` is level i."""

    values: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    @property
    def levels(self) -> int:
        """Number of levels, the root included and the raw value (level 0) not."""
        return len(self.labels)

    def table(self) -> SeedTable:
        """Return the rows of the seed."""
        columns = ("value", *level_columns(self.levels))
        return SeedTable("categorical", columns, _rows(zip(self.values, *self.labels, strict=True)))


Hierarchy = IntervalHierarchy | CategoricalHierarchy
"""Either kind of hierarchy."""


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


def _rows(cells: zip[tuple[str, ...]]) -> tuple[SeedRow, ...]:
    return tuple(SeedRow(line, row) for line, row in enumerate(cells, start=2))
