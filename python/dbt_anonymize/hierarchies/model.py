"""The two kinds of hierarchy."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from dbt_anonymize.hierarchies.bounds import Bound, bound_text
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


def _rows(cells: zip[tuple[str, ...]]) -> tuple[SeedRow, ...]:
    return tuple(SeedRow(line, row) for line, row in enumerate(cells, start=2))
