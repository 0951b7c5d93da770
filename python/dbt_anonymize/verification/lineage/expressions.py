"""Expressions: which leaves a value is made of. What is not known of the tree is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlglot import Dialect, exp

from dbt_anonymize.verification.lineage.origins import (
    NOTHING,
    ROWS,
    STORED_ORDER,
    TIES,
    Branch,
    Leaves,
    Unresolvable,
    Use,
    computed,
    decided,
    summarized,
    told,
)

# Their value depends on nothing but their arguments: what is in them is what comes out.
_TRANSPARENT = (
    exp.Func,
    exp.Binary,
    exp.Unary,
    exp.Between,
    exp.In,
    exp.Tuple,
    exp.Bracket,
    exp.Slice,
    exp.Interval,
    exp.AtTimeZone,
    exp.WithinGroup,
    exp.IgnoreNulls,
    exp.RespectNulls,
    exp.Distinct,
    exp.Collate,
)
# They give a value as it is.
_UNCHANGED = (exp.Coalesce, exp.Distinct, exp.IgnoreNulls, exp.RespectNulls)
_EMPTY = (exp.Literal, exp.Boolean, exp.Null, exp.DataType, exp.JSONPath)
# What a name may mean that is neither a column nor a function.
_UNITS = frozenset(
    {
        "century", "day", "dayofweek", "dayofyear", "decade", "dow", "doy", "epoch", "era", "hour",
        "isodow", "isoyear", "julian", "microsecond", "millennium", "millisecond", "minute",
        "month", "nanosecond", "quarter", "second", "timezone", "week", "weekday", "weekofyear",
        "year", "yearweek",
    }
)  # fmt: skip
# Larger whole numbers are not exact in every type of number.
_LARGEST_CONSTANT = 2**24
# They give rows, read something else, or give what the tree does not show.
_UNKNOWN = (
    exp.UDTF,
    exp.Columns,
    exp.Lambda,
    exp.Explode,
    exp.Parameter,
    exp.SessionParameter,
    exp.Placeholder,
    exp.ReadCSV,
)
# Functions that sqlglot does not know and that depend on their arguments alone.
_HARMLESS = frozenset(
    {
        "acos", "asin", "atan", "bar", "chr", "damerau_levenshtein", "date", "date_diff",
        "date_part", "date_sub", "datepart", "dayname", "error", "even", "fmod", "format",
        "greatest_common_divisor", "hamming", "hash", "initcap", "instr", "isfinite", "isinf",
        "isnan", "jaccard", "jaro_similarity", "lcm", "list_value", "make_date", "make_time",
        "make_timestamp", "md5_number", "monthname", "nfc_normalize", "printf", "regexp_escape",
        "regexp_full_match", "regexp_matches", "round_even", "row", "strip_accents", "strptime",
        "struct_pack", "sha1", "to_json", "trunc", "try_strptime", "unicode", "url_encode",
    }
)  # fmt: skip
_FEW_VALUES = frozenset({exp.DataType.Type.BOOLEAN, exp.DataType.Type.DATE, exp.DataType.Type.TIME})
# Side of an outer join, and whether a relation is the one that it joins: what is always there.
_KEPT_SIDES = frozenset({("LEFT", False), ("RIGHT", True)})
_COUNTS = (exp.Count, exp.CountIf, exp.ApproxDistinct)
# Aggregates that do not depend on the order of what is in them.
_SUMMARIES = (*_COUNTS, exp.Sum, exp.Avg, exp.Min, exp.Max)
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile)


def is_known_function(name: str, dialect: str) -> bool:
    """Tell whether a function counts as one that depends on nothing but its arguments.

    Parameters
    ----------
    name : str
        Name of the function.
    dialect : str
        Dialect of the SQL that calls it.

    Examples
    --------
    >>> is_known_function("md5", "duckdb"), is_known_function("peek", "duckdb")
    (True, False)
    """
    parser = Dialect.get_or_raise(dialect).parser_class
    known = (parser.FUNCTIONS, parser.FUNCTION_PARSERS, parser.NO_PAREN_FUNCTION_PARSERS)
    return name.lower() in _HARMLESS or any(name.upper() in names for names in known)


def _is_unchanged(value: exp.Expression) -> bool:
    """Tell whether a value is given as it is; adding 0 makes -0.0 to 0.0."""
    if isinstance(value, exp.Add):
        return isinstance(value.expression, exp.Literal) and value.expression.name == "0"
    if isinstance(value, exp.Cast):
        # A cast that may fail without an error, or to what has few values, is a condition.
        return not isinstance(value, exp.TryCast) and value.to.this not in _FEW_VALUES
    return isinstance(value, _UNCHANGED)


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
    """

    sources: list[tuple[str, Branch]]
    outer: Scope | None = None
    using: frozenset[str] = frozenset()
    outputs: dict[str, Leaves] = field(default_factory=dict)
    conditions: Leaves = NOTHING

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
            by = decided(frozenset(leaf for leaf in conditions if leaf.named in foreign))
            columns = {name: leaves | by for name, leaves in branch.columns.items()}
            sources.append((alias, Branch(columns, branch.constants, branch.conditions)))
        return self._with_sources(sources)

    def names_several(self, condition: Any) -> bool:
        """Tell whether a condition names columns of more than one relation."""
        named = set()
        for column in condition.find_all(exp.Column):
            table, name = column.table.lower(), column.name.lower()
            named |= {a for a, b in self.sources if table == a or (not table and name in b.columns)}
        return len(named) > 1

    def use(self, name: str) -> Leaves:
        """Note that the last relation is joined by a column of the same name."""
        self.using |= {name}
        leaves = [branch.columns[name] for _, branch in self.sources if name in branch.columns]
        if len(leaves) < 2:
            raise Unresolvable(f"joins using {name}, which is not a column of both relations")
        return NOTHING.union(*leaves)

    def has(self, name: str) -> bool:
        """Tell whether a relation has a column."""
        return any(name in branch.columns for _, branch in self.sources)

    def star(self, table: str) -> Iterator[tuple[str, Leaves, str | None]]:
        """Give all columns, or those of one relation: name, leaves, and what literal it is."""
        if table and table not in {alias for alias, _ in self.sources}:
            raise Unresolvable(f"has the star of {table}, which is not a relation of the query")
        given: set[str] = set()
        for alias, branch in self.sources:
            for name, leaves in branch.columns.items():
                if table in ("", alias) and not (name in self.using and name in given):
                    given.add(name)
                    joint = self.resolve("", name) if name in self.using else leaves
                    yield name, joint, branch.constants.get(name)

    def branch(self, table: str, name: str) -> Branch | None:
        """Return where a column is, or None where its name says not enough."""
        found = [b for a, b in self.sources if table in ("", a) and name in b.columns]
        return found[0] if len(found) == 1 else None

    def resolve(self, table: str, name: str) -> Leaves:
        """Return the leaves of a column."""
        found = [b for a, b in self.sources if table in ("", a) and name in b.columns]
        if len(found) == 1 or (found and name in self.using):
            return NOTHING.union(*(branch.columns[name] for branch in found))
        if found:
            raise Unresolvable(f"has a column {name} that several relations have")
        if not table and name in self.outputs:
            return self.outputs[name]
        if self.outer is not None:
            return self.outer.resolve(table, name)
        raise Unresolvable(_unresolved(table, name, self))


def _perhaps_left_out(branch: Branch, conditions: Leaves) -> Branch:
    by = decided(conditions)
    columns = {name: leaves or by for name, leaves in branch.columns.items()}
    return Branch(columns, conditions=branch.conditions)


def _unresolved(table: str, name: str, scope: Scope) -> str:
    if not table and name in {alias for alias, _ in scope.sources}:
        return f"uses the whole row of {name}: every column of it, the identifiers included"
    return f"has a column {f'{table}.{name}' if table else name} that cannot be resolved"


@dataclass(frozen=True)
class Expressions:
    """Leaves of expressions in a scope.

    Parameters
    ----------
    scope : Scope
        The columns.
    uses : set of Use
        Where windows, aggregates and filters note what they look at.
    subquery : callable
        Returns all that a subquery tells.
    groups : frozenset of Leaf or None
        Leaves of the keys by which rows are grouped; None without groups.
    """

    scope: Scope
    uses: set[Use]
    subquery: Callable[[exp.Expression, Scope], Leaves]
    groups: Leaves | None = None

    def leaves(self, value: exp.Expression) -> Leaves:  # noqa: PLR0911 (one per form)
        """Return what a value is made of.

        Raises
        ------
        Unresolvable
            If any part of it is not known.
        """
        if isinstance(value, (exp.Alias, exp.Paren)):
            return self.leaves(value.this)
        if isinstance(value, exp.Column):
            return self._column(value)
        if isinstance(value, (exp.Subquery, exp.Exists, exp.Query)):
            inner = value.this if isinstance(value, exp.Exists) else value
            return self.subquery(inner, self.scope)
        if isinstance(value, exp.Is) and isinstance(value.expression, exp.Null):
            return told(self.leaves(value.this), "presence")
        if isinstance(value, exp.Window):
            return self._window(value)
        if isinstance(value, exp.Filter):
            condition = self.leaves(value.expression.this)
            self.uses.add(Use("filter", condition))
            return self._aggregate(value.this, is_partial=True) | condition
        if isinstance(value, exp.AggFunc):
            return self._aggregate(value)
        if isinstance(value, (exp.Order, exp.Ordered)):
            return self._ordered(value)
        return self._parts(value)

    def constant(self, value: exp.Expression) -> str | None:
        """Return the literal that a value is in all rows, if it is one."""
        if isinstance(value, exp.Paren):
            return self.constant(value.this)
        # Whole numbers alone: of other literals, two that look different may be equal.
        if isinstance(value, exp.Literal) and not value.is_string and value.name.isdigit():
            return str(int(value.name)) if int(value.name) < _LARGEST_CONSTANT else None
        if not isinstance(value, exp.Column) or isinstance(value.this, exp.Star):
            return None
        branch = self.scope.branch(value.table.lower(), value.name.lower())
        return None if branch is None else branch.constants.get(value.name.lower())

    def _column(self, column: exp.Column) -> Leaves:
        if isinstance(column.this, exp.Star):
            raise Unresolvable("uses a whole row as one value: every column of it")
        table, name = column.table.lower(), column.name.lower()
        aliases = {alias for alias, _ in self.scope.sources}
        if column.args.get("db") or (table and table not in aliases and self.scope.has(table)):
            # A field of a column, `column.field`: as much as the column.
            first = column.parts[0].name.lower()
            if first in aliases:
                return self.scope.resolve(first, column.parts[1].name.lower())
            return self.scope.resolve("", first)
        return self.scope.resolve(table, name)

    def _parts(self, value: exp.Expression) -> Leaves:
        """Return the leaves of all parts, of a value that consists of nothing else."""
        if isinstance(value, _EMPTY):
            return NOTHING
        if isinstance(value, exp.Var):
            return self._unit(value.name.lower())
        if isinstance(value, exp.Star):
            raise Unresolvable("uses a whole row as one value: every column of it")
        unit = value.args.get("unit")
        if isinstance(unit, exp.Literal):
            self._unit(unit.name.lower())
        parts = NOTHING.union(
            *(
                self.leaves(part)
                for part in value.iter_expressions()
                # Names of fields, not columns.
                if not isinstance(part, exp.Identifier)
            )
        )
        if isinstance(value, exp.Anonymous):
            if value.name.lower() not in _HARMLESS:
                raise Unresolvable(f"calls {value.name.lower()}(), a function that is not known")
            return computed(parts)
        if isinstance(value, _UNKNOWN) or not isinstance(value, _TRANSPARENT):
            raise Unresolvable(f"has an expression that is not followed ({value.key})")
        return parts if _is_unchanged(value) else computed(parts)

    def _unit(self, name: str) -> Leaves:
        """Return nothing for a unit of time; a column of that place is parsed as a unit, too."""
        scope: Scope | None = self.scope
        while scope is not None:
            if scope.has(name) or name in scope.outputs:
                raise Unresolvable(f"has {name} where a unit of time stands, which is a column")
            scope = scope.outer
        if name.removesuffix("s") not in _UNITS and name not in _UNITS:
            raise Unresolvable(f"has {name} where a unit of time must stand")
        return NOTHING

    def _aggregate(self, value: exp.Expression, *, is_partial: bool = False) -> Leaves:
        if isinstance(value, (exp.IgnoreNulls, exp.RespectNulls)):
            return self._aggregate(value.this, is_partial=is_partial)
        inside = self._arguments(value)
        if inside - {ROWS}:
            self.uses.add(Use("aggregate", inside))
        if self.groups is None or is_partial or isinstance(value, _COUNTS):
            return inside
        return summarized(inside, self.groups)

    def _arguments(self, function: exp.Expression) -> Leaves:
        if isinstance(function, exp.Anonymous):
            return self._parts(function)
        if isinstance(function, exp.Count) and isinstance(function.this, exp.Star):
            return frozenset({ROWS})
        if isinstance(function, _RANKS):
            return frozenset({ROWS})
        inside = NOTHING.union(*(self.leaves(part) for part in function.iter_expressions()))
        if isinstance(function, _COUNTS):
            # How many numbers of rows there are does not tell their order.
            inside -= {STORED_ORDER, TIES} if _is_bare(function.this) else NOTHING
            return told(inside, "count") | {ROWS}
        return inside

    def _window(self, window: exp.Window) -> Leaves:
        if window.args.get("alias") is not None:
            raise Unresolvable("has a window that goes on from a named one, which is not followed")
        function = window.this
        partial = NOTHING
        while isinstance(function, (exp.IgnoreNulls, exp.RespectNulls, exp.Filter)):
            if isinstance(function, exp.Filter):
                partial |= self.leaves(function.expression.this)
                self.uses.add(Use("filter", partial))
            function = function.this
        inside = self._arguments(function)
        keys = window.args.get("partition_by") or []
        partitions = NOTHING.union(*(self.leaves(key) for key in keys))
        order = window.args.get("order")
        placed = NOTHING.union(
            *(self.leaves(key.this) for key in (order.expressions if order is not None else []))
        )
        self.uses.add(Use("partition by", partitions))
        self.uses.add(Use("window order", placed))
        inside |= _stored_order(function, window.args.get("spec") is not None, bool(placed))
        is_whole = not placed and not partial and window.args.get("spec") is None
        if is_whole and isinstance(function, (exp.Min, exp.Max)):
            # The groups are in the summary itself.
            return summarized(inside, partitions)
        return inside | partial | told(partitions, "count") | told(placed, "place")

    def _ordered(self, value: exp.Expression) -> Leaves:
        """Return what an aggregate with an order tells: what is in it, and in which order."""
        parts = [value.this] if value.this is not None else []
        by = value.expressions if isinstance(value, exp.Order) else []
        placed = NOTHING.union(*(self.leaves(key) for key in by))
        if by:
            self.uses.add(Use("order by", placed))
        return NOTHING.union(*(self.leaves(part) for part in parts), told(placed, "place"))


def _is_bare(argument: exp.Expression) -> bool:
    """Tell whether what an aggregate counts is a column as it is."""
    if isinstance(argument, exp.Distinct) and len(argument.expressions) == 1:
        return isinstance(argument.expressions[0], exp.Column)
    return isinstance(argument, exp.Column)


def _stored_order(function: exp.Expression, has_frame: bool, has_order: bool) -> Leaves:
    """Return what a window tells of the order in which rows happen to be stored."""
    if isinstance(function, _SUMMARIES) and not has_frame:
        return NOTHING
    if not has_order:
        return frozenset({STORED_ORDER})
    # Equal rows come as they are stored, unless they get equal values.
    has_equals = isinstance(function, (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist))
    return NOTHING if has_equals else frozenset({TIES})
