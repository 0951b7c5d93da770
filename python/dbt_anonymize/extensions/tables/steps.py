"""The step of a table: its efforts, protected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from dbt_anonymize.extensions.tables.declared import Table
from dbt_anonymize.project.steps import Step
from dbt_anonymize.spec import Spec


def steps_of(spec: Spec) -> Iterator[Step]:
    """Yield the step that protects the table in each way."""
    table: Table | None = cast(Any, spec).table
    if table is not None:
        columns: dict[str, Any] = {"effort": "whole", "kind": "text"}
        columns |= dict.fromkeys(table.dimensions, "text")
        columns |= {**dict.fromkeys(table.level_columns.values(), "whole"), "cell": "text"}
        columns |= dict.fromkeys((table.counts, *table.interval), "whole")
        columns |= {**dict.fromkeys(table.sums, "number"), "status": "text", "measure": "text"}
        numbers = ("lowest", "highest", "demanded", "qf", "zero_rule", "qnf")
        columns |= dict.fromkeys(numbers, "number")
        after = (f"{spec.name}_table_cells", f"{spec.name}_table_labels")
        yield Step(spec.name, "table_efforts", {**columns, "refusal": "text"}, after=after)
