"""Sources that forget people, and where texts are left."""

from __future__ import annotations

import csv

import duckdb

from tests.projects import Project
from tests.second_month.customers import SEED


def without(project: Project, *keys: str) -> None:
    """Let the source forget records."""
    path = project.folder / SEED
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row[0] not in keys]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    seeded = project.dbt("seed", "--select", "customers")
    assert seeded.succeeded, seeded.messages


def places_of(project: Project, *texts: str) -> set[str]:
    """Return the relations of which a cell is one of the texts."""
    places = set()
    with project.connection() as connection:
        tables = connection.execute(
            'select format(\'"{}"."{}"."{}"\', database_name, schema_name, table_name), '
            "list(column_name) from duckdb_columns() where not internal group by all"
        ).fetchall()
        for table, columns in tables:
            cells = " or ".join(f'cast("{column}" as varchar) in ?' for column in columns)
            sql = f"select count(*) from {table} where {cells}"
            try:
                ((count,),) = connection.execute(sql, [list(texts)] * len(columns)).fetchall()
            except duckdb.InvalidInputException:  # a view of an effort that was given up
                continue
            if count:
                places.add(table.split(".")[-1].strip('"'))
    return places
