"""First efforts of a table: levels at which cells have people enough, and ways to protect them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.tables.suppression import LARGEST_OPTIMAL, MOST_MODULAR_DIMENSIONS
from dbt_anonymize.literals import plain_yaml_text
from dbt_anonymize.privacy.table import IntArray, Table

MINIMUM_FREQUENCY = 5
# The finest labels at which a cell that is not empty has twice the minimum on average, and a table
# that people still read, totals included. Small cells are then the exception.
_PEOPLE_OF_A_CELL, _MOST_CELLS = 2 * MINIMUM_FREQUENCY, 2_000
# Protect enough at this minimum, see the page of tables.
_NOISE, _ROUNDING = "method: noise, variance: 6, largest: 10", "method: round, base: 10"
_HIDING = "method: hide"
_MOST_DIMENSIONS = 6


@dataclass(frozen=True)
class _Counted:
    """A dimension: the label of each counted row, by level below the root, from the lowest."""

    name: str
    labels: tuple[IntArray, ...]
    lowest: int = 0

    @classmethod
    def of(cls, counts: Table, name: str) -> _Counted:
        """Read the labels of a column."""
        for place, attribute in enumerate(counts.attributes):
            if attribute.name == name:
                levels = attribute.levels[attribute.lowest : attribute.height]
                # A number with a single interval is shown as it is.
                levels, lowest = (levels, attribute.lowest) if levels else (attribute.levels[:1], 0)
                leaves = counts.leaves[:, place]
                return cls(name, tuple(level[leaves] for level in levels), lowest)
        return cls(name, next((codes,) for one, codes in counts.sensitive if one.name == name))

    def size(self, depth: int) -> int:
        """Return the number of labels."""
        return len(np.unique(self.labels[depth]))

    def coarser(self, depth: int) -> int | None:
        """Return the next level with fewer labels, two or more of them."""
        deeper = range(depth + 1, len(self.labels))
        return next((one for one in deeper if 2 <= self.size(one) < self.size(depth)), None)


class _Levels:
    """A level of each dimension."""

    def __init__(self, dimensions: Sequence[_Counted], depths: Sequence[int]) -> None:
        self._dimensions, self._depths = dimensions, depths
        pairs = list(zip(dimensions, depths, strict=True))
        self._sizes = [dimension.size(depth) for dimension, depth in pairs]
        # All cells of the table, empty ones and totals included.
        self.cells = int(np.prod([size + 1 for size in self._sizes], dtype=object))
        self.levels = {
            one.name: depth + one.lowest for one, depth in pairs if depth + one.lowest > 0
        }

    def people_of_a_cell(self, people: int) -> float:
        """Return how many people a finest cell has on average, if it has any."""
        codes = np.zeros(len(self._dimensions[0].labels[0]), dtype=np.int64)
        for dimension, depth in zip(self._dimensions, self._depths, strict=True):
            own = dimension.labels[depth]
            codes = np.unique(codes * (own.max() + 1) + own, return_inverse=True)[1]
        return people / (int(codes.max(initial=0)) + 1)

    def coarsened(self) -> _Levels | None:
        """Coarsen the dimension with the most labels of those that can be; else None."""
        for place in sorted(range(len(self._sizes)), key=lambda one: -self._sizes[one]):
            deeper = self._dimensions[place].coarser(self._depths[place])
            if deeper is not None:
                depths = [*self._depths]
                depths[place] = deeper
                return _Levels(self._dimensions, depths)
        return None

    @property
    def can_hide(self) -> bool:
        """Tell whether cells can be hidden in a table of this size."""
        return self.cells <= LARGEST_OPTIMAL or len(self._sizes) <= MOST_MODULAR_DIMENSIONS


def draft(
    counts: Table, dimensions: Sequence[str], *, sums: Sequence[str], people: int, repeats: bool
) -> str:
    """Return the key ``table`` of a spec as YAML; see `extension.Extension`.

    The first levels are the finest at which cells have people enough: the dimension with the most
    labels is coarsened until then. The second ones are coarser, so few that the cells to hide are
    the best choice. A table that nothing protects is a `SpecError`.
    """
    _check(dimensions, sums, repeats=repeats)
    counted = [_Counted.of(counts, name) for name in dimensions]
    fine = _Levels(counted, [0] * len(counted))
    while fine.cells > _MOST_CELLS or fine.people_of_a_cell(people) < _PEOPLE_OF_A_CELL:
        coarser = fine.coarsened()
        if coarser is None:
            break
        fine = coarser
    coarse = fine.coarsened()
    while coarse is not None and coarse.cells > LARGEST_OPTIMAL and (more := coarse.coarsened()):
        coarse = more
    efforts = _efforts(fine, coarse, has_sums=bool(sums), repeats=repeats)
    if not efforts:
        raise SpecError(
            f"a table with sums must have few enough cells to hide some; {', '.join(dimensions)} "
            f"make {fine.cells if coarse is None else coarse.cells:,} at their coarsest. Name "
            f"{MOST_MODULAR_DIMENSIONS} dimensions or fewer."
        )
    sized = f"{fine.cells:,} cells, {fine.people_of_a_cell(people):.0f} people in one"
    return _text(dimensions, sums, efforts, sized, _questions(counted, counts))


def _check(dimensions: Sequence[str], sums: Sequence[str], *, repeats: bool) -> None:
    if len(dimensions) > _MOST_DIMENSIONS:
        raise SpecError(
            f"a table must have at most {_MOST_DIMENSIONS} dimensions; got {len(dimensions)}. "
            "Leave some out, or declare several tables of other people."
        )
    if sums and repeats:
        raise SpecError(
            f"sums ({', '.join(sums)}) must be of people with one record each, since only hidden "
            "cells protect them; the subject has several records. Add them up by person in a model "
            "before, or leave them out."
        )


def _efforts(fine: _Levels, coarse: _Levels | None, *, has_sums: bool, repeats: bool) -> list[str]:
    pairs = []
    if not repeats:
        hidden = [fine, *([coarse] if coarse else [])]
        pairs += [(_HIDING, levels) for levels in hidden if levels.can_hide]
    if not has_sums:
        pairs += [(_NOISE, fine), (_ROUNDING, fine)]
    return [f"{{{method}{_levels_text(levels)}}}" for method, levels in pairs]


def _levels_text(chosen: _Levels) -> str:
    pairs = [f"{plain_yaml_text(name)}: {level}" for name, level in chosen.levels.items()]
    return f", levels: {{{', '.join(pairs)}}}" if pairs else ""


def _questions(counted: Sequence[_Counted], counts: Table) -> list[str]:
    """Return questions about the dimensions, for example."""
    names = [plain_yaml_text(one.name) for one in counted]
    ordered = [plain_yaml_text(one.name) for one in counts.attributes if one.lowest > 0]
    by = f", by: [{', '.join(names[:-1])}]" if names[1:] else ""
    trend = next((f"{{trend: {name}}}" for name in names if name in ordered), None)
    return [f"{{share: {names[-1]}{by}}}", *([trend] if trend else []), f"{{rank: {names[0]}}}"]


def _text(
    dimensions: Sequence[str],
    sums: Sequence[str],
    efforts: Sequence[str],
    sized: str,
    questions: Sequence[str],
) -> str:
    lines = [
        "# Counts of people, and no records (docs/extensions/tables.md). A cell with fewer people "
        "than minimum_frequency is hidden",
        "# or changed; the effort that answers best is released.",
        "table:",
        f"  dimensions: [{', '.join(map(plain_yaml_text, dimensions))}]",
        *([f"  sums: [{', '.join(map(plain_yaml_text, sums))}]"] if sums else []),
        f"  minimum_frequency: {MINIMUM_FREQUENCY}",
        f"  # Levels of hierarchies; without one, values as they are. The finest: {sized} on "
        "average.",
        "  efforts:",
        *(f"    - {effort}" for effort in efforts),
        "  # An answer is scored by the shares of the cells of each margin, or by what you ask:",
        "  # questions:",
        *(f"  #   - {question}" for question in questions),
    ]
    return "\n".join(lines) + "\n"
