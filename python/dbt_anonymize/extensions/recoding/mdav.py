"""MDAV (maximum distance to average vector) over the distinct tuples of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbt_anonymize.extensions.recoding.tuples import Codes, Floats, Tuples


def mdav(tuples: Tuples, k: int) -> Codes:
    """Return the group of each tuple, 0 and up, each of at least ``k`` records.

    While 3k records are left: r is the tuple that is farthest from their mean, and forms a group
    with those nearest to it; so does s, which is farthest from r among the others. Of 2k to 3k - 1
    records that are left, r forms a group, and the rest is one. Equal records stay together, so a
    group may have more than 2k - 1 of them, and fewer than k may be left in the end: these go to
    the group whose mean is nearest. Of equally far tuples the first wins. Fewer than k records in
    all are one group.

    References
    ----------
    .. [1] J. Domingo-Ferrer and J. M. Mateo-Sanz, IEEE TKDE 14(1):189-201, 2002;
       J. Domingo-Ferrer and V. Torra, Data Mining and Knowledge Discovery 11(2), 2005.
    """
    left = _Left(tuples)
    made = 0
    while left.records >= 2 * k:
        is_last = left.records < 3 * k
        point = left.farthest(left.distances(left.tuples.center()))
        # The second group is that of the tuple which is farthest from the first.
        for _ in range(1 if is_last else 2):
            distances = left.distances(point)
            left.form(made, left.tuples.nearest(distances, k))
            made += 1
            if left.records < 2 * k:
                break
            point = left.farthest(distances)
        if is_last:
            break
    groups, rows = left.groups, np.flatnonzero(left.groups < 0)
    if left.records >= k or made == 0:
        groups[rows] = made
    elif len(rows):
        rest = tuples.take(rows)
        centers = [tuples.take(groups == number).center() for number in range(made)]
        far = np.column_stack([rest.distances(center) for center in centers])
        groups[rows] = far.argmin(axis=1)
    return groups


class _Left:
    """The tuples that have no group yet, in their order.

    Those that have one count no records and are cleared away once they are many: copying what is
    left after each group would take most of the time.
    """

    def __init__(self, tuples: Tuples) -> None:
        self.groups = np.full(len(tuples), -1, dtype=np.int64)
        self.records = tuples.records
        self._keep(tuples, np.arange(len(tuples)))

    def _keep(self, tuples: Tuples, rows: Codes) -> None:
        self.tuples = Tuples(tuples.attributes, tuples.counts.copy())
        self._rows = rows
        self._gone: list[int] = []

    def distances(self, point: Sequence[float]) -> Floats:
        """Return the squared distance of each tuple; infinite of those that have a group."""
        if 5 * len(self._gone) > len(self._rows):
            left = self.groups[self._rows] < 0
            self._keep(self.tuples.take(left), self._rows[left])
        distances = self.tuples.distances(point)
        distances[self._gone] = np.inf
        return distances

    def farthest(self, distances: Floats) -> list[float]:
        """Return the first of the tuples that are farthest away."""
        distances[self._gone] = -1.0
        return self.tuples.at(int(distances.argmax()))

    def form(self, number: int, chosen: Codes) -> None:
        """Put tuples into a group."""
        self.groups[self._rows[chosen]] = number
        self.records -= int(self.tuples.counts[chosen].sum())
        self.tuples.counts[chosen] = 0
        self._gone.extend(chosen.tolist())
