"""Labels of records and sizes of classes in plain Python, from the warehouse's own tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import duckdb

from dbt_anonymize.spec import Spec

Label = tuple[str, ...]


class Recount:
    """The records of an anonymization as a person would generalize them.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        The warehouse.
    spec : Spec
        The anonymization.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, spec: Spec) -> None:
        self.spec = spec
        self.names = list(spec.quasi_identifiers)
        self.hierarchies = {
            name: connection.execute(f'select * from "{tree.ref}"').fetchall()
            for name, tree in spec.quasi_identifiers.items()
        }
        found = connection.execute(f'select * from "{spec.name}_microdata"')
        columns = [column[0] for column in found.description or []]
        self.records = [dict(zip(columns, row, strict=True)) for row in found.fetchall()]

    def label(self, name: str, value: Any, level: int) -> str:
        """Return the label of a value at a level."""
        if value is None:
            return "*"
        tree = self.spec.quasi_identifiers[name]
        if level == 0:
            return str(value)
        for row in self.hierarchies[name]:
            if tree.kind == "interval" and row[0] <= value < row[1]:
                return str(row[1 + level])
            if tree.kind == "categorical" and str(row[0]) == str(value):
                return str(row[level])
        raise AssertionError(name)

    def labels(self, record: dict[str, Any], node: Sequence[int]) -> Label:
        """Return the labels of a record."""
        return tuple(
            self.label(name, record[name], level)
            for name, level in zip(self.names, node, strict=True)
        )

    def share(self, name: str, label: str, level: int) -> float:
        """Return how much of the hierarchy a label covers."""
        if label == "*":
            return 1.0
        rows = self.hierarchies[name]
        if self.spec.quasi_identifiers[name].kind == "categorical":
            return sum(str(row[level]) == label for row in rows) / len(rows)
        if level == 0:
            return 0.0
        inside = [row for row in rows if str(row[1 + level]) == label]
        width = max(row[1] for row in rows) - min(row[0] for row in rows)
        return float((max(row[1] for row in inside) - min(row[0] for row in inside)) / width)

    def classes(self, node: Sequence[int]) -> Counter[Label]:
        """Return the records of each class."""
        return Counter(self.labels(record, node) for record in self.records)

    def released(self, node: Sequence[int], k: int) -> tuple[int, int]:
        """Return the size of the smallest class that stays, and the records that go."""
        sizes = self.classes(node).values()
        return min((n for n in sizes if n >= k), default=0), sum(n for n in sizes if n < k)
