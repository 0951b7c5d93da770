"""Categories by what they mean for a target: those merge first that tell the same of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten

import numpy as np
from numpy.typing import NDArray

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.others import count_rest, refuse_unusable
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy
from dbt_anonymize.hierarchies.rules import check

_Floats = NDArray[np.float64]
# So many groups are left at the first level at most; of more categories the frequent ones count.
_MOST_GROUPS, _MOST_COUNTED = 32, 300
# A label names so many members, by so many characters each.
_NAMED, _LONGEST = 2, 24


@dataclass(frozen=True)
class Seen:
    """Counts of the target among records with a category that may be seen.

    ``sums`` are the records of each class or, of a number, its records and its sum.
    """

    subjects: int
    sums: tuple[float, ...]


def merge_by_target(
    records: Mapping[str, int], seen: Mapping[str, Seen], *, k: int, is_amount: bool = False
) -> CategoricalHierarchy:
    """Merge the two groups, again and again, whose merger loses the least of the target.

    Of classes that is mutual information (Slonim and Tishby, Agglomerative information bottleneck,
    1999), of a number (``is_amount``) the variance between groups (Ward 1963). Each level has half
    as many groups as the one below, two at the end. Categories of which fewer than ``k`` subjects
    are seen are pooled before. Their targets do not count: the pool is taken for average, joins
    another group where it has fewer than ``k`` records, and labels name none of its values. Fewer
    than two categories that are not rare, or than three in all, are a `HierarchyError`.

    Examples
    --------
    >>> seen = {"flu": Seen(9, (9, 0)), "lupus": Seen(9, (2, 7)), "cold": Seen(9, (8, 1))}
    >>> merge_by_target({"flu": 9, "lupus": 9, "cold": 9}, seen, k=5).labels
    (('cold | flu', 'cold | flu', 'lupus'), ('*', '*', '*'))
    """
    refuse_unusable(records)
    ordered = sorted(records, key=lambda value: (-records[value], value))
    known = [v for v in ordered if v in seen and seen[v].subjects >= k][:_MOST_COUNTED]
    if len(known) < 2 or len(ordered) < 3:
        raise HierarchyError(
            f"a tree by target must have three categories, two of them with {k} records that may "
            "be seen; it has fewer. Merge categories by frequency (`others`)."
        )
    rare = [value for value in ordered if value not in {*known}]
    of_rare = sum(records[value] for value in rare)
    sums = np.array([seen[value].sums for value in known], dtype=float)
    if rare:
        sums = _with_pool(sums, of_rare, is_amount=is_amount)
    merging = _Merging(sums, is_amount=is_amount)
    if rare and of_rare < k:
        merging.merge(of=len(known))
    members = [*([value] for value in known), *([rare] if rare else [])]
    values, levels = [*known, *rare], []
    for size in _sizes(len(merging.groups), len(values)):
        while len(merging.groups) > size:
            merging.merge()
        parts = [[v for one in group for v in members[one]] for group in merging.groups]
        levels.append(_labels(parts, {*known}))
    labels = [tuple(level[value] for value in values) for level in levels]
    # Rows of a group stand together.
    rows = sorted(range(len(values)), key=lambda row: [lv.index(lv[row]) for lv in labels[::-1]])
    tree = CategoricalHierarchy(
        tuple(values[row] for row in rows),
        (*(tuple(level[row] for row in rows) for level in labels), (ROOT,) * len(rows)),
    )
    return check(tree, name="of categories by target")


class _Merging:
    """Groups of members, in the order of their first ones, and what the merger of two loses."""

    def __init__(self, sums: _Floats, *, is_amount: bool) -> None:
        self.groups = [[place] for place in range(len(sums))]
        self._told = _told_of_number if is_amount else _told_of_classes
        if is_amount:
            # Around their mean, numbers keep their digits.
            mean = sums[:, 1].sum() / sums[:, 0].sum()
            sums = np.column_stack([sums[:, 0], sums[:, 1] - mean * sums[:, 0]])
        self._sums = sums
        self._scale = (self._told(sums).sum() if is_amount else sums.sum()) or 1.0
        self._losses = np.stack([self._losses_of(group) for group in range(len(sums))])

    def merge(self, of: int | None = None) -> None:
        """Merge the two groups that lose the least; ``of``: this group with another."""
        losses = self._losses if of is None else self._losses[of : of + 1]
        row, other = np.unravel_index(losses.argmin(), losses.shape)
        first, second = sorted((int(row) if of is None else of, int(other)))
        self.groups[first] += self.groups.pop(second)
        self._sums[first] += self._sums[second]
        self._sums = np.delete(self._sums, second, axis=0)
        self._losses = np.delete(np.delete(self._losses, second, axis=0), second, axis=1)
        self._losses[first] = self._losses[:, first] = self._losses_of(first)

    def _losses_of(self, group: int) -> _Floats:
        """Return the loss with each other group, without noise of digits; infinite with itself."""
        told = self._told(self._sums)
        losses = told + told[group] - self._told(self._sums + self._sums[group])
        losses[group] = np.inf
        rounded: _Floats = np.round(losses / self._scale, 12)
        return rounded


def _told_of_classes(sums: _Floats) -> _Floats:
    """Return records times negative entropy of each group."""
    told: _Floats = _xlogx(sums).sum(axis=1) - _xlogx(sums.sum(axis=1))
    return told


def _told_of_number(sums: _Floats) -> _Floats:
    """Return the squared sum of each group per record."""
    told: _Floats = sums[:, 1] ** 2 / sums[:, 0]
    return told


def _xlogx(counts: _Floats) -> _Floats:
    return counts * np.log(np.where(counts > 0, counts, 1.0))


def _with_pool(sums: _Floats, records: int, *, is_amount: bool) -> _Floats:
    """Return sums with those of so many average records behind."""
    size = sums[:, 0].sum() if is_amount else sums.sum()
    return np.vstack([sums, sums.sum(axis=0) * records / size])


def _sizes(groups: int, values: int) -> list[int]:
    """Return how many groups each level has; the first only pools where that merges anything."""
    size = min(groups if groups < values else (groups + 1) // 2, _MOST_GROUPS)
    sizes = [size]
    while size > 2:
        size = (size + 1) // 2
        sizes.append(size)
    return sizes


def _labels(groups: Sequence[Sequence[str]], known: set[str]) -> dict[str, str]:
    """Return the label of each value of a level."""
    short, whole = ([_label(group, known, most) for group in groups] for most in (_LONGEST, None))
    names = short if len({*short}) == len(groups) else whole
    if len({*names}) < len(groups):
        names = [f"{place}: {name}" for place, name in enumerate(names, start=1)]
    return {v: name for group, name in zip(groups, names, strict=True) for v in group}


def _label(group: Sequence[str], known: set[str], longest: int | None) -> str:
    """Name the first members that are not rare, and count the others."""
    if len(group) == 1 and group[0] in known:
        return group[0]
    named = [value for value in group if value in known][:_NAMED]
    if not named:
        return count_rest(group)
    if longest is not None:
        named = [shorten(value, longest, placeholder="…") for value in named]
    rest = len(group) - len(named)
    return " | ".join(named) + (f" +{rest}" if rest else "")
