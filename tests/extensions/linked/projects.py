"""A stranger's project with people, stays and results, and a model for each query."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tests import sampling
from tests.extensions.linked.compiled import CASES, PEOPLE, RESULTS, STAYS, arguments, query
from tests.extensions.linked.test_joined_risk import random_graph
from tests.projects import Project, copy_consumer

COLUMNS = {
    PEOPLE: ("person", "age", "illness"),
    STAYS: ("stay", "person", "ward", "month", "diagnosis"),
    RESULTS: ("stay", "test"),
}
# So many graphs, with keys of their own, are one: some classes are large enough.
GRAPHS = 20
# Queries whose results engines must agree on.
QUERIES = tuple(CASES)


def one_graph() -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of each table, drawn from several graphs."""
    tables: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}
    for number in range(GRAPHS):
        graph = random_graph(np.random.default_rng([sampling.SEED, number]))
        for name, rows in zip(COLUMNS, graph, strict=True):
            keys = [n for n, column in enumerate(COLUMNS[name]) if column in {"person", "stay"}]
            tables[name] += [
                tuple(1000 * number + v if n in keys else v for n, v in enumerate(row))
                for row in rows
            ]
    return tables


def write(folder: Path) -> Project:
    """Write the project, unbuilt."""
    project = copy_consumer(folder)
    (folder / "models" / "unit_tests.yml").unlink()
    for name, rows in one_graph().items():
        with (folder / "seeds" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS[name])
            writer.writerows(rows)
    for name in QUERIES:
        text = f"select * from (\n{query(arguments(CASES[name]))}\n) as risks\n"
        (folder / "models" / f"{name}.sql").write_text(text, encoding="utf-8")
    return project


def build(project: Project, queries: Iterable[str] = QUERIES) -> None:
    """Load the seeds and run queries."""
    project.build("-s", *(f"+{name}" for name in queries), "--exclude", "resource_type:test")
