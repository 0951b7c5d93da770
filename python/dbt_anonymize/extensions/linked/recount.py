"""(k, k^m)-anonymity counted from released rows: every combination, in plain SQL.

It shares nothing with the build, neither its macros nor its decisions: each multiset of a subject's
records is written down, and equal ones are counted. None is left out because a smaller one is rare.
"""

# ruff: noqa: S608 (names are ours, and no value of a table gets into a statement)

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from dbt_anonymize.extensions.linked.graph import Graph
from dbt_anonymize.extensions.linked.scratch import Scratch

# Combinations of subjects that are written down at a time, which bounds memory.
_AT_A_TIME = 4_000_000
# More take hours.
MOST_COMBINATIONS = 3_000_000_000
# Copies of an item are told apart by so many numbers; `known_records` is smaller.
_COPIES = 8


@dataclass(frozen=True)
class Count:
    """Combinations of so many ``known`` records, or of all (None).

    ``fewest`` is the smallest number of subjects who match one, None if there is no combination;
    ``below`` is how many combinations fewer than k match, None if there are too many to be counted;
    ``combinations`` then says of how many subjects and combinations.
    """

    known: int | None
    combinations: int
    fewest: int | None = None
    below: int | None = None


def count_matches(
    graph: Graph,
    k: int,
    known_records: int | Literal["all"],
    *,
    known_count: bool = False,
    at_a_time: int = _AT_A_TIME,
    most: int = MOST_COMBINATIONS,
) -> Iterator[Count]:
    """Count the subjects who match each combination of own values and known records.

    Yields a `Count` for each number of known records, from 0, or one for all of them.
    """
    scratch, classes = graph.scratch, _known_classes(graph, known_count=known_count)
    if known_records == "all":
        yield _counted(scratch, None, k, [_lists(graph, classes)])
        return
    yield _counted(scratch, 0, k, [f"select count(*) as subjects from {classes} group by class"])
    items = scratch.table(
        "copies",
        f"select subject, class, item * {_COPIES} + copy as item from (select subject, item, "
        f"unnest(range(least(times, {known_records}))) as copy from {graph.held}) "
        f"inner join {classes} using (subject)",
    )
    for number in range(1, known_records + 1):
        sizes = f"select cast(count(*) as double) as items from {items} group by subject"
        most_sets = " * ".join(f"(items - {n}) / {n + 1}" for n in range(number))
        total = int(scratch.row(f"select coalesce(sum({most_sets}), 0) from ({sizes})")[0])
        if total > most:
            yield Count(number, total)
            continue
        parts = math.ceil(total / at_a_time)
        queries = (_sets(items, number, part, parts) for part in range(parts))
        yield _counted(scratch, number, k, queries)


def _known_classes(graph: Graph, *, known_count: bool) -> str:
    """Return a table of the class of each subject: own values, and known numbers of records."""
    if not known_count:
        return graph.scratch.table("classes", f"select subject, class from {graph.subjects}")
    numbers = [
        f"coalesce(sum(times) filter (where item % {len(graph.items)} = {place}), 0)"
        for place in range(len(graph.items))
    ]
    counted = (
        f"select subject, class, {', '.join(f'{n} as number_{i}' for i, n in enumerate(numbers))} "
        f"from {graph.subjects} left join {graph.held} using (subject) group by subject, class"
    )
    ordered = ", ".join(f"number_{place}" for place in range(len(numbers)))
    return graph.scratch.table(
        "classes",
        f"select subject, dense_rank() over (order by class, {ordered}) as class from ({counted})",
    )


def _lists(graph: Graph, classes: str) -> str:
    """Return SQL of the lists of all records, each with its number of subjects."""
    listed = (
        "select subject, list(item order by item) as items, list(times order by item) as times "
        f"from {graph.held} group by subject"
    )
    return (
        f"select count(*) as subjects from {classes} left join ({listed}) using (subject) "
        "group by class, items, times"
    )


def _sets(items: str, number: int, part: int, parts: int) -> str:
    """Return SQL of the combinations in a part, each with its number of subjects.

    Items of a combination ascend. A further copy of a record follows the one before it, so that
    each multiset stands there once. Those with the same class and first item are in one part.
    """
    names = [f"item_{place}" for place in range(1, number + 1)]
    columns = ", ".join(f"{name}.item as {name}" for name in names)
    joins = "".join(
        f" inner join {items} as {name} on {name}.subject = item_1.subject "
        f"and {name}.item > {before}.item "
        f"and ({name}.item % {_COPIES} = 0 or {name}.item = {before}.item + 1)"
        for before, name in pairwise(names)
    )
    return (
        f"select count(*) as subjects from (select item_1.class as class, {columns} "
        f"from {items} as item_1{joins} where item_1.item % {_COPIES} = 0 "
        f"and hash(item_1.class, item_1.item) % {parts} = {part}) "
        f"group by class, {', '.join(names)}"
    )


def _counted(scratch: Scratch, number: int | None, k: int, queries: Iterable[str]) -> Count:
    combinations, below, fewest = 0, 0, None
    for query in queries:
        found, least, rare = scratch.row(
            f"select count(*), min(subjects), count(*) filter (where subjects < {k}) from ({query})"
        )
        combinations, below = combinations + found, below + rare
        fewest = min(filter(None, (fewest, least)), default=None)
    return Count(number, combinations, fewest, below)
