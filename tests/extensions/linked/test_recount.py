"""The recount of `verify`, against the definition on random graphs."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any, Literal

import duckdb
import numpy as np
import pytest

from dbt_anonymize.extensions.linked.graph import Graph, Rows, read_graph
from dbt_anonymize.extensions.linked.scratch import Scratch
from dbt_anonymize.extensions.linked.verification.recount import Count, Sensitive, count_matches
from tests import sampling
from tests.extensions.linked.test_joined_risk import random_graph, subjects_of
from tests.oracle.linked import Subject, found_by

GRAPHS = sampling.number_of("random graphs that verify counts", 200, 16)
Known = int | Literal["all"]
RULES: list[tuple[Known, bool]] = [(1, False), (2, False), (2, True), (3, False)]
RULES += [("all", False), ("all", True)]


@pytest.fixture
def scratch() -> Iterator[Scratch]:
    with duckdb.connect() as connection, Scratch(connection) as scratch:
        yield scratch


def read(scratch: Scratch, graph: tuple[list[Any], list[Any], list[Any]]) -> Graph:
    """Load people, stays and results, and read them as a graph."""
    people, stays, results = graph
    columns = {
        "people": ("person bigint, age varchar, illness varchar", people),
        "stays": ("stay bigint, person bigint, ward varchar, month int, diagnosis varchar", stays),
        "results": ("stay bigint, test varchar", results),
    }
    for name, (types, rows) in columns.items():
        scratch.rows(f"create or replace table {name} ({types})")
        listed = ", ".join(
            f"({', '.join('null' if v is None else repr(v) for v in row)})" for row in rows
        )
        scratch.rows(f"insert into {name} values {listed}" if rows else "select 1")
    return read_graph(
        scratch,
        Rows("people", "person", ["age"]),
        {
            "stays": Rows("stays", "stay", ["ward", "month"], "person"),
            "results": Rows("results", "rowid", ["test"], "stay", "stays"),
        },
    )


def expected(subjects: list[Subject], known: int | None, k: int) -> Count:
    """Count those who match each combination of own values and so many records, or all."""
    held = [(one.own, Counter(one.records)) for one in subjects]
    combinations = {
        (own, frozenset(Counter(chosen).items()))
        for own, records in held
        for chosen in itertools.combinations(
            records.elements(), records.total() if known is None else known
        )
    }
    matching = [
        sum(
            of == own
            and (records == Counter(dict(chosen)) if known is None else True)
            and Counter(dict(chosen)) <= records
            for of, records in held
        )
        for own, chosen in combinations
    ]
    below = sum(number < k for number in matching)
    return Count(known, len(matching), min(matching, default=None), below)


@pytest.mark.parametrize("rule", RULES)
def test_as_many_match_as_by_the_definition(scratch: Scratch, rule: tuple[Known, bool]) -> None:
    known, known_count = rule
    limits = [None] if known == "all" else list(range(known + 1))
    for number in range(GRAPHS):
        graph = random_graph(np.random.default_rng([sampling.SEED, number]))
        subjects = subjects_of(*graph, with_numbers=known_count)
        k = 2 + number % 4
        counts = list(
            count_matches(read(scratch, graph), k, known, known_count=known_count, at_a_time=20)
        )
        assert counts == [expected(subjects, limit, k) for limit in limits], (number, k)
        found, _ = found_by(subjects, limits[-1], k)
        assert bool(found) == any(count.below for count in counts), (number, k)


@pytest.mark.parametrize("rule", [(1, False), (2, False), (2, True), ("all", False)])
def test_what_tells_a_sensitive_value_is_found(scratch: Scratch, rule: tuple[Known, bool]) -> None:
    known, known_count = rule
    for number in range(GRAPHS):
        people, stays, results = random_graph(np.random.default_rng([sampling.SEED, number]))
        graph, diversity = read(scratch, (people, stays, results)), 2 + number % 2
        values = scratch.table(
            "values",
            "select distinct subject, attribute, value from "
            "(select encode(cast(person as varchar)) as key, 'illness' as attribute, "
            "illness as value from people union all "
            "select encode(cast(person as varchar)), 'diagnosis', diagnosis from stays) "
            f"inner join {graph.subjects} using (key)",
        )
        sensitive = Sensitive(values, diversity)
        counts = count_matches(graph, 2, known, known_count=known_count, sensitive=sensitive)
        told = sum(count.told for count in counts)
        subjects = subjects_of(people, stays, results, with_numbers=known_count)
        # With k = 1 each combination is asked.
        _, found = found_by(subjects, None if known == "all" else known, 1, diversity)
        assert bool(told) == bool(found), number


def test_too_many_combinations_are_not_counted(scratch: Scratch) -> None:
    people = [(n, "old", "flu") for n in range(3)]
    stays = [(n, n % 3, "a", n, "p") for n in range(30)]
    counts = list(count_matches(read(scratch, (people, stays, [])), 2, 3, most=200))
    assert counts == [
        Count(0, 1, 3, 0),
        Count(1, 30, 1, 30),
        Count(2, 135, 1, 135),
        Count(3, 360),
    ]


def test_nobody_is_counted(scratch: Scratch) -> None:
    empty = read(scratch, ([], [], []))
    assert list(count_matches(empty, 2, 1)) == [Count(0, 0, None, 0), Count(1, 0, None, 0)]
    assert list(count_matches(empty, 2, "all")) == [Count(None, 0, None, 0)]
