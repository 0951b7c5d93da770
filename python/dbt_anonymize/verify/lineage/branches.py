"""Rows of several origins put together: by unions, groups and windows, and under other names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from dbt_anonymize.verify.lineage.origins import (
    NOTHING,
    Branch,
    Table,
    Unresolvable,
    decided,
    merged,
    of_either,
)

# How often what reads itself is followed, at most.
MOST_ROUNDS = 20


@dataclass(frozen=True)
class Output:
    """What one row of branches gives, and with which others its rows are mixed."""

    branch: Branch
    # Constants of the group keys; None without groups.
    mixing: tuple[str | None, ...] | None
    # Constants of the partitions of the windows in a column; None without windows.
    windows: Mapping[str, tuple[str | None, ...] | None]


def mixed(outputs: list[Output]) -> Iterator[Branch]:
    """Give each branch with the leaves of those whose rows an aggregate or a window mixes in."""
    for output in outputs:
        columns = dict(output.branch.columns)
        for name, leaves in output.branch.columns.items():
            partition = output.windows.get(name)
            others = (
                other
                for other in outputs
                if _may_be_equal(output.mixing, other.mixing)
                or _may_be_equal(partition, other.windows.get(name))
            )
            columns[name] = reduce(
                of_either, (other.branch.columns[name] for other in others), leaves
            )
        constants = output.branch.constants
        if output.mixing is not None:
            together = [
                o.branch.constants for o in outputs if _may_be_equal(o.mixing, output.mixing)
            ]
            constants = {
                name: value
                for name, value in constants.items()
                if all(other.get(name) == value for other in together)
            }
        yield replace(output.branch, columns=columns, constants=constants)


_Keys = tuple[str | None, ...]


def _may_be_equal(one: _Keys | None, other: _Keys | None) -> bool:
    """Tell whether rows of two branches may be in one group; what is not one literal may be any."""
    if one is None or other is None:
        return False
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def chosen(table: list[Branch]) -> list[Branch]:
    """Return the branches of a union, in which the conditions of each decide what is different.

    A column that is the same column of the same relation in all branches tells nothing about them.
    """
    by = decided(NOTHING.union(*(branch.conditions for branch in table)))
    same = {
        name
        for name in table[0].columns
        if len({branch.columns[name] for branch in table}) == 1
        and {leaf.how for leaf in table[0].columns[name]} == {"value"}
    }
    return [
        replace(branch, columns={n: x if n in same else x | by for n, x in branch.columns.items()})
        for branch in table
    ]


def with_constants_of_all(branch: Branch, table: list[Branch]) -> Branch:
    """Return a branch of a union; beside other values, a whole number may change its type."""
    constants = {
        name: value
        for name, value in branch.constants.items()
        if all(name in other.constants for other in table)
    }
    return replace(branch, constants=constants)


def in_order(table: Table, names: list[str]) -> Table:
    """Return a table with these columns in this order; what it has not is NULL."""
    return tuple(
        replace(
            branch,
            columns={name: branch.columns.get(name, NOTHING) for name in names},
        )
        for branch in table
    )


def forgotten(table: Iterable[Branch]) -> Table:
    """Return a table of which only leaves and conditions are known, as one branch."""
    return merged(Branch(b.columns, conditions=b.conditions) for b in table)


def with_names(branch: Branch, names: list[str]) -> Branch:
    """Return a branch whose columns have other names, in order."""
    old = dict(zip(branch.columns, names, strict=True))
    columns = {old[name]: leaves for name, leaves in branch.columns.items()}
    constants = {old[name]: value for name, value in branch.constants.items()}
    written = {old[name]: key for name, key in branch.written.items()}
    return replace(branch, columns=columns, constants=constants, written=written)


def renamed(table: Table, alias: exp.Expression | None) -> Table:
    """Return a table whose columns an alias names anew: `as t (a, b)`."""
    names = [column.name.lower() for column in alias.args.get("columns") or []] if alias else []
    if not names:
        return table
    if any(len(branch.columns) != len(names) for branch in table):
        raise Unresolvable("names some columns of a relation anew and not all")
    return tuple(with_names(branch, names) for branch in table)
