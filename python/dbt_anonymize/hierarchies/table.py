"""The rows of a hierarchy seed as text, before they are checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dbt_anonymize.errors import HierarchyError

Kind = Literal["interval", "categorical"]

LEAF_COLUMNS: dict[Kind, tuple[str, ...]] = {
    "interval": ("lower_bound", "upper_bound"),
    "categorical": ("value",),
}


@dataclass(frozen=True)
class SeedRow:
    """The line of the file on which a row starts, and its cells."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class SeedTable:
    """A hierarchy seed as text; rows may still have the wrong number of cells."""

    kind: Kind
    columns: tuple[str, ...]
    rows: tuple[SeedRow, ...]

    @property
    def levels(self) -> int:
        """Number of level columns."""
        return len(self.columns) - len(LEAF_COLUMNS[self.kind])

    def level(self, level: int) -> list[tuple[int, str]]:
        """Return line and label of each row at a level from 1 to ``levels``."""
        column = len(LEAF_COLUMNS[self.kind]) + level - 1
        return [(row.line, row.cells[column]) for row in self.rows]


def level_columns(levels: int) -> tuple[str, ...]:
    """Return the names of the level columns.

    Examples
    --------
    >>> level_columns(2)
    ('level_1', 'level_2')
    """
    return tuple(f"level_{level}" for level in range(1, levels + 1))


def count_levels(columns: Sequence[str], kind: Kind | None = None) -> int | None:
    """Return the number of level columns of a hierarchy of a kind, of any by default.

    Order and case of the columns do not matter. None: it is no hierarchy.

    Examples
    --------
    >>> count_levels(["level_1", "VALUE", "level_2"]), count_levels(["value", "level_2"])
    (2, None)
    """
    names = sorted(column.lower() for column in columns)
    for leaf_columns in (LEAF_COLUMNS[kind],) if kind else LEAF_COLUMNS.values():
        levels = len(names) - len(leaf_columns)
        if levels >= 1 and names == sorted((*leaf_columns, *level_columns(levels))):
            return levels
    return None


def table_kind(columns: Sequence[str], *, name: str) -> Kind:
    """Return the kind of hierarchy that a header row declares, or raise a `HierarchyError`."""
    for kind, leaf_columns in LEAF_COLUMNS.items():
        levels = len(columns) - len(leaf_columns)
        if levels >= 1 and tuple(columns) == (*leaf_columns, *level_columns(levels)):
            return kind
    raise HierarchyError(
        f"{name}: the columns of a hierarchy must be lower_bound, upper_bound, level_1, level_2, … "
        f"or value, level_1, level_2, …; got {len(columns)} other columns. Correct the header row."
    )
