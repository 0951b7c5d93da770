"""Conditions of joins and filters: what they look at, and which of them only link rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from dbt_anonymize.verify.lineage.origins import NOTHING, Key, Leaves, Named, is_whole, named
from dbt_anonymize.verify.lineage.scope import Scope


@dataclass
class Conditions:
    """What the conditions of one clause look at."""

    # All, but where a column equals itself.
    all: Leaves = NOTHING
    is_outer: bool = False
    # Which rows of two relations belong together, plain equality of keys excepted.
    linking: Leaves = NOTHING
    # Which rows of one relation are left.
    filtering: Leaves = NOTHING

    def note(self, leaves: Leaves, *, is_plain: bool, is_link: bool) -> None:
        """Note one condition."""
        if not is_plain or len(named(leaves)) > 1:
            self.all |= leaves
        if is_plain:
            return
        if is_link or self.is_outer:
            self.linking |= leaves
        self.filtering |= leaves


def conditions_of(row: Scope) -> Leaves:
    """Return what decides which rows there are, in a query and in what it reads."""
    return row.conditions.union(*(branch.conditions for _, branch in row.sources))


def asks_for_text(condition: Any, row: Scope) -> bool:
    """Tell whether a condition is `<> ''` of a whole value: whether there is one."""
    if not isinstance(condition, exp.NEQ) or row.key(condition.this) is None:
        return False
    other = condition.expression
    return isinstance(other, exp.Literal) and other.is_string and not other.name


def is_plain_equality(sides: Sequence[Leaves], keys: Sequence[Key | None]) -> bool:
    """Tell whether an equality compares whole values, which are written in the same way."""
    if not all(sides) or not all(is_whole(key) for key in keys if key):
        return False
    if {leaf.how for leaves in sides for leaf in leaves} == {"value"}:
        return True
    forms = {frozenset(form for form, _ in key) if key else None for key in keys}
    return len(forms) == 1 and None not in forms


def same_columns(
    sides: Sequence[Leaves], keys: Sequence[Key | None]
) -> frozenset[frozenset[Named]]:
    """Return the columns that have one value where whole values are equal."""
    atoms = [atom for key in keys for atom in key or ()]
    if not all(keys):
        return frozenset({named(NOTHING.union(*sides))})
    if len({form for form, _ in atoms}) == 1:
        # Of values that are put together, each part equals the part in its place.
        places = zip(*(columns for _, columns in atoms), strict=True)
        return frozenset(frozenset(place) for place in places)
    return frozenset({frozenset(column for _, columns in atoms for column in columns)})
