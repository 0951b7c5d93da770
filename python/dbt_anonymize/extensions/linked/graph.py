"""Subjects and their linked records as numbers, each record with those that it leads over."""

# ruff: noqa: S608 (names are quoted, and no value of a table gets into a statement)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbt_anonymize.extensions.linked.declared import SUBJECTS
from dbt_anonymize.extensions.linked.scratch import Scratch
from dbt_anonymize.literals import quote_name


@dataclass(frozen=True)
class Rows:
    """A table whose rows are subjects or linked records, as SQL.

    ``columns`` are those that an attacker compares. Records have the column ``parent``, which leads
    to the key of the subject or, with ``over``, of a record of that table.
    """

    relation: str
    key: str
    columns: Sequence[str]
    parent: str = ""
    over: str | None = None


@dataclass(frozen=True)
class Graph:
    """Temporary tables of subjects and records.

    - ``subjects``: ``subject``, its ``key`` as bytes, ``class``, which those with the same values
      share, and the columns of its table.
    - ``items``: by table, the distinct values of its records: ``item``, and each column of
      ``paths``, named by `path_column`, as are those of subjects.
    - ``held``: ``subject``, ``item``, and how many ``times`` the subject has it; the remainder of
      ``item`` by the number of tables is the place of its table.
    - ``paths``: by table, the columns of its records and of those that they lead over, as table and
      column.
    """

    scratch: Scratch
    subjects: str
    items: Mapping[str, str]
    held: str
    paths: Mapping[str, Sequence[tuple[str, str]]]


def path_column(table: str, column: str) -> str:
    """Return the quoted name of a column of a table in ``items``."""
    return quote_name(f"{table}.{column}")


def read_graph(scratch: Scratch, subjects: Rows, linked: Mapping[str, Rows]) -> Graph:
    """Read subjects and records; each table stands behind that which it leads over.

    Rows that lead nowhere are left out, and so are those whose values nobody has.
    """
    own = {quote_name(name): path_column(SUBJECTS, name) for name in subjects.columns}
    numbered = scratch.table(
        "subjects",
        f"select row_number() over () as subject, {as_bytes(subjects.key)} as key, "
        f"{_number_of(list(own))} as class{''.join(f', {n} as {as_}' for n, as_ in own.items())} "
        f"from {subjects.relation}",
    )
    paths: dict[str, list[tuple[str, str]]] = {}
    records: dict[str, str] = {}
    items: dict[str, str] = {}
    for place, (name, rows) in enumerate(linked.items()):
        paths[name] = [(name, column) for column in rows.columns]
        parent = numbered
        if rows.over is not None:
            paths[name] += paths[rows.over]
            parent = records[rows.over]
        columns = [
            f"rows_.{quote_name(column)} as {path_column(table, column)}"
            if table == name
            else f"parents.{path_column(table, column)}"
            for table, column in paths[name]
        ]
        joined = (
            f"select parents.subject, {as_bytes(f'rows_.{rows.key}')} as key, {', '.join(columns)} "
            f"from {rows.relation} as rows_ inner join {parent} as parents "
            f"on {as_bytes(f'rows_.{rows.parent}')} = parents.key"
        )
        listed = [path_column(*column) for column in paths[name]]
        item = f"{_number_of(listed)} * {len(linked)} + {place}"
        records[name] = scratch.table(name, f"select *, {item} as item from ({joined})")
        items[name] = scratch.table(
            f"items_{name}", f"select distinct item, {', '.join(listed)} from {records[name]}"
        )
    every = " union all ".join(f"select subject, item from {table}" for table in records.values())
    every = every or "select 0 as subject, 0 as item where false"
    held = scratch.table(
        "held", f"select subject, item, count(*) as times from ({every}) group by subject, item"
    )
    return Graph(scratch, numbered, items, held, paths)


def as_bytes(expression: str) -> str:
    """Return SQL of a value as bytes, which no collation takes for others."""
    return f"encode(cast({expression} as varchar))"


def _number_of(columns: Sequence[str]) -> str:
    """Return SQL of a number that rows with the same values share, NULL being one."""
    if not columns:
        return "1"
    return f"dense_rank() over (order by {', '.join(map(as_bytes, columns))})"
