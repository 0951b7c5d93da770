"""What an expression can name: columns of the relations of a query, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from dbt_anonymize.verify.lineage.origins import (
    NOTHING,
    Branch,
    Key,
    Leaves,
    Unresolvable,
    computed,
    decided,
    is_written_down,
)

_TEXT_TYPES = frozenset({exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR})
# Of these, no two of the types that matter here are read as one value.
_WHOLE_TYPES = frozenset(
    {
        exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR, exp.DataType.Type.INT,
        exp.DataType.Type.BIGINT, exp.DataType.Type.INT128, exp.DataType.Type.UUID,
    }
)  # fmt: skip
# What they give is as good as whole: other values give others, for all that is no trick.
_WHOLE = (
    exp.Cast, exp.Lower, exp.Upper, exp.Trim, exp.MD5, exp.SHA, exp.SHA2, exp.Concat, exp.DPipe,
    exp.Coalesce, exp.Nullif,
)  # fmt: skip
# Side of an outer join, and whether a relation is the one that it joins: what is always there.
_KEPT_SIDES = frozenset({("LEFT", False), ("RIGHT", True)})


@dataclass
class Scope:
    """Columns that an expression can name.

    Parameters
    ----------
    sources : list of (str, Branch)
        Relations of the query by alias, in order.
    outer : Scope, optional
        Those of the query around it.
    using : frozenset of str
        Columns that joins have in common.
    outputs : dict
        Columns that the query gives, as far as they are known.
    conditions : frozenset of Leaf
        What decides which rows are left.
    peers : sequence of Scope
        Rows of other origins of the same query, and these: all that may be compared.
    is_after_outputs : bool
        Whether a name alone means first what the query gives, as in `having` and `distinct on`.
    """

    sources: list[tuple[str, Branch]]
    outer: Scope | None = None
    using: frozenset[str] = frozenset()
    outputs: dict[str, Leaves] = field(default_factory=dict)
    conditions: Leaves = NOTHING
    peers: Sequence[Scope] = ()
    is_after_outputs: bool = False

    def with_source(self, alias: str, branch: Branch) -> Scope:
        """Return a scope with one relation more."""
        return self._with_sources([*self.sources, (alias, branch)])

    def _with_sources(self, sources: list[tuple[str, Branch]]) -> Scope:
        return Scope(sources, self.outer, self.using, conditions=self.conditions)

    def after_outer_join(self, side: str, last: str, conditions: Leaves) -> Scope:
        """Return a scope in which what an outer join may leave out is not one literal any more.

        What is there of a literal is decided by the conditions of the join.
        """
        sources = [
            (
                alias,
                branch
                if (side, alias == last) in _KEPT_SIDES
                else _perhaps_left_out(branch, conditions),
            )
            for alias, branch in self.sources
        ]
        return self._with_sources(sources)

    def linked(self, conditions: Leaves) -> Scope:
        """Return a scope in which conditions decide which rows of each relation belong together."""
        if not conditions:
            return self
        sources = []
        for place, (alias, branch) in enumerate(self.sources):
            others = (b for i, (_, b) in enumerate(self.sources) if i != place)
            foreign = {leaf.named for other in others for x in other.columns.values() for leaf in x}
            by = decided(
                frozenset(x for x in conditions if x.how == "opaque" or x.named in foreign)
            )
            columns = {name: leaves | by for name, leaves in branch.columns.items()}
            sources.append((alias, replace(branch, columns=columns)))
        return self._with_sources(sources)

    def names_several(self, condition: Any) -> bool:
        """Tell whether a condition names columns of more than one relation."""
        named = set()
        for column in condition.find_all(exp.Column):
            table, name = column.table.lower(), column.name.lower()
            named |= {a for a, b in self.sources if table == a or (not table and name in b.columns)}
        return len(named) > 1

    def use(self, name: str) -> list[Branch]:
        """Note that the last relation is joined by a column of one name; return who has it."""
        self.using |= {name}
        branches = [branch for _, branch in self.sources if name in branch.columns]
        if len(branches) < 2:
            raise Unresolvable(f"joins using {name}, which is not a column of both relations")
        return branches

    def common(self, last: str) -> list[str]:
        """Return the columns that a relation has in common with those before it."""
        others = {name for alias, b in self.sources if alias != last for name in b.columns}
        columns = next(branch.columns for alias, branch in self.sources if alias == last)
        return [name for name in columns if name in others]

    def has(self, name: str) -> bool:
        """Tell whether a relation has a column."""
        return any(name in branch.columns for _, branch in self.sources)

    def rows_of(self) -> frozenset[str] | None:
        """Return of which relations a row has one row each; None if one is there twice."""
        each = [branch.rows_of for _, branch in self.sources if branch.rows_of is not None]
        together = frozenset[str]().union(*each)
        is_known = len(each) == len(self.sources) and len(together) == sum(map(len, each))
        return together if is_known else None

    def _is_output(self, table: str, name: str) -> bool:
        """Tell whether a name means what the query gives and not a column of what it reads."""
        if not self.is_after_outputs or table or name not in self.outputs:
            return False
        same = [b.columns[name] for _, b in self.sources if name in b.columns]
        return same != [self.outputs[name]]

    def key(self, value: exp.Expression) -> Key | None:
        """Return how a value is written over whole columns, if it is."""
        if isinstance(value, (exp.Alias, exp.Paren)):
            return self.key(value.this)
        if isinstance(value, exp.Column):
            return self._key_of_column(value)
        if isinstance(value, (exp.Literal, exp.Null, exp.DataType)):
            return frozenset({(value.sql(), ())})
        if not _is_whole(value):
            return None
        parts = [self.key(part) for part in value.iter_expressions()]
        if any(part is None or len(part) != 1 for part in parts):
            return None
        forms, columns = zip(*(atom for part in parts if part for atom in part), strict=True)
        together = tuple(column for part in columns for column in part)
        return frozenset({(f"{value.key}({', '.join(forms)})", together)})

    def _key_of_column(self, column: exp.Column) -> Key | None:
        if isinstance(column.this, exp.Star) or column.args.get("db"):
            return None
        name = column.name.lower()
        if self._is_output(column.table, name):
            return None
        found = [
            b for a, b in self.sources if column.table.lower() in ("", a) and name in b.columns
        ]
        is_one = len(found) == 1 or (found and name in self.using)
        return found[0].written.get(name) if is_one else None

    def star(self, table: str) -> Iterator[tuple[str, Leaves, str | None, Key | None]]:
        """Give all columns, or those of one relation: name, leaves, what literal it is, its key."""
        if table and table not in {alias for alias, _ in self.sources}:
            raise Unresolvable(f"has the star of {table}, which is not a relation of the query")
        given: set[str] = set()
        for alias, branch in self.sources:
            for name, leaves in branch.columns.items():
                if table in ("", alias) and not (name in self.using and name in given):
                    given.add(name)
                    joint = self.resolve("", name) if name in self.using else leaves
                    yield name, joint, branch.constants.get(name), branch.written.get(name)

    def branch(self, table: str, name: str) -> Branch | None:
        """Return where a column is, or None where its name says not enough."""
        found = [b for a, b in self.sources if table in ("", a) and name in b.columns]
        return found[0] if len(found) == 1 else None

    def resolve(self, table: str, name: str) -> Leaves:
        """Return the leaves of a column."""
        if self._is_output(table, name):
            return self.outputs[name]
        found = [b for a, b in self.sources if table in ("", a) and name in b.columns]
        if len(found) == 1 or (found and name in self.using):
            sides = [branch.columns[name] for branch in found]
            both = NOTHING.union(*sides)
            # An outer join gives either side.
            return computed(both) if any(map(is_written_down, sides)) and len(sides) > 1 else both
        if found:
            raise Unresolvable(f"has a column {name} that several relations have")
        if not table and name in self.outputs:
            return self.outputs[name]
        if self.outer is not None:
            return self.outer.resolve(table, name)
        raise Unresolvable(_unresolved(table, name, self))


def _is_no_value(literal: exp.Expression) -> bool:
    """Tell whether a text stands for NULL: one without letters and digits, or that of dbt_utils."""
    text = literal.name if isinstance(literal, exp.Literal) and literal.is_string else "?x"
    return text == "_dbt_utils_surrogate_key_null_" or not any(map(str.isalnum, text))


def _perhaps_left_out(branch: Branch, conditions: Leaves) -> Branch:
    by = decided(conditions)
    columns = {name: leaves or by for name, leaves in branch.columns.items()}
    return Branch(columns, conditions=branch.conditions, rows_of=branch.rows_of)


def _is_whole(value: exp.Expression) -> bool:
    if isinstance(value, exp.Cast):
        is_bounded = bool(value.to.expressions)
        is_try = isinstance(value, exp.TryCast)
        # A number of a text that is put together may be rounded: `12e-1`.
        is_text = value.to.this in _TEXT_TYPES or value.find(exp.Concat, exp.DPipe) is None
        return not is_try and not is_bounded and value.to.this in _WHOLE_TYPES and is_text
    if isinstance(value, exp.Nullif):
        return isinstance(value.expression, exp.Literal) and not value.expression.name
    if isinstance(value, exp.Coalesce):
        return all(_is_no_value(other) for other in value.expressions)
    if isinstance(value, exp.Trim):
        return value.args.get("expression") is None
    return isinstance(value, _WHOLE)


def _unresolved(table: str, name: str, scope: Scope) -> str:
    if not table and name in {alias for alias, _ in scope.sources}:
        return f"uses the whole row of {name}: every column of it, the identifiers included"
    return f"has a column {f'{table}.{name}' if table else name} that cannot be resolved"
