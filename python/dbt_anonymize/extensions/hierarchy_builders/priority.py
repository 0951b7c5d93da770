"""Suppression of single values: more and more values become ``*``, the least wanted first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.rules import check
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy


def priority_by_order(values: Sequence[str], *, levels: int | None = None) -> CategoricalHierarchy:
    """Suppress distinct values in the given order.

    There are ``levels`` levels, the root included: 1 to the number of values, which is the default.
    With fewer, several values are suppressed at each. Repeated values are a `HierarchyError`.

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
    values: Iterable[str] | Mapping[str, int], *, levels: int | None = None
) -> CategoricalHierarchy:
    """Suppress the rarest values of the data first; of equally frequent ones the first when sorted.

    ``values`` repeat as in the data, or have their number of records; ``levels`` as above. No
    values are a `HierarchyError`.

    Examples
    --------
    >>> priority_by_frequency(["a", "b", "a"]).values
    ('b', 'a')
    """
    counts = Counter(values)
    return priority_by_order(sorted(counts, key=lambda v: (counts[v], v)), levels=levels)
