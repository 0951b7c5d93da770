"""Tables of leaves for the relations of a project, from the end of the graph to where it stops."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sqlglot import exp, parse
from sqlglot.errors import SqlglotError

from dbt_anonymize.verify.lineage.branches import MOST_ROUNDS, forgotten
from dbt_anonymize.verify.lineage.compiled import Models, Node, fold_ascii
from dbt_anonymize.verify.lineage.origins import NOTHING, Branch, Leaf, Table, Unresolvable, Use
from dbt_anonymize.verify.lineage.queries import Query

_PROGRAM = "is made by a program (a Python model), not by SQL that can be read"
_UNREACHED = (
    "is a model or snapshot that the release does not depend on, and yet its relation is read, as "
    "that of a dbt source or by its name. Read it with ref(), or give the source a relation that "
    "this project does not make"
)


class Unreadable(Exception):  # noqa: N818 (see Unresolvable)
    """A relation that cannot be followed, with the node in which the reason lies."""

    def __init__(self, node: str, reason: str) -> None:
        super().__init__(f"{node}: {reason}")
        self.node = node
        self.reason = reason


class Graph:
    """The relations of a project as tables of leaves.

    Parameters
    ----------
    models : Models
        What dbt compiled.
    ends : collection of str
        Names of the nodes whose columns are leaves, whatever makes them.
    is_lenient : bool
        Whether what cannot be followed becomes a leaf that is opaque, instead of an error.
    """

    def __init__(
        self,
        models: Models,
        ends: Collection[str],
        *,
        is_lenient: bool = False,
    ) -> None:
        self.models = models
        self.ends = frozenset(ends)
        self.instead: Mapping[str, str] = {}
        self.is_lenient = is_lenient
        self.uses: dict[str, frozenset[Use]] = {}
        self.reads: dict[str, frozenset[str]] = {}
        self._tables: dict[str, Table] = {}
        self._unfinished: dict[str, Table] = {}

    def table(self, name: str) -> Table:
        """Return the table of a node.

        Raises
        ------
        Unreadable
            If its SQL, or that of a node it reads, cannot be followed.
        """
        if name in self._unfinished:
            return self._unfinished[name]
        if name not in self._tables:
            self._tables[name] = self._made(self.models.nodes[name])
        return self._tables[name]

    def reading(self, name: str, instead: Mapping[str, str]) -> Graph:
        """Return the same graph in which a node reads some nodes in place of others.

        Parameters
        ----------
        name : str
            The node; nothing else may read what it reads otherwise, or the node itself.
        instead : mapping
            Name of a node to that of the one to read in its place.
        """
        other = Graph(self.models, self.ends, is_lenient=self.is_lenient)
        other.instead = instead
        other.uses = {node: uses for node, uses in self.uses.items() if node != name}
        other.reads = {node: read for node, read in self.reads.items() if node != name}
        other._tables = {node: table for node, table in self._tables.items() if node != name}
        return other

    def relation(self, reader: str, database: str, schema: str, identifier: str) -> Table:
        """Return the table of a relation that the SQL of a node reads."""
        node = self.models.at(database, schema, identifier)
        if node is None:
            parts = ".".join(part for part in (database, schema, identifier) if part)
            raise Unresolvable(
                f"reads {parts}, which is not a relation of a model, seed or source of the "
                "project. Name it with ref() or source()"
            )
        name = self.instead.get(node.name, node.name)
        self.reads[reader] = self.reads.get(reader, frozenset()) | {name}
        return self.table(name)

    def _made(self, node: Node) -> Table:
        if node.name in self.ends or (node.sql is None and not node.is_opaque):
            return _leaves_of(node, has_keys=self.is_lenient)
        try:
            if node.sql is None:
                raise Unreadable(node.name, _UNREACHED if node.is_unreached else _PROGRAM)
            return self._evaluated(node)
        except Unreadable:
            if self.is_lenient and node.columns is not None:
                return _leaves_of(node, is_opaque=True)
            raise

    def _evaluated(self, node: Node) -> Table:
        """Follow the SQL of a node; one that reads itself is followed until nothing new comes."""
        query = parsed(node, self.models.dialect)
        columns = [column.lower() for column in node.columns or ()]
        self._unfinished[node.name] = (Branch(dict.fromkeys(columns, NOTHING)),)
        try:
            for _ in range(MOST_ROUNDS):
                reading = Query(self, node.name)
                table = reading.table(query)
                self.uses[node.name] = frozenset(reading.uses)
                if node.name not in self.reads.get(node.name, ()):
                    return _stored(node, table)
                table = (_as_one(table, columns),)
                if table == self._unfinished[node.name]:
                    return table
                self._unfinished[node.name] = table
        except Unresolvable as reason:
            raise Unreadable(node.name, str(reason)) from reason
        except RecursionError as error:
            raise Unreadable(node.name, "is nested too deeply to be followed") from error
        finally:
            del self._unfinished[node.name]
        raise Unreadable(node.name, "reads itself in a way that has no end")


def _stored(node: Node, table: Table) -> Table:
    """Return a table with the columns that dbt adds to a snapshot: its times, and its key."""
    added = [name.lower() for name in node.columns or () if name.lower().startswith("dbt_")]
    if node.kind != "snapshot":
        return table
    new = {
        # A hash of whatever column is the key cannot be followed.
        name: frozenset({Leaf(node.name, name, "opaque" if name == "dbt_scd_id" else "value")})
        for name in added
    }
    return tuple(replace(branch, columns={**branch.columns, **new}) for branch in table)


def _as_one(table: Table, columns: list[str]) -> Branch:
    """Return a table as one branch with the columns of the stored relation."""
    one = forgotten(table)[0]
    names = [*one.columns, *columns]
    return Branch({name: one.columns.get(name, NOTHING) for name in names}, {}, one.conditions)


def _leaves_of(node: Node, *, is_opaque: bool = False, has_keys: bool = False) -> Table:
    if node.columns is None:
        raise Unreadable(node.name, "is not built, so its columns are not known. Run `dbt build`")
    names = [column.lower() for column in node.columns]
    if len(set(names)) < len(names):
        raise Unreadable(node.name, "has columns whose names differ only in case")
    how = "opaque" if is_opaque else "value"
    columns = {c: frozenset({Leaf(node.name, c, how)}) for c in names}  # type: ignore[arg-type]
    if not has_keys:
        return (Branch(columns),)
    written = {c: frozenset({("?", ((node.name, c),))}) for c in names}
    return (Branch(columns, written=written, rows_of=frozenset({node.name})),)


@lru_cache(maxsize=512)
def _statements(sql: str, dialect: str) -> tuple[object, ...]:
    """Return the statements of a text; they are read by many and changed by nobody."""
    return tuple(parse(sql, dialect=dialect))


def parsed(node: Node, dialect: str) -> Any:
    """Return the one query that makes a node.

    Raises
    ------
    Unreadable
        If there is no such query, or if the database may read another one in the same text.
    """
    if "{#" in (node.sql or ""):
        raise Unreadable(node.name, "has {# in its SQL, which parsers read in different ways")
    try:
        statements = _statements(node.sql or "", dialect)
    except (SqlglotError, RecursionError) as error:
        # Not the message of the parser: it quotes the SQL.
        raise Unreadable(node.name, f"cannot be parsed as SQL ({type(error).__name__})") from error
    query = statements[0] if len(statements) == 1 else None
    if not isinstance(query, exp.Query):
        raise Unreadable(node.name, "must be one query (select)")
    _check_names(node, query)
    return query


def _check_names(node: Node, query: Any) -> None:
    """Refuse names that are the same here and not in the database, which folds ASCII alone."""
    names: dict[str, str] = {}
    for identifier in query.find_all(exp.Identifier):
        in_database = fold_ascii(identifier.name)
        if names.setdefault(identifier.name.lower(), in_database) != in_database:
            raise Unreadable(
                node.name, "has two names that differ in the case of a letter that is not ASCII"
            )
