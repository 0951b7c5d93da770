"""MDAV (maximum distance to average vector) over the distinct tuples of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.extensions.recoding.tuples import Tuples


def mdav(tuples: Tuples, k: int) -> Ints:
    """Return the group of each tuple, 0 and up, each of at least ``k`` records.

    While at least 3k records are left, r, the tuple farthest from their mean, forms a group with
    its nearest tuples, and so does s, the tuple farthest from r. With 2k to 3k - 1 records left, r
    forms a group, and the rest is another. Equal records stay together, so a group may have more
    than 2k - 1 records, and fewer than k may be left: these go to the group with the nearest mean.
    Of equally far tuples the first wins. Fewer than k records in all are one group.

    References
    ----------
    .. [1] J. Domingo-Ferrer and J. M. Mateo-Sanz, IEEE TKDE 14(1):189-201, 2002;
       J. Domingo-Ferrer and V. Torra, Data Mining and Knowledge Discovery 11(2), 2005.
    """
    ungrouped = _Ungrouped(tuples)
    count = 0
    while ungrouped.records >= 2 * k:
        is_last = ungrouped.records < 3 * k
        point = ungrouped.farthest(ungrouped.distances(ungrouped.tuples.center()))
        # The second group is around the tuple farthest from the first.
        for _ in range(1 if is_last else 2):
            distances = ungrouped.distances(point)
            ungrouped.form(count, ungrouped.tuples.nearest(distances, k))
            count += 1
            if ungrouped.records < 2 * k:
                break
            point = ungrouped.farthest(distances)
        if is_last:
            break
    groups, rows = ungrouped.groups, np.flatnonzero(ungrouped.groups < 0)
    if ungrouped.records >= k or count == 0:
        groups[rows] = count
    elif len(rows):
        rest = tuples.take(rows)
        centers = [tuples.take(groups == number).center() for number in range(count)]
        far = np.column_stack([rest.distances(center) for center in centers])
        groups[rows] = far.argmin(axis=1)
    return groups


class _Ungrouped:
    """The tuples that have no group yet, in their order.

    Grouped tuples count no records, and are removed once they are many: copying after each group
    would take most of the time.
    """

    def __init__(self, tuples: Tuples) -> None:
        self.groups = np.full(len(tuples), -1, dtype=np.int64)
        self.records = tuples.records
        self._keep(tuples, np.arange(len(tuples)))

    def _keep(self, tuples: Tuples, rows: Ints) -> None:
        self.tuples = Tuples(tuples.attributes, tuples.counts.copy())
        self._rows = rows
        self._gone: list[int] = []

    def distances(self, point: Sequence[float]) -> Floats:
        """Return the squared distance of each tuple; infinite for grouped ones."""
        if 5 * len(self._gone) > len(self._rows):
            is_ungrouped = self.groups[self._rows] < 0
            self._keep(self.tuples.take(is_ungrouped), self._rows[is_ungrouped])
        distances = self.tuples.distances(point)
        distances[self._gone] = np.inf
        return distances

    def farthest(self, distances: Floats) -> list[float]:
        """Return the farthest tuple, the first of several."""
        distances[self._gone] = -1.0
        return self.tuples.at(int(distances.argmax()))

    def form(self, number: int, chosen: Ints) -> None:
        """Put tuples into a group."""
        self.groups[self._rows[chosen]] = number
        self.records -= int(self.tuples.counts[chosen].sum())
        self.tuples.counts[chosen] = 0
        self._gone.extend(chosen.tolist())
