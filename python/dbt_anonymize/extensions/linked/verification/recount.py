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
    ``combinations`` then says of how many subjects and combinations. ``told`` is how many
    combinations tell a sensitive value, where that is asked.
    """

    known: int | None
    combinations: int
    fewest: int | None = None
    below: int | None = None
    told: int = 0


@dataclass(frozen=True)
class Sensitive:
    """Sensitive values: a table of ``subject``, ``attribute`` and ``value``, each once.

    Of those who match no more than a share of 1 / ``diversity`` may have the same.
    """

    values: str
    diversity: int

    def told(self, matches: str, columns: str) -> str:
        """Return SQL of the number of combinations that tell a value."""
        return (
            f"with matches as materialized ({matches}), "
            f"support as (select {columns}, count(*) as subjects from matches group by {columns}), "
            f"held as (select {columns}, max(holders) as holders from (select {columns}, "
            f"count(*) as holders from matches inner join {self.values} using (subject) "
            f"group by {columns}, attribute, value) group by {columns}) "
            f"select count(*) from held inner join support using ({columns}) "
            f"where holders * {self.diversity} > subjects"
        )


def count_matches(
    graph: Graph,
    k: int,
    known_records: int | Literal["all"],
    *,
    known_count: bool = False,
    sensitive: Sensitive | None = None,
    at_a_time: int = _AT_A_TIME,
    most: int = MOST_COMBINATIONS,
) -> Iterator[Count]:
    """Count the subjects who match each combination of own values and known records.

    Yields a `Count` for each number of known records, from 0, or one for all of them.
    """
    scratch, classes = graph.scratch, _known_classes(graph, known_count=known_count)
    counting = _Counting(scratch, k, sensitive)
    if known_records == "all":
        yield counting.count(None, [_lists(graph, classes)])
        return
    yield counting.count(0, [(f"select subject, class from {classes}", "class")])
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
        yield counting.count(number, queries)


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


def _lists(graph: Graph, classes: str) -> tuple[str, str]:
    """Return SQL of the list of all records of each subject, and its columns."""
    listed = (
        "select subject, list(item order by item) as items, list(times order by item) as times "
        f"from {graph.held} group by subject"
    )
    return (
        "select subject, class, coalesce(items, []) as items, coalesce(times, []) as times "
        f"from {classes} left join ({listed}) using (subject)",
        "class, items, times",
    )


def _sets(items: str, number: int, part: int, parts: int) -> tuple[str, str]:
    """Return SQL of the combinations in a part, with each subject who matches, and their columns.

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
        f"select item_1.subject as subject, item_1.class as class, {columns} "
        f"from {items} as item_1{joins} where item_1.item % {_COPIES} = 0 "
        f"and hash(item_1.class, item_1.item) % {parts} = {part}",
        f"class, {', '.join(names)}",
    )


@dataclass(frozen=True)
class _Counting:
    scratch: Scratch
    k: int
    sensitive: Sensitive | None

    def count(self, number: int | None, queries: Iterable[tuple[str, str]]) -> Count:
        """Count combinations of so many records, of matches by query and columns."""
        combinations, below, told, fewest = 0, 0, 0, None
        for matches, columns in queries:
            found, least, rare = self.scratch.row(
                "select count(*), min(subjects), "
                f"count(*) filter (where subjects < {self.k}) from "
                f"(select count(*) as subjects from ({matches}) group by {columns})"
            )
            combinations, below = combinations + found, below + rare
            fewest = min(filter(None, (fewest, least)), default=None)
            if self.sensitive:
                told += self.scratch.row(self.sensitive.told(matches, columns))[0]
        return Count(number, combinations, fewest, below, told)
