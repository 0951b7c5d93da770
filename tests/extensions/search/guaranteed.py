"""Guarantees as tables of classes are checked for them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dbt_anonymize.privacy.table import (
    Node,
    Table,
)
from tests.oracle import records
from tests.oracle import search as recount

Declared = dict[str, Any]


def presence(_table: Table) -> st.SearchStrategy[Declared]:
    return st.tuples(st.sampled_from([0, 0.1, 0.25, 0.5]), st.sampled_from([0.5, 0.75, 1])).map(
        lambda pair: {"model": "delta_presence", "minimum": pair[0], "maximum": pair[1]}
    )


def violating_of(table: Table, node: Node, declared: list[Declared]) -> list[bool]:
    return [
        bool(c.records) and any(recount.is_violating(table, one, c) for one in declared)
        for c in records.classes_of(table, node)
    ]
