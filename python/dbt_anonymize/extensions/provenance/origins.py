"""The stored columns from which a column derives, over SQL that sqlglot qualifies.

Everything that decides a value counts: conditions of `case`, partitions and orders of windows, all
of a subquery in the select list. Filters of rows (where, join, limit) do not count.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from sqlglot import exp, parse, parse_one
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, build_scope
from sqlglot.schema import MappingSchema

from dbt_anonymize.extensions.provenance.compiled import Relation, Relations

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)  # its warnings quote the SQL
Origin = tuple[str, str]
"""Name of a relation that no SQL makes, and a column in lower case."""
# Whole rows, and columns given by number or pattern.
_OPAQUE = (exp.TableColumn, exp.PositionalColumn, exp.Columns, exp.Placeholder, exp.Pivot)


class NotFollowed(Exception):  # noqa: N818 (a reason, not an error of the user)
    """Obstacle to following the origin of a column, and its relation."""


@dataclass(frozen=True)
class Derivation:
    """The stored columns that decide a value; ``is_plain``: it is one of them, unchanged.

    A row number is an origin, too.
    """

    origins: frozenset[Origin]
    is_plain: bool = False


class Provenance:
    """The columns of all relations, followed to stored columns that no SQL of the project makes."""

    def __init__(self, relations: Relations) -> None:
        self._relations = relations
        self._at: dict[tuple[str, ...], Relation] = {}
        # Several nodes may name one relation: the one that makes it comes first.
        ranked = sorted(relations.by_name.values(), key=lambda r: (r.sql is None, not r.is_made))
        schema: dict[str, Any] = {}
        for relation in ranked:
            key = database, name, table = tuple(part.lower() for part in relation.key)
            self._at.setdefault(key, relation)
            tables = schema.setdefault(database, {}).setdefault(name, {})
            tables.setdefault(table, dict.fromkeys(_stored(relation), "text"))
        self._schema = MappingSchema(schema, dialect=relations.dialect, normalize=False)
        self._external = {r.external: r for r in reversed(ranked) if r.external}
        self._following: list[str] = []
        self._row_numbers: dict[tuple[str, str], Origin] = {}
        self.derivation = cache(self._derive)
        self._query = cache(self._qualify)
        self._output = cache(self._output_of)

    def _derive(self, name: str, column: str) -> Derivation:
        """Follow a column of a relation, or raise `NotFollowed`."""
        relation = self._relations.by_name[name]
        if not relation.is_made:
            if column not in _stored(relation):
                raise NotFollowed(f"{name} has no column {column}")
            return Derivation(frozenset({(name, column)}), is_plain=True)
        if name in self._following:
            raise NotFollowed(f"{name} reads itself")
        self._following.append(name)
        try:
            query = self._query(name)
            if column not in _names(query):
                return self._derive_snapshot_column(relation, column)
            return self._output(query, column)
        except NotFollowed as reason:
            text = str(reason)
            raise NotFollowed(text if text.startswith(name) else f"{name} {text}") from reason
        except Exception as error:  # sqlglot raises what it likes; its messages quote the SQL
            kind = type(error).__name__
            raise NotFollowed(f"{name} is not SQL that sqlglot follows ({kind})") from error
        finally:
            self._following.pop()

    def _derive_snapshot_column(self, relation: Relation, column: str) -> Derivation:
        """Follow a column that dbt adds to a snapshot."""
        if column not in relation.added or column not in _stored(relation):
            raise NotFollowed(f"does not say in its SQL what its column {column} is")
        query = self._query(relation.name)
        named = [
            self._output(query, part.name.lower())
            for sql in relation.added[column]
            for part in parse_one(sql, dialect=self._relations.dialect).find_all(exp.Column)
        ]
        own = frozenset({(relation.name, column)})
        return Derivation(own.union(*(value.origins for value in named)), is_plain=True)

    def equal_origins(self, name: str) -> Iterator[tuple[Origin, Origin]]:
        """Yield pairs of stored columns that joins equate, in a relation and all upstream."""
        waiting, visited = [name], set[str]()
        while waiting:
            reader = waiting.pop()
            # A query that cannot be followed is a finding of each column.
            with contextlib.suppress(Exception):
                scopes = [] if reader in visited else list(self._query(reader).traverse())
                waiting += [self._relation(t).name for scope in scopes for t in _tables(scope)]
                yield from (pair for scope in scopes for pair in self._equal_columns(scope))
            visited.add(reader)

    def _equal_columns(self, scope: Scope) -> Iterator[tuple[Origin, Origin]]:
        query = scope.expression
        clauses = [join.args.get("on") for join in query.args.get("joins") or ()]
        clauses.append(query.args.get("where"))
        for equality in (e for clause in clauses if clause for e in clause.find_all(exp.EQ)):
            sides = [list(side.find_all(exp.Column)) for side in (equality.left, equality.right)]
            # The parts of composed values equate pairwise, by place.
            for pair in zip(*sides, strict=False) if len(sides[0]) == len(sides[1]) else ():
                with contextlib.suppress(NotFollowed, ValueError):
                    ((left,), (right,)) = (self._resolve(scope, c).origins for c in pair)
                    yield from ((left, right), (right, left))

    def _relation(self, table: exp.Table) -> Relation:
        key = (table.catalog, table.db, table.name)
        relation = self._at.get(key)
        if relation is None or not isinstance(table.this, exp.Identifier):
            name = ".".join(filter(None, key)) or "a function that returns a table"
            raise NotFollowed(f"reads {name}, which is no relation of the project")
        return relation

    def _qualify(self, name: str) -> Scope:
        """Return the query of a relation with every column qualified."""
        dialect, sql = self._relations.dialect, self._relations.by_name[name].sql
        if sql is None:
            raise NotFollowed("is a Python model, or is not read with ref()")
        statements = [statement for statement in parse(sql, dialect=dialect) if statement]
        if len(statements) != 1:
            raise NotFollowed("is not one query")
        self._name_external(statements[0])
        for identifier in statements[0].find_all(exp.Identifier):
            identifier.set("this", identifier.name.lower())
        options: Any = {"schema": self._schema, "validate_qualify_columns": False}
        query = build_scope(qualify(statements[0], dialect=dialect, **options))
        if query is None:
            raise NotFollowed("is not one query")
        for table in (table for scope in query.traverse() for table in _tables(scope)):
            self._relation(table)  # else stars hide columns
        return query

    def _name_external(self, statement: Any) -> None:
        """Replace the file or function by which a dbt source is read by its relation."""
        dialect = self._relations.dialect
        external = {_read_from(sql, dialect).this: r for sql, r in self._external.items()}
        for table in list(statement.find_all(exp.Table, exp.Subquery)) if external else ():
            if (relation := external.get(table.this)) and not table.args.get("db"):
                catalog, schema, name = relation.key
                named: Any = exp.table_(name, schema, catalog, quoted=True)
                # Without an alias, DuckDB names it after its file or function.
                alias = PurePosixPath(table.this.name).stem or table.this.key
                named.set("alias", exp.TableAlias(this=exp.to_identifier(alias)))
                for part in table.args.keys() - {"this", "db", "catalog"}:
                    named.set(part, table.args[part] or named.args.get(part))
                table.replace(named)

    def _output_of(self, scope: Scope, output: str | int) -> Derivation:
        """Follow an output of a query, by its name or its place."""
        query: Any = scope.expression
        if isinstance(query, exp.Subquery):
            return self._output(scope.subquery_scopes[0], output)
        if isinstance(query, exp.SetOperation):
            if _reads_itself(query):  # each column may be made of all others
                return self._expression(scope, query)
            is_by_name = query.args.get("by_name")
            if isinstance(output, str) and not is_by_name:
                output = _names(scope).index(output)
            parts = [s for s in scope.set_operation_scopes if not is_by_name or output in _names(s)]
            return _combine(self._output(part, output) for part in parts)
        if not isinstance(query, exp.Select):
            raise NotFollowed(f"reads a {query.key}")
        place = _names(scope).index(output) if isinstance(output, str) else output
        return self._expression(scope, query.selects[place].unalias())

    def _expression(self, scope: Scope, value: Any) -> Derivation:
        if isinstance(value, exp.Column) and not value.is_star:
            return self._resolve(scope, value)
        scopes = {id(inner.expression): inner for inner in scope.traverse()}
        parts = []
        for part in self._walk(scope, value):
            if isinstance(part, exp.Column):
                column_value = self._resolve(scopes.get(id(part.parent_select), scope), part)
                is_null_check = isinstance(part.parent, exp.Is) and column_value.is_plain
                parts += [] if is_null_check else [column_value]
            elif isinstance(part, exp.Window) and isinstance(part.this, exp.RowNumber):
                parts.append(Derivation(frozenset({self._row_number(part)})))
        return _combine(parts)

    def _row_number(self, window: exp.Window) -> Origin:
        """Return the origin that a row number is, the same for equal ones of a relation."""
        name = self._following[-1]
        place = len([1 for relation, _ in self._row_numbers if relation == name]) + 1
        title = "row_number()" if place == 1 else f"row_number() {place}"
        # Its SQL may hold values, and messages name origins.
        return self._row_numbers.setdefault((name, window.sql()), (name, title))

    def _walk(self, scope: Scope, value: Any) -> Iterator[Any]:
        """Yield all parts of a value, named windows included."""
        windows = {w.this.name: w for w in scope.expression.args.get("windows") or ()}
        for part in value.walk():
            if isinstance(part, exp.Func) and (unit := part.args.get("unit")):
                # `date_trunc(part, day)` has a unit for sqlglot, and a column for the database.
                yield from self._columns_named(scope, unit.name.lower())
            if isinstance(part, _OPAQUE):
                raise NotFollowed("has a row as a whole, or columns without their names")
            if isinstance(part, exp.Star) and not isinstance(part.parent, exp.Count):
                raise NotFollowed("has a * inside of an expression")
            if isinstance(part, exp.Func) and _function(part) in self._relations.functions:
                raise NotFollowed(f"calls {_function(part)}(), which is defined in the database")
            yield part
            if isinstance(part, exp.Window) and (named := windows.get(part.alias)):
                placed = named.copy()
                if isinstance(part.this, exp.RowNumber):
                    placed.set("this", part.this.copy())
                yield from self._walk(scope, placed)

    def _columns_named(self, scope: Scope, name: str) -> Iterator[exp.Column]:
        """Yield the columns of a query that have this name."""
        for alias, source in scope.sources.items():
            names = _names(source) if isinstance(source, Scope) else _stored(self._relation(source))
            if name in names:
                yield exp.column(name, table=alias)

    def _resolve(self, scope: Scope, column: exp.Column) -> Derivation:
        """Follow a column to its relation or subquery, in this query or an enclosing one."""
        around: Scope | None = scope
        while around is not None and column.table not in around.sources:
            around = around.parent
        if around is None or not column.table:
            raise NotFollowed(f"has a column that is not resolved ({column.name})")
        source = around.sources[column.table]
        made_here = source.expression if isinstance(source, Scope) else source.this
        if isinstance(made_here, (exp.Values, exp.Unnest, exp.GenerateSeries)):
            return self._expression(around, made_here)
        if isinstance(made_here, exp.UDTF):
            raise NotFollowed(f"reads a {made_here.key}")
        if isinstance(source, Scope):
            is_inside = _reads_itself(source.expression.parent)  # then all columns count anyway
            return Derivation(frozenset()) if is_inside else self._output(source, column.name)
        relation = self._relation(source)
        # `people as p (a, b)`: columns renamed by their places.
        renamed = dict(zip(source.alias_column_names, _stored(relation), strict=False))
        return self.derivation(relation.name, renamed.get(column.name, column.name))


def _tables(scope: Scope) -> list[exp.Table]:
    return [
        source
        for source in scope.sources.values()
        if isinstance(source, exp.Table) and not isinstance(source.this, exp.GenerateSeries)
    ]


def _names(scope: Scope) -> list[str]:
    query: Any = scope.expression
    return [str(name) for name in query.named_selects]


def _stored(relation: Relation) -> list[str]:
    return [column.lower() for column in relation.columns or ()]


def _combine(parts: Iterable[Derivation]) -> Derivation:
    return Derivation(frozenset(origin for value in parts for origin in value.origins))


def _read_from(sql: str, dialect: str) -> Any:
    query: Any = parse_one(f"select * from {sql}", dialect=dialect)  # noqa: S608
    return query.find(exp.From).this


def _reads_itself(query: Any) -> bool:
    """Tell whether a query is that of a recursive common table."""
    is_table = isinstance(query, exp.SetOperation) and isinstance(query.parent, exp.CTE)
    return is_table and any(t.name == query.parent.alias for t in query.find_all(exp.Table))


def _function(part: exp.Func) -> str:
    return str(part.name if isinstance(part, exp.Anonymous) else part.sql_name()).lower()
