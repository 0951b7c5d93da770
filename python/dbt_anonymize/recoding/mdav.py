"""MDAV (maximum distance to average vector) over the distinct tuples of a table."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.recoding.tuples import Codes, Tuples


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
    groups = np.full(len(tuples), -1, dtype=np.int64)
    left, rows = tuples, np.arange(len(tuples))
    made = 0
    while left.records >= 2 * k:
        is_last = left.records < 3 * k
        point = left.at(int(left.distances(left.center()).argmax()))
        # The second group is that of the tuple which is farthest from the first.
        for _ in range(1 if is_last else 2):
            distances = left.distances(point)
            chosen = left.nearest(distances, k)
            groups[rows[chosen]] = made
            made += 1
            keep = np.ones(len(left), dtype=bool)
            keep[chosen] = False
            left, rows, distances = left.take(keep), rows[keep], distances[keep]
            if left.records < 2 * k:
                break
            point = left.at(int(distances.argmax()))
        if is_last:
            break
    if left.records >= k or made == 0:
        groups[rows] = made
    elif len(rows):
        centers = [tuples.take(groups == number).center() for number in range(made)]
        far = np.column_stack([left.distances(center) for center in centers])
        groups[rows] = far.argmin(axis=1)
    return groups
