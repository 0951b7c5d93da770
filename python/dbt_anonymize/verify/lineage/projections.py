"""What a select gives: its columns, stars, keys of groups and windows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from sqlglot import exp

from dbt_anonymize.verify.lineage.expressions import Expressions
from dbt_anonymize.verify.lineage.forms import argument, only
from dbt_anonymize.verify.lineage.origins import NOTHING, Key, Leaves, Unresolvable
from dbt_anonymize.verify.lineage.scope import Scope

_OF_STAR = frozenset({"except", "replace", "rename"})


def projections(
    query: exp.Select, row: Scope
) -> Iterator[tuple[str, exp.Expression | None, Leaves, str | None, Key | None]]:
    """Give name and expression of each column; those of a star have leaves instead.

    Then come the whole number that a column of a star is in all rows, and its key.
    """
    for place, projection in enumerate(query.expressions):
        star = projection.this if isinstance(projection, exp.Column) else projection
        if not isinstance(star, exp.Star):
            name = projection.alias_or_name or f"column {place}"
            yield name.lower(), projection.unalias(), NOTHING, None, None
            continue
        only(star, _OF_STAR, "star")
        table = projection.table.lower() if isinstance(projection, exp.Column) else ""
        left_out = {e.name.lower() for e in argument(star, "except") or []}
        replaced = {e.alias.lower(): e.this for e in star.args.get("replace") or []}
        renamed = {e.this.name.lower(): e.alias.lower() for e in star.args.get("rename") or []}
        _check_star(star, table, row)
        for name, leaves, literal, key in row.star(table):
            shown = renamed.get(name, name)
            if name in replaced:
                yield shown, replaced[name], NOTHING, None, None
            elif name not in left_out:
                yield shown, None, leaves, literal, key


def _check_star(star: exp.Expression, table: str, row: Scope) -> None:
    """Refuse names of columns with their relation where the star is of several relations."""
    parts = [*(argument(star, "except") or []), *(e.this for e in star.args.get("rename") or [])]
    named_by = {part.table.lower() for part in parts if isinstance(part, exp.Column)} - {""}
    if named_by and len(row.sources) > 1 and named_by != {table}:
        raise Unresolvable("leaves out or renames columns of one relation in the star of several")


def meant_by_key(key: exp.Expression, query: exp.Select, row: Scope) -> Any:
    """Return the expression that a key of a group means: a column, its number or its alias."""
    if isinstance(key, exp.Literal) and not key.is_string:
        before = query.expressions[: int(key.name)]
        if len(before) < int(key.name) or any(projection.is_star for projection in before):
            raise Unresolvable("groups by the number of a column that a star may give")
        return before[-1].unalias()
    if isinstance(key, exp.Column) and not key.table and not row.has(key.name.lower()):
        for projection in query.expressions:
            if projection.alias.lower() == key.name.lower():
                return projection.unalias()
    return key


def partition_of(expression: exp.Expression, plain: Expressions) -> tuple[str | None, ...] | None:
    """Return the constants by which a window parts the rows; None where there is no window."""
    windows = list(expression.find_all(exp.Window))
    if not windows:
        return None
    keys = itertools.chain.from_iterable(w.args.get("partition_by") or [] for w in windows)
    # Only one window: of several, each mixes rows of its own.
    return tuple(plain.constant(key) for key in keys) if len(windows) == 1 else ()


def aggregates(query: exp.Select) -> bool:
    """Tell whether a query without groups gives one row: an aggregate that is not a window's."""
    clauses = [*query.expressions, query.args.get("having")]
    for clause in clauses:
        for found in clause.find_all(exp.AggFunc) if clause is not None else ():
            inside = found.find_ancestor(exp.Window, exp.Select)
            of_this = found.find_ancestor(exp.Select) is query
            is_windowed = isinstance(inside, exp.Window) and _is_function_of(found, inside)
            if of_this and not is_windowed:
                return True
    return False


def _is_function_of(found: exp.Expression, window: exp.Window) -> bool:
    function = window.this
    while isinstance(function, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
        function = function.this
    return function is found


def with_windows(query: exp.Select) -> exp.Select:
    """Return a query in which each window is written where it is used: `over w`."""
    definitions = {w.name.lower(): w for w in query.args.get("windows") or []}
    if not definitions:
        return query
    query = query.copy()
    for window in query.find_all(exp.Window):
        alias = window.args.get("alias")
        definition = definitions.get(alias.name.lower()) if alias is not None else None
        if definition is None or window.find_ancestor(exp.Select) is not query:
            continue
        own = {k for k, v in window.args.items() if v} - {"this", "alias", "over"}
        if own or definition.args.get("alias") is not None:
            raise Unresolvable("has a window that goes on from a named one, which is not followed")
        window.set("alias", None)
        for part in ("partition_by", "order", "spec"):
            value = definition.args.get(part)
            window.set(
                part,
                [v.copy() for v in value] if isinstance(value, list) else value and value.copy(),
            )
    query.set("windows", None)
    return query
