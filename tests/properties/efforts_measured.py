"""Random efforts whose information loss is measured."""

from __future__ import annotations

import itertools
from typing import Any

from tests.oracle.information_loss import Effort
from tests.properties.batch import Batch
from tests.properties.measured import EFFORTS, TABLES, Measured
from tests.properties.warehouse import Row, Warehouse

MIXED, SINGLE, ODD = TABLES


SQL_TYPES = {"age": "double", "größe": "date"}


def load(warehouse: Warehouse, table: Measured, drawn: list[Effort]) -> None:
    """Create hierarchies, frequencies and classes as the other relations would make them."""
    found = drawn[0].people
    columns, class_columns = {}, {"effort": "integer"}
    for position, (name, kind) in enumerate(table.kinds):
        raw_type = SQL_TYPES.get(name, "varchar")
        leaf_type = raw_type if kind == "interval" else "varchar"
        warehouse.load_hierarchy(
            f"{table.name}_hierarchy_{position}", found.hierarchies[position], raw_type
        )
        columns |= {name: raw_type, f"{name}_leaf": leaf_type}
        class_columns |= {name: "varchar", f"{name}_share": "double", f"{name}_level": "integer"}
    counts: dict[tuple[Any, ...], int] = {}
    for raw, target in found.records:
        leaves = (
            None if value is None else hierarchy.leaf_name(value)
            for value, hierarchy in zip(raw, found.hierarchies, strict=True)
        )
        key = (*itertools.chain(*zip(raw, leaves, strict=True)), target)
        counts[key] = counts.get(key, 0) + 1
    warehouse.load(
        f"{table.name}_frequencies",
        {**columns, "target": "varchar", "records": "bigint"},
        [(*key, records) for key, records in counts.items()],
    )
    rows = []
    for number, effort in enumerate(drawn):
        for labels, members in effort.classes.items():
            shown = effort.class_shown[labels]
            (_, most), *others = effort.targets(labels).most_common()
            rows.append(
                (
                    number,
                    *itertools.chain(*((s.label, s.share, s.level) for s in shown)),
                    len(members),
                    most,
                    not (others and others[0][1] == most),
                    labels in effort.suppressed,
                )
            )
    warehouse.load(
        f"{table.name}_classes",
        {
            **class_columns,
            "records": "bigint",
            "majority_records": "bigint",
            "has_majority": "boolean",
            "is_suppressed": "boolean",
        },
        rows,
    )


def load_each(warehouse: Warehouse, table: Measured, tables: list[list[Effort]]) -> Batch:
    batch = Batch(warehouse)
    for drawn in tables:
        batch.begin()
        load(batch, table, drawn)
    return batch


def measured(batch: Batch, model: str) -> list[list[Row]]:
    """Return the rows of each table in the order of the efforts."""
    found = [sorted(rows, key=lambda row: int(row["effort"])) for rows in batch.rows_of_each(model)]
    assert all([row["effort"] for row in rows] == list(EFFORTS) for rows in found)
    return found
