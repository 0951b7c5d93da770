"""Tables whose records lead to those of another table, as tests and foreign keys declare it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbt_anonymize.project.warehouse import Warehouse
from dbt_anonymize.spec.sources import Source

_TESTS = {"relationships", "relationships_where"}
_QUOTED = re.compile(r"""['"]([^'"]+)['"]""")
_FOREIGN_KEYS = """
select
    database_name, schema_name, table_name, referenced_table,
    constraint_column_names, referenced_column_names
from duckdb_constraints()
where constraint_type = 'FOREIGN KEY'
order by all
"""


@dataclass(frozen=True)
class Link:
    """A column of a table, the child, with keys of another one; tables by their ids of dbt."""

    child: str
    column: str
    parent: str
    field: str
    declared_by: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Both columns, in any case, and both tables."""
        return self.child, self.column.lower(), self.parent, self.field.lower()


@dataclass(frozen=True)
class Around:
    """Tables that lead to a subject: the link of each, by its id, parents first.

    ``ambiguous`` has several links of each table that leads there by more than one path, and
    ``elsewhere`` links to columns of the subject that are not its record key.
    """

    links: Mapping[str, Link]
    ambiguous: Mapping[str, Sequence[Link]]
    elsewhere: Sequence[Link]


def find_links(warehouse: Warehouse) -> list[Link]:
    """Return the links between tables of a project, each once."""
    found = [
        *_links_of_tests(warehouse.manifest),
        *_links_of_constraints(warehouse.manifest),
        *(_links_of_keys(warehouse) if warehouse.is_duckdb else ()),
    ]
    return list({link.key: link for link in reversed(found)}.values())[::-1]


def find_around(
    links: Sequence[Link], subject: str, key: str | None, chosen: Mapping[str, str] | None = None
) -> Around:
    """Return the tables that lead to the records of a subject, whose key is a column.

    ``chosen`` names the column, by table, that is followed where there are several paths.
    """
    columns = {child: column.lower() for child, column in (chosen or {}).items()}
    usable = [
        link
        for link in links
        if link.child not in {subject, link.parent}
        and columns.get(link.child, link.column.lower()) == link.column.lower()
    ]
    elsewhere = [
        link for link in usable if link.parent == subject and link.field.lower() != str(key).lower()
    ]
    usable = [link for link in usable if link not in elsewhere]
    reached = {subject}
    while more := {link.child for link in usable if link.parent in reached} - reached:
        reached |= more
    paths = {
        child: [link for link in usable if link.child == child and link.parent in reached]
        for child in dict.fromkeys(link.child for link in usable if link.child in reached)
    }
    taken: dict[str, Link] = {}
    while more := {
        child
        for child, (first, *others) in paths.items()
        if not others and child not in taken and first.parent in {subject, *taken}
    }:
        taken |= {child: paths[child][0] for child in paths if child in more}
    ambiguous = {child: several for child, several in paths.items() if len(several) > 1}
    return Around(taken, ambiguous, elsewhere)


def node_id(warehouse: Warehouse, declared: Source) -> str:
    """Return dbt's id of a declared relation; "" without one."""
    manifest = warehouse.manifest
    if declared.ref is not None:
        return next((i for i, n in _tables(manifest) if n.name == declared.ref), "")
    pair = tuple(declared.source or ())
    return next((i for i, n in manifest.sources.items() if (n.source_name, n.name) == pair), "")


def source_of(warehouse: Warehouse, table: str) -> Source:
    """Return how a spec declares a table of an id."""
    if node := warehouse.manifest.sources.get(table):
        return Source(source=(node.source_name, node.name))
    return Source(ref=warehouse.manifest.nodes[table].name)


def _tables(manifest: Any) -> Iterator[tuple[str, Any]]:
    kinds = {"model", "seed", "snapshot"}
    return ((i, node) for i, node in manifest.nodes.items() if node.resource_type in kinds)


def _named(manifest: Any, text: str | None) -> str:
    """Return the id of the table that a text names by ref() or source(); "" without one."""
    names = {node.name: table for table, node in _tables(manifest)}
    names |= {f"{n.source_name}.{n.name}": table for table, n in manifest.sources.items()}
    words = _QUOTED.findall(text or "")
    return names.get(".".join(words) if "source(" in str(text) else "".join(words[-1:]), "")


def _links_of_tests(manifest: Any) -> Iterator[Link]:
    for node in manifest.nodes.values():
        test = getattr(node, "test_metadata", None)
        if test is None or test.name not in _TESTS:
            continue
        # Tests of sources are attached to no node.
        child = node.attached_node or _named(manifest, test.kwargs.get("model"))
        column = test.kwargs.get("column_name") or node.column_name
        parents = [one for one in node.depends_on.nodes if one != child]
        if child and column and len(parents) == 1 and test.kwargs.get("field"):
            plain = [str(name).strip('`"') for name in (column, test.kwargs["field"])]
            yield Link(child, plain[0], parents[0], plain[1], f"test {test.name}")


def _links_of_constraints(manifest: Any) -> Iterator[Link]:
    """Yield foreign keys that properties of models declare, of one column each."""
    for child, node in _tables(manifest):
        declared = [(one.columns, one) for one in getattr(node, "constraints", None) or ()]
        declared += [
            ([column.name], one) for column in node.columns.values() for one in column.constraints
        ]
        for columns, one in declared:
            is_single = len(columns) == len(one.to_columns) == 1
            is_key = str(getattr(one.type, "value", one.type)) == "foreign_key"
            if is_key and is_single and (parent := _named(manifest, one.to)):
                yield Link(child, columns[0], parent, one.to_columns[0], "foreign key")


def _links_of_keys(warehouse: Warehouse) -> Iterator[Link]:
    """Yield foreign keys of the warehouse between tables that the project declares."""
    manifest = warehouse.manifest
    nodes = [*_tables(manifest), *manifest.sources.items()]
    places = {
        tuple(
            str(part).lower()
            for part in (n.database, n.schema, getattr(n, "alias", None) or n.identifier)
        ): table
        for table, n in nodes
    }
    for database, schema, table, referenced, columns, fields in warehouse.rows(_FOREIGN_KEYS):
        child, parent = (
            places.get((database.lower(), schema.lower(), name.lower()))
            for name in (table, referenced)
        )
        if child and parent and len(columns) == len(fields) == 1:
            yield Link(child, columns[0], parent, fields[0], "foreign key")
