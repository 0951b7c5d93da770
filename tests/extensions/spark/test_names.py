"""Names on Spark, whose metastore keeps them in lower case."""

from __future__ import annotations

from typing import Any, cast

from dbt_anonymize.extensions.spark.engine import stored_columns
from dbt_anonymize.project.warehouse import Warehouse


class Metastore:
    """Stand-in for Spark: one database, `shop`, with a table and a view."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        if sql == "show schemas":
            return [("default",), ("shop",)]
        if sql.startswith("show tables"):
            return [("shop", "visits", False), ("shop", "shown", False)]
        if sql.startswith("show views"):
            return [("shop", "shown", False)]
        assert sql == "describe table `Shop`.`visits`"
        return [("name", "string", None)]


def test_a_schema_is_searched_however_the_profile_writes_it() -> None:
    """Else nothing would be searched, and nothing found."""
    warehouse = cast("Warehouse", Metastore())
    assert stored_columns(warehouse, ["Shop", "elsewhere"]) == [
        ("Shop", "visits", "name", "string")
    ]
