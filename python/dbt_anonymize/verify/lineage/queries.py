"""Queries: from, joins, filters, groups, unions. What is not known is not read over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from dbt_anonymize.verify.lineage.branches import (
    MOST_ROUNDS,
    Output,
    chosen,
    forgotten,
    in_order,
    mixed,
    renamed,
    with_constants_of_all,
    with_names,
)
from dbt_anonymize.verify.lineage.conditions import (
    Conditions,
    asks_for_text,
    conditions_of,
    is_plain_equality,
    same_columns,
)
from dbt_anonymize.verify.lineage.expressions import Expressions
from dbt_anonymize.verify.lineage.forms import argument, only
from dbt_anonymize.verify.lineage.origins import (
    NOTHING,
    STORED_ORDER,
    Branch,
    Key,
    Leaf,
    Leaves,
    Table,
    Unresolvable,
    Use,
    computed,
    decided,
    merged,
    presence,
)
from dbt_anonymize.verify.lineage.projections import (
    aggregates,
    meant_by_key,
    partition_of,
    projections,
    with_windows,
)
from dbt_anonymize.verify.lineage.scope import Scope

_OF_SELECT = frozenset(
    {"with", "expressions", "from", "joins", "where", "group", "having", "qualify", "order"}
    | {"distinct", "limit", "windows"}
)
_OF_SET = frozenset({"with", "this", "expression", "distinct", "order", "limit", "by_name"})
_OF_COMMON = frozenset({"this", "alias", "materialized"})
_OF_JOIN = frozenset({"this", "side", "kind", "on", "using", "method"})
_OF_TABLE = frozenset({"this", "db", "catalog", "alias", "joins"})
_OF_SUBQUERY = frozenset({"this", "alias", "with"})
_OF_VALUES = frozenset({"expressions", "alias"})
_HALF_JOINS = frozenset({"SEMI", "ANTI"})
_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_MOST_BRANCHES = 3000


class Relations(Protocol):
    """Where the tables of relations come from."""

    is_lenient: bool

    def relation(self, reader: str, database: str, schema: str, identifier: str) -> Table:
        """Return the table of a relation that the SQL of a node reads."""


@dataclass
class Query:
    """One reading of the SQL of a node.

    Parameters
    ----------
    relations : Relations
        The graph.
    node : str
        Whose SQL it is.
    uses : set of Use
        All clauses that looked at something, filled while reading.
    """

    relations: Relations
    node: str
    uses: set[Use] = field(default_factory=set)
    _with: list[dict[str, Table]] = field(default_factory=list)

    def table(self, query: exp.Expression, outer: Scope | None = None) -> Table:
        """Return the table of a query.

        Parameters
        ----------
        query : Expression
            Select, set operation, or either in parentheses.
        outer : Scope, optional
            Columns of the query around it, for a correlated subquery.
        """
        self._with.append({})
        try:
            self._common_tables(query, outer)
            if isinstance(query, exp.Select):
                return self._select(query, outer)
            if isinstance(query, exp.SetOperation):
                return self._set_operation(query, outer)
            if isinstance(query, exp.Subquery):
                only(query, _OF_SUBQUERY, "subquery")
                return self.table(query.this, outer)
            if isinstance(query, exp.Values):
                return self._values(query, outer)
        finally:
            self._with.pop()
        raise Unresolvable(f"has a query of a form that is not known ({query.key})")

    def leaves(self, query: exp.Expression, outer: Scope) -> Leaves:
        """Return all that a subquery inside an expression tells: its values and its clauses."""
        inside = Query(self.relations, self.node, _with=self._with)
        table = inside.table(query, outer)
        parts = [use.leaves for use in inside.uses]
        parts += [leaves for branch in table for leaves in branch.columns.values()]
        found = NOTHING.union(*parts)
        self.uses |= inside.uses | {Use("subquery", found)}
        return found

    def _values(self, query: exp.Values, outer: Scope | None) -> Table:
        """Return the table of rows that are written down."""
        only(query, _OF_VALUES, "list of values")
        expressions = self._expressions(Scope([], outer))
        columns: dict[str, Leaves] = {}
        for row in query.expressions:
            for place, value in enumerate(row.expressions):
                name = f"col{place}"
                columns[name] = columns.get(name, NOTHING) | computed(expressions.leaves(value))
        return (Branch(columns, rows_of=frozenset()),)

    def _common_tables(self, query: exp.Expression, outer: Scope | None) -> None:
        clause = argument(query, "with")
        if clause is None:
            return
        for common in clause.expressions:
            only(common, _OF_COMMON, "common table")
            name = common.alias.lower()
            if name in self._with[-1]:
                raise Unresolvable("has two common tables of one name")
            if clause.args.get("recursive") and _reads(common.this, name):
                self._with[-1][name] = self._fixpoint(common, name, outer)
                continue
            table = renamed(self.table(common.this, outer), common.args.get("alias"))
            self._with[-1][name] = table

    def _fixpoint(self, common: exp.Expression, name: str, outer: Scope | None) -> Table:
        """Follow a common table that reads itself until no round adds anything to its columns."""
        if not isinstance(common.this, exp.Union):
            raise Unresolvable("has a recursive common table that does not start with rows")
        alias = common.args.get("alias")
        found = forgotten(renamed(self.table(common.this.this, outer), alias))
        for _ in range(MOST_ROUNDS):
            self._with[-1][name] = found
            more = forgotten(renamed(self.table(common.this, outer), alias))
            together = merged([*found, *more])
            if together == found:
                return found
            found = together
        raise Unresolvable("has a recursive common table that has no end")

    # -- unions -------------------------------------------------------------------------------

    def _set_operation(self, query: exp.SetOperation, outer: Scope | None) -> Table:
        only(query, _OF_SET, "set operation")
        left = self.table(query.this, outer)
        right = self.table(query.expression, outer)
        names = list(left[0].columns) if left else []
        if query.args.get("by_name") and left and right:
            names += [name for name in right[0].columns if name not in names]
            left, right = in_order(left, names), in_order(right, names)
        if left and right and len(names) != len(right[0].columns):
            raise Unresolvable("unites queries of different numbers of columns")
        table = [*left, *(with_names(branch, names) for branch in right if names)]
        table = [with_constants_of_all(branch, table) for branch in table]
        if self.relations.is_lenient:
            table = chosen(table)
        self._limited(query, table)
        if not isinstance(query, exp.Union) or query.args.get("distinct"):
            clause = "union distinct" if isinstance(query, exp.Union) else query.key
            looked_at = [leaves for b in table for leaves in b.columns.values()]
            self.uses.add(Use(clause, NOTHING.union(*looked_at)))
            self._united(table)
        if not isinstance(query, exp.Union):
            # Which rows are left depends on both sides.
            table = list(forgotten(table))
        if argument(query, "order") is not None:
            for branch in table:
                scope = Scope([("", branch)], outer)
                self._order(query, self._expressions(scope), list(branch.columns.values()))
        return merged(table)

    # -- select -------------------------------------------------------------------------------

    def _select(self, query: exp.Select, outer: Scope | None) -> Table:
        only(query, _OF_SELECT, "query")
        query = with_windows(query)
        rows = [
            filtered for row in self._from(query, outer) for filtered in self._filter(query, row)
        ]
        for row in rows:
            row.peers = rows
        grouping = query.args.get("group") is not None or aggregates(query)
        made = [self._output(query, row, grouping) for row in rows]
        table = merged(mixed(made))
        self._limited(query, table)
        if query.args.get("distinct") is not None:
            self._united([output.branch for output in made])
        return table

    def _united(self, table: Sequence[Branch]) -> None:
        """Note what decides how many different rows there are, if that is no whole value."""
        scopes = [Scope([("", branch)]) for branch in table]
        for scope in scopes:
            scope.peers = scopes
            keys = [exp.column(name, quoted=True) for name in scope.sources[0][1].columns]
            self.uses.add(Use("grouping", self._expressions(scope).parted(keys)))

    def _from(self, query: exp.Select, outer: Scope | None) -> list[Scope]:
        clause = argument(query, "from")
        rows = [Scope([], outer)]
        if clause is not None:
            rows = self._source(clause.this, rows)
        return self._joined(query.args.get("joins") or [], rows)

    def _source(self, source: exp.Expression, rows: list[Scope]) -> list[Scope]:
        """Return the rows with one relation more, before any condition."""
        alias = source.alias_or_name.lower()
        table = self._read(source)
        if any(alias == other for row in rows for other, _ in row.sources):
            raise Unresolvable("has two relations of one name in one query")
        if len(rows) * len(table) > _MOST_BRANCHES:
            rows = _together(rows)
            table = forgotten(table)
        rows = [row.with_source(alias, branch) for row in rows for branch in table]
        return self._joined(source.args.get("joins") or [], rows)

    def _read(self, source: exp.Expression) -> Table:
        if isinstance(source, exp.Subquery):
            only(source, _OF_SUBQUERY, "subquery")
            return renamed(self.table(source.this), source.args.get("alias"))
        if isinstance(source, exp.Values):
            return renamed(self._values(source, None), source.args.get("alias"))
        if not isinstance(source, exp.Table) or not isinstance(source.this, exp.Identifier):
            kind = source.this.key if isinstance(source, exp.Table) else source.key
            raise Unresolvable(f"reads from something that is not a relation ({kind})")
        only(source, _OF_TABLE, "relation")
        if not source.db and not source.catalog:
            for tables in reversed(self._with):
                if source.name.lower() in tables:
                    return renamed(tables[source.name.lower()], source.args.get("alias"))
        table = self.relations.relation(self.node, source.catalog, source.db, source.name)
        return renamed(table, source.args.get("alias"))

    def _joined(self, joins: Sequence[exp.Expression], rows: list[Scope]) -> list[Scope]:
        for join in joins:
            only(join, _OF_JOIN, "join")
            kind = (join.args.get("kind") or "").upper()
            if kind not in {"", "INNER", "CROSS", "OUTER"} | _HALF_JOINS:
                raise Unresolvable(f"has a join that is not known ({kind.lower()})")
            method = (join.args.get("method") or "").upper()
            if method not in {"", "NATURAL"}:
                raise Unresolvable(f"has a join of a method that is not known ({method.lower()})")
            last = join.this.alias_or_name.lower()
            kept = len(rows[0].sources) if rows else 0
            joined = self._source(join.this, rows)
            using = [column.name.lower() for column in join.args.get("using") or []]
            if method and joined:
                using = joined[0].common(last)
            side = (join.args.get("side") or "").upper()
            if kind in _HALF_JOINS:
                rows = [self._half_join(join, using, kind, kept, found) for found in joined]
            else:
                rows = [r for found in joined for r in self._join(join, using, side, last, found)]
        return rows

    def _half_join(
        self, join: exp.Expression, using: list[str], kind: str, kept: int, found: Scope
    ) -> Scope:
        """Return the rows that have a match, or none; of the other relation nothing is left."""
        clause = f"{kind.lower()} join"
        conditions = Conditions()
        self._common(using, clause, found, conditions)
        self._conditions(join.args.get("on"), clause, found, conditions)
        by = conditions.filtering | conditions_of(found)
        return Scope(found.sources[:kept], found.outer, found.using - set(using), conditions=by)

    def _common(self, using: list[str], clause: str, row: Scope, noted: Conditions) -> None:
        """Note the columns of one name by which two relations are joined."""
        for name in using:
            branches = row.use(name)
            sides = [branch.columns[name] for branch in branches]
            looked_at = NOTHING.union(*sides)
            keys = [branch.written.get(name) for branch in branches]
            is_plain = is_plain_equality(sides, keys)
            same = same_columns(sides, keys) if is_plain else frozenset()
            # What one side writes down is a constant: it finds some values, not equal ones.
            self.uses.add(Use(clause, looked_at, all(sides), is_plain, same))
            noted.note(looked_at, is_plain=is_plain, is_link=True)
            noted.all |= looked_at

    def _join(
        self, join: exp.Expression, using: list[str], side: str, last: str, row: Scope
    ) -> Iterator[Scope]:
        """Give the rows of a join, or nothing where their literals rule it out."""
        conditions = Conditions(is_outer=bool(side))
        self._common(using, "join", row, conditions)
        holds = self._conditions(join.args.get("on"), "join", row, conditions)
        if self.relations.is_lenient:
            row = row.linked(conditions.linking)
        if side:
            # An outer join keeps what it finds no match for, with NULL in place of literals.
            by = conditions.linking | conditions_of(row)
            if not self.relations.is_lenient:
                by = conditions.all
            yield row.after_outer_join(side, last, by)
        elif holds:
            row.conditions |= conditions.filtering
            yield row

    def _filter(self, query: exp.Select, row: Scope) -> Iterator[Scope]:
        """Give the rows that are left, or nothing where their literals rule that out."""
        where = query.args.get("where")
        conditions = Conditions()
        if self._conditions(where.this if where else None, "where", row, conditions):
            if self.relations.is_lenient:
                row = row.linked(conditions.linking)
            row.conditions |= conditions.filtering
            yield row

    def _conditions(
        self,
        condition: exp.Expression | None,
        clause: str,
        row: Scope,
        noted: Conditions,
    ) -> bool:
        """Note each condition; tell whether the literals of the rows allow them all."""
        if condition is None:
            return True
        expressions = self._expressions(row)
        holds = True
        found: list[Use] = []
        for part in condition.flatten() if isinstance(condition, exp.And) else [condition]:
            inner = part.unnest()
            if isinstance(inner, exp.And):
                holds &= self._conditions(inner, clause, row, noted)
                continue
            is_comparison = isinstance(inner, _COMPARISONS)
            sides = [inner.this, inner.expression] if is_comparison else [inner]
            sides_told = [self._looked_at(expressions, side) for side in sides]
            if asks_for_text(inner, row):
                sides_told = [presence(self._looked_at(expressions, inner.this))]
            is_equality = isinstance(inner, exp.EQ)
            known = {expressions.constant(side) for side in sides} - {None}
            # Two whole numbers that differ.
            holds &= not is_equality or len(known) < 2
            looked_at = NOTHING.union(*sides_told)
            keys = [row.key(side) for side in sides]
            is_plain = is_equality and is_plain_equality(sides_told, keys)
            is_link = row.names_several(inner) and inner.find(exp.Query) is None
            is_equality = is_equality and all(sides_told)
            same = same_columns(sides_told, keys) if is_plain and is_link else frozenset()
            found.append(Use(clause, looked_at, is_equality, is_plain and is_link, same))
            noted.note(looked_at, is_plain=is_plain, is_link=is_link)
        if holds:
            self.uses.update(found)
        return holds

    def _looked_at(self, expressions: Expressions, clause: exp.Expression) -> Leaves:
        """Return what a clause looks at; upstream of the source, an unknown one is a leaf."""
        try:
            return expressions.leaves(clause)
        except Unresolvable:
            if self.relations.is_lenient:
                return frozenset({Leaf(self.node, "a clause", "opaque")})
            raise

    def _expressions(
        self, scope: Scope, groups: Leaves | None = None, grouped: Sequence[exp.Expression] = ()
    ) -> Expressions:
        lenient = self.relations.is_lenient
        return Expressions(scope, self.uses, self.leaves, groups, grouped, lenient)

    # -- what comes out -----------------------------------------------------------------------

    def _output(self, query: exp.Select, row: Scope, grouping: bool) -> Output:
        plain = self._expressions(row)
        keys = self._group_keys(query, row)
        groups = NOTHING.union(*(self._looked_at(plain, key) for key in keys)) if grouping else None
        if keys:
            self.uses.add(Use("group by", groups or NOTHING))
            self.uses.add(Use("grouping", self._parted(plain, keys)))
        expressions = self._expressions(row, groups, keys)
        columns: dict[str, Leaves] = {}
        written: dict[str, Key] = {}
        constants: dict[str, str] = {}
        windows: dict[str, tuple[str | None, ...] | None] = {}
        for name, expression, known, literal, own in projections(query, row):
            key = own if expression is None else row.key(expression)
            if key is not None:
                written[name] = key
            if name in columns:
                raise Unresolvable("has two columns of one name")
            if expression is None:
                columns[name], constant = known, literal
            else:
                columns[name] = self._projection(expressions, name, expression)
                if self.relations.is_lenient and expression.find(exp.AggFunc, exp.Window):
                    # How many there are depends on which there are.
                    columns[name] |= decided(conditions_of(row))
                constant = expressions.constant(expression)
                windows[name] = partition_of(expression, plain)
            if constant is not None:
                constants[name] = constant
            row.outputs[name] = columns[name]
        self._clauses(query, expressions, list(columns.values()))
        mixing = tuple(plain.constant(key) for key in keys) if grouping else None
        branch = Branch(columns, constants, conditions_of(row), written, row.rows_of())
        return Output(branch, mixing, windows)

    def _limited(self, query: exp.Expression, table: Sequence[Branch]) -> None:
        limit = query.args.get("limit")
        if limit is None:
            return
        if not isinstance(limit.args.get("expression"), exp.Literal):
            raise Unresolvable("has a limit that is not a number")
        leaves = NOTHING.union(*(x for branch in table for x in branch.columns.values()))
        self.uses.add(Use("limit", leaves | {STORED_ORDER}))

    def _projection(self, expressions: Expressions, name: str, value: exp.Expression) -> Leaves:
        try:
            return expressions.leaves(value)
        except Unresolvable:
            if self.relations.is_lenient:
                return frozenset({Leaf(self.node, name, "opaque")})
            raise

    def _parted(self, plain: Expressions, keys: Sequence[exp.Expression]) -> Leaves:
        try:
            return plain.parted(keys)
        except Unresolvable:
            return frozenset({Leaf(self.node, "a clause", "opaque")})

    def _group_keys(self, query: exp.Select, row: Scope) -> list[exp.Expression]:
        group = query.args.get("group")
        if group is None:
            return []
        if group.args.get("all"):
            return [e.unalias() for e in query.expressions if not list(e.find_all(exp.AggFunc))]
        if {k for k, v in group.args.items() if v} - {"expressions"}:
            raise Unresolvable("groups in a way that is not known")
        return [meant_by_key(key, query, row) for key in group.expressions]

    def _clauses(self, query: exp.Select, expressions: Expressions, out: list[Leaves]) -> None:
        # There, and in an order, a name means what comes out rather than what is read.
        given = replace(expressions, scope=replace(expressions.scope, is_after_outputs=True))
        for clause in ("having", "qualify"):
            part = query.args.get(clause)
            if part is not None:
                looked_at = self._looked_at(expressions, part.this)
                if clause == "having":
                    looked_at |= self._looked_at(given, part.this)
                self.uses.add(Use(clause, looked_at))
        distinct = query.args.get("distinct")
        if distinct is not None:
            on = distinct.args.get("on")
            looked_at = NOTHING.union(*out)
            if on is not None:
                looked_at |= self._looked_at(expressions, on)
                chosen = looked_at | {STORED_ORDER}
                if self.relations.is_lenient:
                    chosen = self._first_of_each(query, expressions, on)
                    chosen |= self._first_of_each(query, given, on)
                self.uses.add(Use("distinct on", chosen))
            self.uses.add(Use("distinct", looked_at))
        self._order(query, expressions, out)

    def _first_of_each(
        self, query: exp.Select, expressions: Expressions, on: exp.Expression
    ) -> Leaves:
        """Return what a `distinct on` tells: as much as the window that gives the first of each."""
        keys = on.expressions if isinstance(on, exp.Tuple) else [on]
        order = argument(query, "order")
        by = [k for k in (order.expressions if order is not None else []) if k.this not in keys]
        window = exp.Window(
            this=exp.RowNumber(), partition_by=keys, order=exp.Order(expressions=by) if by else None
        )
        return self._looked_at(expressions, window.copy())

    def _order(self, query: exp.Expression, expressions: Expressions, out: list[Leaves]) -> None:
        order = argument(query, "order")
        for key in order.expressions if order is not None else []:
            by = key.this if isinstance(key, exp.Ordered) else key
            if isinstance(by, exp.Var):  # order by all
                leaves = NOTHING.union(*out)
            elif isinstance(by, exp.Literal) and not by.is_string:
                leaves = out[int(by.name) - 1]
            else:
                leaves = self._looked_at(expressions, by)
                if isinstance(by, exp.Column) and not by.table:
                    # The name may mean what comes out as well.
                    leaves |= expressions.scope.outputs.get(by.name.lower(), NOTHING)
            self.uses.add(Use("order by", leaves))


def _reads(query: exp.Expression, name: str) -> bool:
    tables = query.find_all(exp.Table)
    return any(not table.db and table.name.lower() == name for table in tables)


def _together(rows: list[Scope]) -> list[Scope]:
    """Return rows of many branches as one: what is known of them less exactly."""
    names = [name for name, _ in rows[0].sources]
    sources = [
        (
            name,
            forgotten(_sources_at(rows, place))[0],
        )
        for place, name in enumerate(names)
    ]
    conditions = NOTHING.union(*(row.conditions for row in rows))
    return [Scope(sources, rows[0].outer, rows[0].using, conditions=conditions)]


def _sources_at(rows: list[Scope], place: int) -> Iterator[Branch]:
    return (row.sources[place][1] for row in rows)
