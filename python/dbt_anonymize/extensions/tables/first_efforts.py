"""First efforts of a table: levels at which few cells are small, and ways to protect them."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.errors import SpecError
from dbt_anonymize.extensions.tables.suppression import (
    LARGEST_CHECKED,
    LARGEST_OPTIMAL,
    MOST_MODULAR_DIMENSIONS,
)
from dbt_anonymize.literals import plain_yaml_text
from dbt_anonymize.privacy.table import Table

MINIMUM_FREQUENCY = 5
# Of all cells with somebody, totals included, at most so many are small: about three are hidden for
# each. Of the coarser efforts half as many; and few enough that those to hide are the best choice.
_SMALL, _MOST_CELLS = 0.1, 2_000
_FEWER_SMALL, _FEWER_CELLS = 0.05, LARGEST_OPTIMAL
# Protect enough at this minimum, see the page of tables.
_NOISE, _ROUNDING = "method: noise, variance: 6, largest: 10", "method: round, base: 10"
_HIDING, _HIDDEN_TABLES = "method: hide", 2
_MOST_DIMENSIONS = 6


@dataclass(frozen=True)
class _Level:
    """A level of a dimension: the label of each counted row, and the share of entropy it keeps."""

    number: int
    labels: Ints
    size: int
    kept: float


@dataclass(frozen=True)
class _Cells:
    """The cells of a table at a level of each dimension."""

    names: Sequence[str]
    levels: tuple[_Level, ...]

    @property
    def size(self) -> int:
        """Number of all cells, empty ones and totals included."""
        return math.prod(level.size + 1 for level in self.levels)

    @property
    def kept(self) -> float:
        """Product of the shares of entropy: no dimension is given up for another."""
        return math.prod(level.kept for level in self.levels)

    @property
    def can_hide(self) -> bool:
        """Tell whether cells can be hidden in a table of this size."""
        return self.size <= LARGEST_OPTIMAL or len(self.levels) <= MOST_MODULAR_DIMENSIONS

    def is_coarser(self, other: _Cells) -> bool:
        """Tell whether no level is finer than in another table, and one is coarser."""
        numbers = [[one.number for one in cells.levels] for cells in (self, other)]
        return numbers[0] != numbers[1] and all(map(operator.ge, *numbers))

    def small_share(self, people: Floats) -> float:
        """Return the share of the cells with somebody that have too few, over all margins."""
        sizes = [level.size for level in self.levels]
        places = np.ravel_multi_index([level.labels for level in self.levels], sizes)
        finest = np.bincount(places, people, minlength=math.prod(sizes)).reshape(sizes)
        axes = range(len(sizes))
        margins = (
            finest.sum(axis=out) for n in range(len(sizes) + 1) for out in combinations(axes, n)
        )
        counts = [np.ravel(margin) for margin in margins]
        somebody = np.concatenate(counts)
        somebody = somebody[somebody > 0]
        return float((somebody < MINIMUM_FREQUENCY).mean())


def draft(
    counts: Table, dimensions: Sequence[str], *, sums: Sequence[str], people: int, repeats: bool
) -> str:
    """Return the key ``table`` of a spec as YAML; see `extension.Extension`.

    Of the levels at which few cells are small, the first efforts have those that keep the most of
    each dimension, and another one coarser levels. Raises a `SpecError` where nothing protects.
    """
    _check(dimensions)
    # Of people with several records, as many as they have on average.
    weights = (counts.records * (people / max(1, counts.total))).astype(np.float64)
    levels = [_levels(counts, name, weights) for name in dimensions]
    tables = [_Cells(dimensions, chosen) for chosen in product(*levels)]
    tables.sort(key=lambda one: one.kept, reverse=True)
    smallest = min(tables, key=lambda one: one.size)
    if smallest.size > LARGEST_CHECKED:
        raise SpecError(
            f"a table must have at most {LARGEST_CHECKED:,} cells to be checked; "
            f"{', '.join(dimensions)} make {smallest.size:,} at the coarsest levels. Name fewer "
            "dimensions."
        )
    fitting = [one for one in tables if one.size <= _MOST_CELLS] or [smallest]
    fine = _best(fitting, _SMALL, weights) or min(fitting, key=lambda one: one.small_share(weights))
    coarser = (one for one in tables if one.size <= _FEWER_CELLS and one.is_coarser(fine))
    coarse = _best(coarser, _FEWER_SMALL, weights)
    protected: list[tuple[str, _Cells]] = []
    if sums or not repeats:
        protected += [(_HIDING, one) for one in _hidden(fine, coarse, fitting)]
    if not sums:
        protected += [(_NOISE, fine), (_ROUNDING, fine)]
    if not protected:
        raise SpecError(
            f"sums need a table of which cells can be hidden; {', '.join(dimensions)} are too many "
            f"dimensions for these records. Name {MOST_MODULAR_DIMENSIONS} or fewer."
        )
    measures = [*_counts_lines(has_sums=bool(sums), repeats=repeats), *_sums_lines(sums)]
    first = protected[0][1]
    efforts = [f"{{{method}{_levels_text(cells)}}}" for method, cells in protected]
    return _text(first, measures, efforts, f"{first.small_share(weights):.0%}", counts)


def _levels(counts: Table, name: str, people: Floats) -> list[_Level]:
    """Return the levels of a column below the root, those with the same labels once."""
    codes = {one.name: values for one, values in counts.sensitive}
    labels, lowest = [codes[name]] if name in codes else [], 0
    for place, attribute in enumerate(counts.attributes):
        if attribute.name == name:
            of_leaf = attribute.levels[attribute.lowest : attribute.height]
            # A number with a single interval is shown as it is.
            lowest = attribute.lowest if of_leaf else 0
            labels = [one[counts.leaves[:, place]] for one in of_leaf or attribute.levels[:1]]
    finest, levels = _entropy(labels[0], people), list[_Level]()
    for number, of_row in enumerate(labels, start=lowest):
        size = int(of_row.max(initial=0)) + 1
        if not levels or 2 <= size < levels[-1].size:
            kept = _entropy(of_row, people) / finest if finest else 1.0
            levels.append(_Level(number, of_row, size, kept))
    return levels


def _entropy(labels: Ints, people: Floats) -> float:
    shares = np.bincount(labels, people)
    shares = shares[shares > 0] / people.sum()
    return float(-(shares * np.log2(shares)).sum())


def _best(tables: Iterable[_Cells], most: float, people: Floats) -> _Cells | None:
    """Return the first table of which few enough cells are small."""
    return next((one for one in tables if one.small_share(people) <= most), None)


def _check(dimensions: Sequence[str]) -> None:
    if len(dimensions) > _MOST_DIMENSIONS:
        raise SpecError(
            f"a table must have at most {_MOST_DIMENSIONS} dimensions; got {len(dimensions)}. "
            "Leave some out, or declare several tables of other people."
        )


def _hidden(fine: _Cells, coarse: _Cells | None, fitting: Iterable[_Cells]) -> list[_Cells]:
    """Return tables of which cells are hidden: two where it can be, the finer one first.

    A release binds the table to its way, so that there is no other try. Instead of one that is not
    there, or has too many cells, stands the finest that is no coarser than the other, with any
    number of small cells.
    """
    found = [one for one in (fine, coarse) if one and one.can_hide]
    for one in fitting:
        if len(found) >= _HIDDEN_TABLES:
            break
        if one.can_hide and not any(one is other or one.is_coarser(other) for other in found):
            found.append(one)
    return sorted(found, key=lambda one: one.kept, reverse=True)


def _counts_lines(*, has_sums: bool, repeats: bool) -> list[str]:
    """Return what is counted where people have several records; only records add up."""
    if not repeats:
        return []
    if has_sums:
        return [
            "  # Of people who have several: counts of people would not add up, and hide no sums.",
            "  counts: records",
        ]
    return [
        "  # People are counted; their records add up, so that small cells can be hidden:",
        "  # counts: records",
    ]


def _sums_lines(sums: Sequence[str]) -> list[str]:
    return [f"  sums: [{', '.join(map(plain_yaml_text, sums))}]"] if sums else []


def _levels_text(cells: _Cells) -> str:
    pairs = zip(cells.names, cells.levels, strict=True)
    written = [f"{plain_yaml_text(name)}: {one.number}" for name, one in pairs if one.number]
    return f", levels: {{{', '.join(written)}}}" if written else ""


def _questions(dimensions: Sequence[str], counts: Table) -> list[str]:
    """Return questions about the dimensions, for example."""
    ordered = {one.name for one in counts.attributes if one.lowest}
    names = [plain_yaml_text(one) for one in dimensions]
    trend = [f"{{trend: {plain_yaml_text(one)}}}" for one in dimensions if one in ordered][:1]
    unordered = [plain_yaml_text(one) for one in dimensions if one not in ordered]
    by = f", by: [{', '.join(names[:-1][:2])}]" if names[1:] else ""
    return [f"{{share: {names[-1]}{by}}}", *trend, *(f"{{rank: {one}}}" for one in unordered[:1])]


def _text(
    first: _Cells, measures: Sequence[str], efforts: Sequence[str], small: str, counts: Table
) -> str:
    lines = [
        "# Counts, and no records (docs/extensions/tables.md). Cells with fewer people than "
        "minimum_frequency are hidden or",
        "# changed; the effort that answers best, of those that protect enough, is released.",
        "table:",
        f"  dimensions: [{', '.join(map(plain_yaml_text, first.names))}]",
        *measures,
        f"  minimum_frequency: {MINIMUM_FREQUENCY}",
        f"  # Levels of hierarchies. The first effort has {first.size:,} cells, empty ones and "
        f"totals included; {small} of the others are small.",
        "  # A table stays with the effort that releases it: try others on a target that does not "
        "publish.",
        "  efforts:",
        *(f"    - {effort}" for effort in efforts),
        "  # Answers are the shares of the cells of each margin, or what your readers ask:",
        "  # questions:",
        *(f"  #   - {question}" for question in _questions(first.names, counts)),
    ]
    return "\n".join(lines) + "\n"
