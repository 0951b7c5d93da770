"""Values with a known order: neighbours merge, and each label says what it holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import build_categories
from dbt_anonymize.extensions.hierarchy_builders.neighbours import name_runs, neighbour_levels
from dbt_anonymize.extensions.hierarchy_builders.padding import places_label
from dbt_anonymize.extensions.hierarchy_builders.ranges import name_of_ranges, order_of_ranges
from dbt_anonymize.extensions.hierarchy_builders.scales import has_order, order_of_words
from dbt_anonymize.hierarchies.model import CategoricalHierarchy

_Name = Callable[[int, int], str]


def order_values(records: Mapping[str, int]) -> CategoricalHierarchy:
    """Build groups of neighbours of words or ranges that have an order; of none a `HierarchyError`.

    Groups hold about equally many records, half as many at each level. Values without a place
    (unknown, refused) are a group of their own. Labels start with the places of their members
    where they would not sort as text otherwise.

    Examples
    --------
    >>> order_values({"18-25": 9, "26-35": 8, "36-64": 9, "65+": 7}).labels[0]
    ('18-35', '18-35', '36+', '36+')
    >>> order_values({"high": 9, "low": 5, "medium": 4}).labels[0]
    ('1-2: low | medium', '1-2: low | medium', '3: high')
    """
    order = _order(sorted(records))
    if order is None:
        raise HierarchyError(
            "ordered values must be words or ranges in an order that is known (low, medium, high; "
            "18-25, 26-35); they are not. Name groups (`groups --group`), or use `others`."
        )
    ordered, name = order
    unknown = sorted(set(records) - set(ordered))
    levels = neighbour_levels([records[value] for value in ordered])
    plain = _labels(levels, name, len(ordered), unknown, is_ranked=False)
    is_sorted = all(list(level) == sorted(level) for level in plain)
    labels = plain if is_sorted else _labels(levels, name, len(ordered), unknown, is_ranked=True)
    return build_categories((*ordered, *unknown), labels, name="of ordered values")


def has_known_order(values: Sequence[str]) -> bool:
    """Tell whether values are words or ranges in an order that is known."""
    return _order(values) is not None


def _order(values: Sequence[str]) -> tuple[list[str], _Name] | None:
    ranges = order_of_ranges(values)
    if has_order(values, {text: range_.key for text, range_ in ranges.items()}):
        bounds = list(ranges.values())
        return list(ranges), lambda first, last: name_of_ranges(bounds, first, last)
    places = order_of_words(values)
    if places is None:
        return None
    ordered = sorted(places, key=lambda value: (places[value], value))

    def name(first: int, last: int) -> str:
        if first == last:
            return ordered[first]
        return f"{ordered[first]}{' | ' if last == first + 1 else ' - '}{ordered[last]}"

    return ordered, name


def _labels(
    levels: Sequence[Sequence[int]],
    name: _Name,
    size: int,
    unknown: Sequence[str],
    *,
    is_ranked: bool,
) -> list[tuple[str, ...]]:
    """Return the labels of each level; unknown values come last."""
    digits = len(str(size + 1))

    def ranked(first: int, last: int) -> str:
        return places_label(first, last, digits) if is_ranked else ""

    rest = [f"{ranked(size, size)}{' | '.join(unknown)}"] * len(unknown)
    return [
        (*name_runs(level, lambda first, last: ranked(first, last) + name(first, last)), *rest)
        for level in levels
    ]
