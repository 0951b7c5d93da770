"""A spec that releases a table, for tests of all generated models."""

from __future__ import annotations

from tests.extensions.tables.test_declared import spec

SPECS = [spec({"subject": "name"}, sums=["cost"], dimensions=["age", "ward"])]
