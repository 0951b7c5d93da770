"""Groups of values: by position in an order, or named one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbt_anonymize.errors import HierarchyError
from dbt_anonymize.extensions.hierarchy_builders.building import build_categories
from dbt_anonymize.hierarchies.model import CategoricalHierarchy
from dbt_anonymize.pluralize import pluralized


def ordered_groups(values: Sequence[str], sizes: Sequence[int]) -> CategoricalHierarchy:
    """Group neighbours in an order of distinct values, repeatedly.

    Each of ``sizes`` (>= 2) is how many members of the level below form a group; the last group may
    be smaller. Groups are named ``first - last``; a group of one value keeps its name. Repeated
    values, a level of a single group and coinciding names are a `HierarchyError`.

    Examples
    --------
    >>> ordered_groups(["low", "normal", "raised", "high", "extreme"], [2]).labels[0]
    ('low - normal', 'low - normal', 'raised - high', 'raised - high', 'extreme')
    """
    if not sizes or min(sizes) < 2:
        raise HierarchyError("sizes of groups must be at least one int >= 2. Correct sizes.")
    labels, size = [], 1
    for level, factor in enumerate(sizes, start=1):
        size *= factor
        if size >= len(values):
            raise HierarchyError(
                f"level {level} must have at least two groups; got one of "
                f"{pluralized(len(values), 'value')}. "
                "Use smaller or fewer sizes: the root is added by itself."
            )
        groups = [values[start : start + size] for start in range(0, len(values), size)]
        names = [g[0] if len(g) == 1 else f"{g[0]} - {g[-1]}" for g in groups]
        _refuse_equal_names(names, level)
        labels.append(tuple(name for name, group in zip(names, groups, strict=True) for _ in group))
    return build_categories(values, labels, name="of ordered groups")


def explicit_groups(levels: Sequence[Mapping[str, Sequence[str]]]) -> CategoricalHierarchy:
    """Group values by name, and groups by name again.

    The first level maps the name of a group to its values, the next ones the name of a larger group
    to names of the level below. A member in two groups, or in none, is a `HierarchyError`.

    Examples
    --------
    >>> explicit_groups([{"Europe": ["DE", "FR"], "Asia": ["JP"]}]).labels
    (('Europe', 'Europe', 'Asia'), ('*', '*', '*'))
    """
    if not levels:
        raise HierarchyError("groups must have at least one level; got none. Name some groups.")
    parents = [_parents(groups, level) for level, groups in enumerate(levels, start=1)]
    values = tuple(parents[0])
    labels, names = [], list(values)
    for level, parent in enumerate(parents, start=1):
        missing = {name for name in names if name not in parent}
        unknown = set(parent) - set(names)
        if missing or unknown:
            raise HierarchyError(
                f"groups of level {level} must hold every group of the level below once; "
                f"{len(missing)} are missing and {len(unknown)} are unknown. Correct the names."
            )
        names = [parent[name] for name in names]
        labels.append(tuple(names))
    return build_categories(values, labels, name="of explicit groups")


def _parents(groups: Mapping[str, Sequence[str]], level: int) -> dict[str, str]:
    members = [(member, name) for name, group in groups.items() for member in group]
    parents = dict(members)
    if len(parents) < len(members):
        raise HierarchyError(
            f"groups of level {level} must hold each member once; {len(members) - len(parents)} "
            "repeat. Remove them from the wrong group."
        )
    return parents


def _refuse_equal_names(names: Sequence[str], level: int) -> None:
    if len(set(names)) < len(names):
        raise HierarchyError(
            f"groups of level {level} must have different names; some coincide. "
            "Name the groups one by one instead, or remove repeated values."
        )
