"""What a value is made of: leaves, tables of leaves, and the clauses that look at them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

# value     the value itself, at most in another type or with a replacement for NULL
# computed  something computed from it
# presence  whether it is NULL, and nothing else
# summary   the same for all rows of a group: an aggregate per other columns
# place     where it stands in the order of a window
# count     how many there are, also of those in its partition
# tally     how many there are of something computed, which may be a condition on one row
# decided   which of several rows or literals is there, by a condition that looks at it
# decided by count, decided by place
#           the same, by a condition that looks at its count or place alone
# opaque    made by what cannot be read
How = Literal[
    "value", "computed", "presence", "summary", "place", "count", "tally", "decided",
    "decided by count", "decided by place", "opaque",
]  # fmt: skip
Named = tuple[str, str]
# How a value is written over whole columns, `md5(cast(?))`, and over which: of a union, one each.
Key = frozenset[tuple[str, tuple[Named, ...]]]
# What is written down in how a value is written: a text or a number.
_LITERAL = re.compile(r"'|\b\d")


class Unresolvable(Exception):  # noqa: N818 (a verdict that the rules turn into a finding)
    """SQL that cannot be followed, so it proves nothing; the text completes "it ..."."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column of a relation at which a value begins.

    Parameters
    ----------
    relation, column : str
        Name of the node, and of its column in lower case. Counts of rows have neither.
    how : str
        What of the column the value tells.
    per : frozenset of (str, str)
        For a summary, the columns whose values make the groups.
    within : frozenset of Key
        For a place or tally upstream of the source, the values that all rows compared with have in
        common.
    """

    relation: str
    column: str
    how: How = "value"
    per: frozenset[Named] = frozenset()
    within: frozenset[Key] = frozenset()

    @property
    def named(self) -> Named:
        """Relation and column."""
        return self.relation, self.column


Leaves = frozenset[Leaf]
NOTHING: Leaves = frozenset()
ROWS = Leaf("", "count(*)", "count")
# The order in which rows are stored, which may be that of the record key.
STORED_ORDER = Leaf("", "row_number()", "place")
# The same among rows that are equal in the order of a window.
TIES = Leaf("", "row_number()", "count")


@dataclass(frozen=True)
class Use:
    """A clause that looks at values without giving them: a filter, a join, an order, a group.

    Parameters
    ----------
    clause : str
        Name of the clause in SQL.
    leaves : frozenset of Leaf
        What it looks at; of a join or filter each condition is a use of its own.
    is_equality : bool
        Whether the condition is one value = another, neither of them a constant.
    is_link : bool
        Whether it says no more than that rows of two relations have a whole value in common.
    same : frozenset of frozenset of (str, str)
        For a link, the columns that have one value in rows which it joins.
    """

    clause: str
    leaves: Leaves
    is_equality: bool = False
    is_link: bool = False
    same: frozenset[frozenset[Named]] = frozenset()


@dataclass(frozen=True)
class Branch:
    """Rows of one origin.

    Parameters
    ----------
    columns : mapping
        Leaves of each column, in order.
    constants : mapping
        Columns that are one whole number in all rows.
    conditions : frozenset of Leaf
        What decides which rows there are.
    written : mapping
        How columns are written over whole columns, as far as they are; upstream of the source only.
    rows_of : frozenset of str or None
        Relations of which each row has at most one row; None where that is not known, or where
        rows of one relation stand beside others of the same.
    """

    columns: Mapping[str, Leaves]
    constants: Mapping[str, str] = field(default_factory=dict)
    conditions: Leaves = NOTHING
    written: Mapping[str, Key] = field(default_factory=dict)
    rows_of: frozenset[str] | None = None


Table = tuple[Branch, ...]


def named(leaves: Iterable[Leaf]) -> frozenset[Named]:
    """Return relation and column of each leaf."""
    return frozenset(leaf.named for leaf in leaves)


def aspect(leaves: Leaves, how: Literal["presence", "place", "count"]) -> Leaves:
    """Return leaves of which only some aspect is told, never more than was told before.

    Examples
    --------
    >>> [leaf.how for leaf in aspect(frozenset({Leaf("people", "age", "presence")}), "place")]
    ['presence']
    >>> [leaf.how for leaf in aspect(frozenset({Leaf("people", "age", "place")}), "presence")]
    ['count']

    Whether something computed is NULL is as much as a condition tells:

    >>> [leaf.how for leaf in aspect(frozenset({Leaf("people", "age", "computed")}), "presence")]
    ['computed']
    """
    return frozenset(
        _aspect_of(leaf, how) if leaf.how in {"value", "place", "summary", "computed"} else leaf
        for leaf in leaves
    )


def presence(leaves: Leaves) -> Leaves:
    """Return the leaves of a whole value of which only is asked whether it is there."""
    return frozenset(
        leaf if leaf.how == "opaque" else Leaf(leaf.relation, leaf.column, "presence")
        for leaf in leaves
    )


def _aspect_of(leaf: Leaf, how: Literal["presence", "place", "count"]) -> Leaf:
    # Whether there is a place tells how many have one.
    is_of_place = leaf.how == "place" and how == "presence"
    if leaf.how == "summary" and how == "presence":
        return leaf
    if leaf.how == "computed":
        return leaf if how == "presence" else Leaf(leaf.relation, leaf.column, "tally")
    return Leaf(leaf.relation, leaf.column, "count" if is_of_place else how)


def decided(leaves: Leaves) -> Leaves:
    """Return the leaves of a condition, as what a value tells that the condition decides.

    Whether there is a value decides nothing about it.
    """
    return frozenset(_deciding(leaf) for leaf in leaves if leaf.relation and leaf.how != "presence")


def _deciding(leaf: Leaf) -> Leaf:
    if leaf.how == "opaque" or leaf.how.startswith("decided"):
        return leaf
    if leaf.how == "place" or leaf.within:
        return Leaf(leaf.relation, leaf.column, "decided by place", within=leaf.within)
    how: How = "decided by count" if leaf.how == "count" else "decided"
    return Leaf(leaf.relation, leaf.column, how)


def computed(leaves: Leaves) -> Leaves:
    """Return the leaves of something computed from values."""
    return frozenset(
        Leaf(leaf.relation, leaf.column, "computed") if leaf.how == "value" else leaf
        for leaf in leaves
    )


def summarized(leaves: Leaves, groups: Leaves) -> Leaves:
    """Return the leaves of an aggregate of a value per group.

    What is one value per group already stays so: an aggregate of it tells no more.
    """
    return frozenset(
        Leaf(leaf.relation, leaf.column, "summary", named(groups)) if leaf.how == "value" else leaf
        for leaf in leaves
    )


def merged(branches: Iterable[Branch]) -> Table:
    """Return branches of which those with the same constants are one."""
    found: dict[frozenset[tuple[str, str]], Branch] = {}
    for branch in branches:
        key = frozenset(branch.constants.items())
        other = found.get(key)
        if other is None:
            found[key] = branch
            continue
        columns = {
            name: of_either(leaves, other.columns[name]) for name, leaves in branch.columns.items()
        }
        written = {
            name: both
            for name, key in branch.written.items()
            if name in other.written and (both := together(key, other.written[name]))
        }
        rows_of = None
        if branch.rows_of is not None and other.rows_of is not None:
            rows_of = branch.rows_of | other.rows_of
        conditions = branch.conditions | other.conditions
        found[key] = Branch(columns, branch.constants, conditions, written, rows_of)
    return tuple(found.values())


def of_either(one: Leaves, other: Leaves) -> Leaves:
    """Return the leaves of a column that is either of two; with a literal among the values."""
    both = one | other
    return both if is_written_down(one) == is_written_down(other) else computed(both)


def is_written_down(leaves: Leaves) -> bool:
    """Tell whether a value has no origin but what decides which literal is there."""
    return all(leaf.how.startswith("decided") for leaf in leaves)


def together(one: Key, other: Key) -> Key | None:
    """Return how a column of rows of two origins is written, unless a literal may equal a value.

    Examples
    --------
    >>> name = frozenset({("?", (("people", "name"),))})
    >>> together(name, frozenset({("lower(?)", (("people", "name"),))})) is None
    False
    >>> together(name, frozenset({("'Ana'", ())})) is None
    True
    >>> together(name, frozenset({("concat(?, 'Ana')", (("people", "name"),))})) is None
    True
    """
    both = one | other
    forms = {form for form, _ in both}
    is_mixed = len({bool(columns) for _, columns in both}) > 1
    if is_mixed or (len(forms) > 1 and any(map(_LITERAL.search, forms))):
        return None
    return both


def is_whole(key: Key) -> bool:
    """Tell whether nothing of a column is written down alone, so that it is a constant."""
    return all(columns for _, columns in key)


def refines(key: Key, whose: Key) -> bool:
    """Tell whether rows that share one value share another, too.

    Examples
    --------
    >>> one = frozenset({("?", (("people", "id"),))})
    >>> both = frozenset({("concat(?, ?)", (("people", "id"), ("people", "day")))})
    >>> refines(both, one), refines(one, both)
    (True, False)
    """
    return all(any(set(own) <= set(columns) for _, own in whose) for _, columns in key)


def key_of(table: Table, name: str) -> Key | None:
    """Return how a column is written over whole columns in all branches, if it is."""
    keys = [branch.written.get(name) for branch in table]
    return joint_key(keys)


def joint_key(keys: Iterable[Key | None]) -> Key | None:
    """Return how a value is written over whole columns in rows of all origins, if it is."""
    found: Key | None = None
    for key in keys:
        # A constant is shared by all.
        if key is None or not is_whole(key):
            return None
        found = key if found is None else together(found, key)
        if found is None:
            return None
    return found


def column_of(table: Table, name: str) -> Leaves:
    """Return the leaves of a column over all branches."""
    return frozenset().union(*(branch.columns[name] for branch in table))
