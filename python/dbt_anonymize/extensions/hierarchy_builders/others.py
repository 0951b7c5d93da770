"""Categories without an order: the rare ones together, the frequent ones alone the longest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import build_categories
from dbt_anonymize.hierarchies.model import ROOT, CategoricalHierarchy
from dbt_anonymize.pluralize import pluralized

_MOST_ALONE, _MOST_LEVELS = 32, 5
# Most values that a label names, and its most characters.
_NAMED, _LONGEST = 3, 60
_OTHER = frozenset({"other", "others", "andere", "sonstige", "otro", "otros", "autre", "autres"})


def rare_together(records: Mapping[str, int]) -> CategoricalHierarchy:
    """Merge the rarest values, and half of those that are left at each further level.

    Of equally frequent ones the first when sorted stay longer; a value that means "other" is among
    the rare ones from the start. Labels name up to three members, or say how many they are. No
    values, or a value ``*``, are a `HierarchyError`.

    Examples
    --------
    >>> tree = rare_together({"flu": 9, "cold": 7, "asthma": 4, "lupus": 2, "gout": 1})
    >>> tree.values
    ('flu', 'cold', 'asthma', 'lupus', 'gout')
    >>> [level[-1] for level in tree.labels]
    ['lupus | gout', 'asthma | lupus | gout', 'other (4 values)', '*']
    """
    refuse_unusable(records)
    ordered = sorted(records, key=lambda v: (v.casefold() in _OTHER, -records[v], v))
    labels = []
    for alone in _single_counts(len(ordered)):
        rest = ordered[alone:]
        labels.append((*ordered[:alone], *([_name(rest)] * len(rest))))
    return build_categories(ordered, labels, name="of rare values")


def refuse_unusable(records: Mapping[str, int]) -> None:
    """Raise a `HierarchyError` for no values, and for a value that is the root."""
    if not records:
        raise HierarchyError("a hierarchy must have values; all are NULL. Drop the column.")
    if ROOT in records:
        raise HierarchyError(
            "values must not be *, which stands for every value. Make them NULL in a model before."
        )


def _single_counts(size: int) -> list[int]:
    """Return the number of single values at each level: half as many each, one at the last."""
    sizes = []
    size_ = min((size + 1) // 2, _MOST_ALONE, size - 2)
    while size_ > 0:
        sizes.append(size_)
        size_ = (size_ + 1) // 2 if size_ > 1 else 0
    if len(sizes) <= _MOST_LEVELS:
        return sizes
    steps = _MOST_LEVELS - 1
    return [sizes[round(place * (len(sizes) - 1) / steps)] for place in range(_MOST_LEVELS)]


def _name(rest: Sequence[str]) -> str:
    named = " | ".join(rest)
    is_short = len(rest) <= _NAMED and len(named) <= _LONGEST
    return named if is_short else count_rest(rest)


def count_rest(rest: Sequence[str]) -> str:
    """Return a label that names nobody."""
    return f"other ({pluralized(len(rest), 'value')})"
