"""Run compiled SQL on a plain in-memory DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb

from tests.oracle.generalization import IntervalHierarchy, World
from tests.properties.compilation import LEVELS, Shape

Row = dict[str, Any]


def quote(name: str) -> str:
    """Quote a column name."""
    return '"' + name.replace('"', '""') + '"'


class Warehouse:
    """A connection and the compiled statements that it can run.

    Not a dataclass: hypothesis would print all statements beside every failing example.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, statements: Mapping[str, str]
    ) -> None:
        self.connection = connection
        self.statements = statements

    def load(
        self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[object]]
    ) -> None:
        """Create or replace a table; the columns are given with their types."""
        values = list(zip(*rows, strict=True)) or [()] * len(columns)
        selected = ", ".join(
            f"unnest(cast(? as {sql_type}[])) as {quote(name)}"
            for name, sql_type in columns.items()
        )
        self.connection.execute(
            f"create or replace table {quote(table)} as select {selected}",
            [list(v) for v in values],
        )

    def load_world(self, shape: Shape, world: World) -> None:
        """Create the source, the hierarchies, the microdata and the frequencies."""
        self.load_source(shape, world)
        self.build_frequencies(shape)

    def load_source(self, shape: Shape, world: World) -> None:
        """Create the source and the hierarchies."""
        for position, hierarchy in enumerate(world.hierarchies):
            sql_type = shape.quasi_identifiers[position].sql_type
            self.load_hierarchy(shape.hierarchy(position), hierarchy, sql_type)
        columns = {
            shape.record_key: "bigint",
            shape.sensitive: "varchar",
            **{q.name: q.sql_type for q in shape.quasi_identifiers},
            shape.target: "varchar",
        }
        rows = [
            (key, r.sensitive, *r.quasi_identifiers, r.target)
            for key, r in enumerate(world.records)
        ]
        self.load(f"{shape.name}_source", columns, rows)

    def build_frequencies(self, shape: Shape) -> None:
        """Create the microdata and the frequencies."""
        self.build(f"{shape.name}_microdata")
        self.build(f"{shape.name}_frequencies")

    def load_hierarchy(
        self, table: str, hierarchy: Any, sql_type: str = "double", levels: int = LEVELS
    ) -> None:
        """Create the table of a hierarchy, or of rows that look like one."""
        is_interval = isinstance(hierarchy, IntervalHierarchy)
        leaf = (
            {"lower_bound": sql_type, "upper_bound": sql_type}
            if is_interval
            else {"value": "varchar"}
        )
        labels = {f"level_{level}": "varchar" for level in range(1, levels + 1)}
        self.load(table, {**leaf, **labels}, hierarchy.rows)

    def build(self, model: str, table: str | None = None) -> None:
        """Create or replace the table of a compiled model, under its name by default."""
        statement = self.statements[model]
        self.connection.execute(f"create or replace table {quote(table or model)} as {statement}")

    def rows(self, model: str) -> list[Row]:
        """Return what the statement of a compiled model selects."""
        cursor = self.connection.execute(self.statements[model])
        names = [column[0] for column in cursor.description or []]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def records(self, shape: Shape, model: str) -> list[Row]:
        """Return what the statement of a compiled model selects, in the order of the record key."""
        return sorted(self.rows(model), key=lambda row: int(row[shape.record_key]))
