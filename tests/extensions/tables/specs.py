"""Specs that release a table, for tests of all generated models."""

from __future__ import annotations

from tests.extensions.tables.test_declared import spec

SPECS = [
    spec(
        {
            "subject": "name",
            "details": ["table_audit"],
            "release": {"composition": "strict"},
        },
        sums=["cost"],
        dimensions=["age", "ward"],
        subtotals={"age": [1]},
        intervals=True,
    ),
    spec(
        {"name": "stays", "subject": "name", "details": ["table_audit"]},
        counts="records",
        intervals=True,
    ),
]
