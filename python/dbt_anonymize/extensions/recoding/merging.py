"""Merging groups that break a guarantee with those nearest to them."""

from __future__ import annotations

import numpy as np

from dbt_anonymize.arrays import Floats, Ints
from dbt_anonymize.extensions.recoding.mondrian import Violating
from dbt_anonymize.extensions.recoding.tuples import Category, Number, Tuples


def merged_groups(tuples: Tuples, groups: Ints, tuple_of_row: Ints, violating: Violating) -> Ints:
    """Return the group of each tuple, 0 and up; all keep the guarantees unless one alone is left.

    As long as a group breaks a guarantee, the smallest such group is merged with the one whose mean
    or mode is nearest. Ties go to the first; two merged groups take the place of the first.

    References
    ----------
    .. [1] J. Soria-Comas, J. Domingo-Ferrer, D. Sánchez and S. Martínez, *t-Closeness through
       microaggregation: strict privacy with enhanced utility preservation*, IEEE TKDE 27(11), 2015,
       algorithm 1, where the group that is farthest from t comes first.
    """
    groups, count = groups.copy(), int(groups.max()) + 1
    is_weak = violating(np.arange(len(tuple_of_row)), groups[tuple_of_row], count)
    records = np.bincount(groups, weights=tuples.counts)
    order = np.argsort(groups, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(groups))[:-1])
    centers = np.array([tuples.take(rows).center() for rows in members])
    for _ in range(count - 1):
        weak = np.flatnonzero(is_weak)
        if not len(weak):
            break
        number = int(weak[records[weak].argmin()])
        far = _distances(tuples, centers, number)
        far[(records == 0) | (np.arange(count) == number)] = np.inf
        kept, gone = sorted((number, int(far.argmin())))
        groups[members[gone]] = kept
        members[kept] = np.sort(np.concatenate([members[kept], members[gone]]))
        records[kept], records[gone] = records[kept] + records[gone], 0
        centers[kept] = tuples.take(members[kept]).center()
        rows = np.flatnonzero(groups[tuple_of_row] == kept)
        is_weak[gone] = False
        is_weak[kept] = violating(rows, np.zeros(len(rows), dtype=np.int64), 1)[0]
    return np.unique(groups, return_inverse=True)[1].reshape(-1)


def _distances(tuples: Tuples, centers: Floats, number: int) -> Floats:
    """Return the squared distance of each center from one of them."""
    attributes = [
        Number(column) if isinstance(a, Number) else Category(column.astype(np.int64), a.tree)
        for a, column in zip(tuples.attributes, centers.T, strict=True)
    ]
    return Tuples(attributes, tuples.counts).distances(list(centers[number]))
