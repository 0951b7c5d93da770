"""Suppression of single values: more and more values become ``*``, the least wanted first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy
from dbt_anonymize.hierarchies.rules import check


def priority_by_order(values: Sequence[str], *, levels: int | None = None) -> CategoricalHierarchy:
    """Suppress values in the given order.

    Parameters
    ----------
    values : sequence of str
        Distinct values; the first one is suppressed first.
    levels : int, optional
        Number of levels, the root included; by default as many as values. With fewer levels,
        several values are suppressed at each.

    Returns
    -------
    CategoricalHierarchy
        Values are themselves until they become ``*``.

    Raises
    ------
    HierarchyError
        If values repeat, or ``levels`` is not between 1 and the number of values.

    Examples
    --------
    >>> priority_by_order(["rare", "uncommon", "common"]).labels
    (('*', 'uncommon', 'common'), ('*', '*', 'common'), ('*', '*', '*'))
    """
    wanted = len(values) if levels is None else levels
    if not 1 <= wanted <= len(values):
        raise HierarchyError(
            f"levels must be an int from 1 to the number of values ({len(values)}); got {wanted}. "
            "Correct levels."
        )
    labels = []
    for level in range(1, wanted + 1):
        suppressed = level * len(values) // wanted
        labels.append((ROOT,) * suppressed + tuple(values[suppressed:]))
    return check(CategoricalHierarchy(tuple(values), tuple(labels)), name="of priorities")


def priority_by_frequency(
    values: Iterable[str], *, levels: int | None = None
) -> CategoricalHierarchy:
    """Suppress the rarest values first.

    Parameters
    ----------
    values : iterable of str
        The data. Of equally frequent values the one that sorts first is suppressed first.
    levels : int, optional
        Number of levels, the root included; by default as many as distinct values.

    Returns
    -------
    CategoricalHierarchy
        Values in ascending order of frequency.

    Raises
    ------
    HierarchyError
        If there are no values, or ``levels`` is out of range.

    Examples
    --------
    >>> priority_by_frequency(["a", "b", "a"]).values
    ('b', 'a')
    """
    counts = Counter(values)
    return priority_by_order(sorted(counts, key=lambda v: (counts[v], v)), levels=levels)
