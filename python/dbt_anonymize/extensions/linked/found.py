"""Subjects whom own values and some linked records find."""

# ruff: noqa: S608 (names are ours, and no value of a table gets into a statement)

from __future__ import annotations

from typing import Literal

import numpy as np

from dbt_anonymize.extensions.linked.graph import Graph
from dbt_anonymize.extensions.linked.suppression.matching import (
    items_of,
    rare_sets,
    subjects_with_rare_lists,
)
from dbt_anonymize.extensions.linked.suppression.memory import memory_by_default
from dbt_anonymize.extensions.linked.suppression.records import combined_codes


def found_subjects(
    graph: Graph, k: int, known_records: int | Literal["all"], *, known_count: bool = False
) -> int:
    """Count the subjects of whom fewer than k match something that may be known.

    That is own values and up to ``known_records`` linked records, or all; with ``known_count`` also
    how many records she has in each table. Combinations that do not fit into memory are a
    `LinkError`.
    """
    own = graph.scratch.arrays(f"select class from {graph.subjects} order by subject")["class"]
    held = graph.scratch.arrays(
        f"select subject - 1 as subject, item, times from {graph.held} order by subject, item"
    )
    subject, item, times = (held[name].astype(np.int64) for name in ("subject", "item", "times"))
    seen = own.astype(np.int64)
    for place in range(len(graph.items)) if known_count else ():
        here = item % len(graph.items) == place
        numbers = np.bincount(subject[here], times[here], len(seen)).astype(np.int64)
        seen = combined_codes(seen, numbers)
    is_found = np.bincount(seen)[seen] < k
    most = times if known_records == "all" else np.minimum(times, known_records)
    subject, item = np.repeat(subject, most), np.repeat(item, most)
    items = items_of(np.arange(len(item)), subject, seen[subject], item)
    if known_records == "all":
        is_found[subjects_with_rare_lists(items, seen, k)] = True
    else:
        for sets in rare_sets(items, k, known_records, memory_by_default(), every=True):
            is_found[items.subject[sets[:, 0]]] = True
    return int(is_found.sum())
