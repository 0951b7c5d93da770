"""Expressions: which leaves a value is made of. What is not known of the tree is an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import Dialect, exp

from dbt_anonymize.verify.lineage.origins import (
    NOTHING,
    ROWS,
    STORED_ORDER,
    TIES,
    Key,
    Leaf,
    Leaves,
    Unresolvable,
    Use,
    aspect,
    computed,
    decided,
    is_written_down,
    joint_key,
    named,
    summarized,
)
from dbt_anonymize.verify.lineage.scope import Scope

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
# Of how many origins rows are compared with each other, at most.
_MOST_COMPARED = 100
_FEW_VALUES = frozenset({exp.DataType.Type.BOOLEAN, exp.DataType.Type.DATE, exp.DataType.Type.TIME})
_COUNTS = (exp.Count, exp.CountIf, exp.ApproxDistinct)
# Aggregates that do not depend on the order of what is in them.
_SUMMARIES = (*_COUNTS, exp.Sum, exp.Avg, exp.Min, exp.Max)
# Aggregates that depend on the order in which rows come, and those that do among equal rows.
_BY_ORDER = (exp.AnyValue, exp.First, exp.Last, exp.ArrayAgg, exp.GroupConcat)
_BY_TIES = (exp.ArgMax, exp.ArgMin, exp.Mode)
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
    grouped : sequence of Expression
        These keys.
    is_lenient : bool
        Whether this is upstream of the source, where order matters to all that is released.
    """

    scope: Scope
    uses: set[Use]
    subquery: Callable[[exp.Expression, Scope], Leaves]
    groups: Leaves | None = None
    grouped: Sequence[exp.Expression] = ()
    is_lenient: bool = False

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
            found = self.subquery(inner, self.scope)
            # What a clause in it looks at is no value that comes out, nor one of this row.
            return computed(found) if self.is_lenient else found
        if isinstance(value, exp.Is) and isinstance(value.expression, exp.Null):
            inner = value.this.unnest()
            is_query = isinstance(inner, (exp.Subquery, exp.Query))
            found = self.subquery(inner, self.scope) if is_query else self.leaves(inner)
            return aspect(found, "presence")
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
        if self.is_lenient and isinstance(value, exp.Coalesce) and self._has_literal(value):
            return computed(parts)
        return parts if _is_unchanged(value) else computed(parts)

    def _has_literal(self, value: exp.Coalesce) -> bool:
        """Tell whether what stands for NULL may be written down: a value that joins find."""
        others = [part for part in [value.this, *value.expressions] if not part.find(exp.Null)]
        return any(is_written_down(self.leaves(part)) for part in others)

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
        if self.is_lenient and isinstance(value, (*_BY_ORDER, *_BY_TIES)):
            within = self._within(self.grouped)
            stored = STORED_ORDER if isinstance(value, _BY_ORDER) else TIES
            inside |= {replace(stored, within=within)}
        if inside - {ROWS}:
            self.uses.add(Use("aggregate", inside))
        # It makes no value: it decides of which rows one is.
        parted = decided(self.parted(self.grouped))
        if self.groups is None or is_partial or isinstance(value, _COUNTS):
            return inside | parted
        return summarized(inside, self.groups) | parted

    def _arguments(self, function: exp.Expression) -> Leaves:
        if isinstance(function, exp.Anonymous):
            return self._parts(function)
        if isinstance(function, exp.Count) and isinstance(function.this, exp.Star):
            return frozenset({ROWS})
        if isinstance(function, _RANKS):
            return frozenset({ROWS})
        inside = NOTHING.union(*(self.leaves(part) for part in function.iter_expressions()))
        if isinstance(function, exp.Count) and isinstance(function.this, exp.Distinct):
            values = function.this.expressions
            if self.is_lenient and not all(self._is_whole(part, ()) for part in values):
                # Whether something equals what is written down is a condition.
                inside = computed(inside)
        if isinstance(function, exp.ApproxDistinct):
            # An estimate depends on hashes of the values.
            inside = computed(inside)
        if isinstance(function, _COUNTS):
            # How many numbers of rows there are does not tell their order.
            inside -= {STORED_ORDER, TIES} if _is_bare(function.this) else NOTHING
            return aspect(inside, "count") | {ROWS}
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
        if self.is_lenient:
            # It may be of another row, or of many.
            inside = computed(inside)
        keys = window.args.get("partition_by") or []
        partitions = NOTHING.union(*(self.leaves(key) for key in keys))
        order = window.args.get("order")
        by = [key.this for key in (order.expressions if order is not None else [])]
        placed = NOTHING.union(*(self.leaves(key) for key in by))
        self.uses.add(Use("partition by", partitions))
        self.uses.add(Use("window order", placed))
        within = self._within(keys)
        inside |= frozenset(
            replace(leaf, within=within)
            for leaf in _stored_order(function, window.args.get("spec") is not None, bool(placed))
        )
        is_whole = not placed and not partial and window.args.get("spec") is None
        if is_whole and isinstance(function, (exp.Min, exp.Max)):
            # The groups are in the summary itself.
            return summarized(inside, partitions) | self.parted(keys)
        told = (
            inside | partial | self._counted(keys) | self._framed(window.args.get("spec"), placed)
        )
        return told.union(*(self._placed(keys, key) for key in by))

    def _framed(self, frame: exp.Expression | None, placed: Leaves) -> Leaves:
        """Return what the bounds of a frame tell; a distance is more than an order."""
        bounds = [frame.args.get(side) for side in ("start", "end")] if frame is not None else []
        written = [bound for bound in bounds if isinstance(bound, exp.Expression)]
        found = NOTHING.union(*(computed(self.leaves(bound)) for bound in written))
        is_distance = (
            frame is not None and str(frame.args.get("kind")).upper() == "RANGE" and written
        )
        return found | computed(placed) if is_distance and self.is_lenient else found

    def _within(self, keys: Sequence[exp.Expression]) -> frozenset[Key]:
        """Return the whole values that rows share which are told apart by their order."""
        peers = self._peers(keys)
        if any(peer.scope.rows_of() is None for peer in peers):
            return frozenset()
        shared = (joint_key(peer.scope.key(part) for peer in peers) for part in keys)
        return frozenset(key for key in shared if key)

    def _peers(self, keys: Sequence[exp.Expression]) -> list[Expressions]:
        """Return the rows of all origins that may share some values with these."""
        if not self.is_lenient or len(self.scope.peers) < 2:
            return [self]
        peers = [replace(self, scope=scope) for scope in self.scope.peers]
        if len(peers) > _MOST_COMPARED:
            return peers
        own = [self.constant(key) for key in keys]
        return [
            peer
            for peer in peers
            if all(
                one is None or (other := peer.constant(key)) is None or one == other
                for one, key in zip(own, keys, strict=True)
            )
        ]

    def _is_whole(self, value: exp.Expression, keys: Sequence[exp.Expression]) -> bool:
        """Tell whether a value equals another where whole columns do, in rows of all origins."""
        peers = self._peers(keys)
        if len(peers) > _MOST_COMPARED:
            return False
        if joint_key(peer.scope.key(value) for peer in peers):
            return True
        return all({leaf.how for leaf in peer.leaves(value)} == {"value"} for peer in peers)

    def parted(self, keys: Sequence[exp.Expression]) -> Leaves:
        """Return what is told by what rows have in common, if that is no whole value.

        So it is with a part of a value, and where what is written down is among the values.
        """
        if not self.is_lenient:
            return NOTHING
        parts = [key for key in keys if not self._is_whole(key, keys)]
        told = NOTHING.union(*(computed(self.leaves(key)) for key in parts))
        within = self._within(keys) if told else frozenset()
        return frozenset(
            replace(x, within=within) if x.how == "tally" else x for x in aspect(told, "count")
        )

    def _counted(self, keys: Sequence[exp.Expression]) -> Leaves:
        """Return what is told of partitions, which are counted: a whole value is as good as one."""
        told_of = [
            frozenset(Leaf(x.relation, x.column, "count") for x in leaves)
            if self.scope.key(key) and {x.how for x in leaves} <= {"value", "computed"}
            else aspect(leaves, "count")
            for key in keys
            if not self.is_lenient or self._is_whole(key, keys)
            for leaves in [self.leaves(key)]
        ]
        return self.parted(keys).union(*told_of)

    def _placed(self, keys: Sequence[exp.Expression], by: exp.Expression) -> Leaves:
        """Return what is told of an order, and among which rows of the relation it is of."""
        whole = self._within(keys)
        placed = self.leaves(by)
        if self.is_lenient and not self._is_one_column(by, keys):
            # An order among several columns of one record compares them.
            placed = computed(placed)
        found = NOTHING
        for leaf in placed:
            own = frozenset(key for key in whole if _relations(key) == {leaf.relation})
            in_place = aspect(frozenset({leaf}), "place")
            # Of something computed, the order may be a condition on one row.
            is_plain = leaf.how == "value"
            found |= {replace(x, within=own) for x in in_place} if is_plain else in_place
        return found

    def _is_one_column(self, value: exp.Expression, keys: Sequence[exp.Expression]) -> bool:
        """Tell whether a value is that of one column, and of the same in rows of all origins."""
        peers = self._peers(keys)
        if len(peers) > _MOST_COMPARED:
            return False
        columns = {
            named(leaf for leaf in peer.leaves(value) if leaf.how == "value") for peer in peers
        }
        return len(columns) == 1 and all(len(of_one) <= 1 for of_one in columns)

    def _ordered(self, value: exp.Expression) -> Leaves:
        """Return what an aggregate with an order tells: what is in it, and in which order."""
        parts = [value.this] if value.this is not None else []
        by = value.expressions if isinstance(value, exp.Order) else []
        placed = NOTHING.union(*(self.leaves(key) for key in by))
        if by:
            self.uses.add(Use("order by", placed))
        return NOTHING.union(*(self.leaves(part) for part in parts), aspect(placed, "place"))


def _relations(key: Key) -> set[str]:
    return {relation for _, columns in key for relation, _ in columns}


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
