"""Categories by their information about a target: the most similar ones merge first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten

import numpy as np

from dbt_anonymize.arrays import Floats
from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import build_categories
from dbt_anonymize.extensions.hierarchy_builders.others import count_rest, refuse_unusable
from dbt_anonymize.hierarchies.model import CategoricalHierarchy

# Most groups at the first level; most categories that count, by frequency.
_MOST_GROUPS, _MOST_COUNTED = 32, 300
# Members that a label names, and characters of each.
_NAMED, _LONGEST = 2, 24


@dataclass(frozen=True)
class TargetCounts:
    """Counts of the target among the visible records with a category.

    ``sums`` are the records of each class or, for a number, its records and its sum.
    """

    subjects: int
    sums: tuple[float, ...]


def merge_by_target(
    records: Mapping[str, int],
    counts_of: Mapping[str, TargetCounts],
    *,
    k: int,
    is_amount: bool = False,
) -> CategoricalHierarchy:
    """Merge repeatedly the two groups whose merger loses the least information about the target.

    For classes that is mutual information (Slonim and Tishby, Agglomerative information bottleneck,
    1999), for a number (``is_amount``) the variance between groups (Ward 1963). Each level has half
    as many groups as the one below, two at the end. Categories with fewer than ``k`` subjects are
    pooled first. Their targets do not count: the pool is taken as average, joins another group if
    it has fewer than ``k`` records, and labels name none of its values. Fewer than two frequent
    categories, or three in all, are a `HierarchyError`.

    Examples
    --------
    >>> seen = {"flu": (9, 0), "lupus": (2, 7), "cold": (8, 1)}
    >>> seen = {category: TargetCounts(9, sums) for category, sums in seen.items()}
    >>> merge_by_target({"flu": 9, "lupus": 9, "cold": 9}, seen, k=5).labels
    (('cold | flu', 'cold | flu', 'lupus'), ('*', '*', '*'))
    """
    refuse_unusable(records)
    ordered = sorted(records, key=lambda value: (-records[value], value))
    frequent = [v for v in ordered if v in counts_of and counts_of[v].subjects >= k][:_MOST_COUNTED]
    if len(frequent) < 2 or len(ordered) < 3:
        raise HierarchyError(
            f"a tree by target must have three categories, two of them with {k} records that may "
            "be seen; it has fewer. Merge categories by frequency (`others`)."
        )
    rare = [value for value in ordered if value not in {*frequent}]
    of_rare = sum(records[value] for value in rare)
    sums = np.array([counts_of[value].sums for value in frequent], dtype=float)
    if rare:
        sums = _append_pool(sums, of_rare, is_amount=is_amount)
    merging = _Merging(sums, is_amount=is_amount)
    if rare and of_rare < k:
        merging.merge(of=len(frequent))
    members = [*([value] for value in frequent), *([rare] if rare else [])]
    values, levels = [*frequent, *rare], []
    for size in _sizes(len(merging.groups), len(values)):
        while len(merging.groups) > size:
            merging.merge()
        parts = [[v for member in group for v in members[member]] for group in merging.groups]
        levels.append(_labels(parts, {*frequent}))
    labels = [tuple(level[value] for value in values) for level in levels]
    # Rows of a group stand together.
    rows = sorted(range(len(values)), key=lambda row: [lv.index(lv[row]) for lv in labels[::-1]])
    ordered_labels = [tuple(level[row] for row in rows) for level in labels]
    ordered_values = [values[row] for row in rows]
    return build_categories(ordered_values, ordered_labels, name="of categories by target")


class _Merging:
    """Groups of members, ordered by their first ones, and the loss of each merger."""

    def __init__(self, sums: Floats, *, is_amount: bool) -> None:
        self.groups = [[place] for place in range(len(sums))]
        self._information = _number_information if is_amount else _class_information
        if is_amount:
            # Centered numbers keep their digits.
            mean = sums[:, 1].sum() / sums[:, 0].sum()
            sums = np.column_stack([sums[:, 0], sums[:, 1] - mean * sums[:, 0]])
        self._sums = sums
        self._scale = (self._information(sums).sum() if is_amount else sums.sum()) or 1.0
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

    def _losses_of(self, group: int) -> Floats:
        """Return the rounded loss of merging with each other group; infinite with itself."""
        told = self._information(self._sums)
        losses = told + told[group] - self._information(self._sums + self._sums[group])
        losses[group] = np.inf
        rounded: Floats = np.round(losses / self._scale, 12)
        return rounded


def _class_information(sums: Floats) -> Floats:
    """Return records times negative entropy of each group."""
    told: Floats = _xlogx(sums).sum(axis=1) - _xlogx(sums.sum(axis=1))
    return told


def _number_information(sums: Floats) -> Floats:
    """Return the squared sum of each group per record."""
    told: Floats = sums[:, 1] ** 2 / sums[:, 0]
    return told


def _xlogx(counts: Floats) -> Floats:
    return counts * np.log(np.where(counts > 0, counts, 1.0))


def _append_pool(sums: Floats, records: int, *, is_amount: bool) -> Floats:
    """Append the sums of a pool of average records."""
    size = sums[:, 0].sum() if is_amount else sums.sum()
    return np.vstack([sums, sums.sum(axis=0) * records / size])


def _sizes(groups: int, values: int) -> list[int]:
    """Return the number of groups of each level; the first only pools rare values, if any."""
    size = min(groups if groups < values else (groups + 1) // 2, _MOST_GROUPS)
    sizes = [size]
    while size > 2:
        size = (size + 1) // 2
        sizes.append(size)
    return sizes


def _labels(groups: Sequence[Sequence[str]], frequent: set[str]) -> dict[str, str]:
    """Return the label of each value of a level."""
    short, whole = (
        [_label(group, frequent, most) for group in groups] for most in (_LONGEST, None)
    )
    names = short if len({*short}) == len(groups) else whole
    if len({*names}) < len(groups):
        names = [f"{place}: {name}" for place, name in enumerate(names, start=1)]
    return {v: name for group, name in zip(groups, names, strict=True) for v in group}


def _label(group: Sequence[str], frequent: set[str], longest: int | None) -> str:
    """Name the first frequent members, and count the others."""
    if len(group) == 1 and group[0] in frequent:
        return group[0]
    names = [value for value in group if value in frequent][:_NAMED]
    if not names:
        return count_rest(group)
    if longest is not None:
        names = [shorten(value, longest, placeholder="…") for value in names]
    rest = len(group) - len(names)
    return " | ".join(names) + (f" +{rest}" if rest else "")
