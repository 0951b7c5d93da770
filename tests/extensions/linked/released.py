"""The tables of a release file of the hospital, and its people with their records."""

from __future__ import annotations

from typing import Any

import duckdb

from tests.oracle.linked import Subject
from tests.projects import Project


def released(project: Project) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table of the release file."""
    with duckdb.connect(str(project.release_file("hospital")), read_only=True) as file:
        names = [
            name for (name,) in file.execute("select table_name from duckdb_tables()").fetchall()
        ]
        return {
            name.removeprefix("hospital_"): file.sql(f'from "{name}"').df().to_dict("records")
            for name in names
        }


def subjects(project: Project) -> list[Subject]:
    """Return everybody in the file with the records that lead to her, each with its stay."""
    file = released(project)
    people = {row["token"]: Subject(row["age"]) for row in file["anonymized"]}
    stays = {}
    for row in file["released_stays"]:
        value = ("stay", row["ward"], row["month"])
        stays[row["stays_key"]] = (row["token"], value)
        people[row["token"]].records.append(value)
    for row in file["released_results"]:
        token, stay = stays[row["stays_key"]]
        people[token].records.append(("result", row["test"], stay))
    return list(people.values())
