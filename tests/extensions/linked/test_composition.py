"""Differences of two linked releases, as counted by hand and as a build says them."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from dbt_anonymize.extensions.linked.composition import compare
from tests import sampling
from tests.oracle.linked import Subject, found_by

PAIRS = sampling.number_of("pairs of linked releases that are compared", 200, 12)
KNOWN = (1, 2, "all")
DECLARED: dict[str, Any] = {
    "known_count": False,
    "tables": [
        {"name": "subjects", "relation": "people", "columns": ["age"]},
        {
            "name": "stays",
            "relation": "stays",
            "columns": ["ward"],
            "over": "subjects",
            "parent": "token",
        },
        {
            "name": "results",
            "relation": "results",
            "columns": ["test"],
            "over": "stays",
            "parent": "stays_key",
        },
    ],
}
# A person: age, a kept column, and stays; a stay: ward, a kept column, and tests.
Stay = tuple[str, int, tuple[str, ...]]
Person = tuple[str, str, tuple[Stay, ...]]


def random_release(draw: random.Random) -> list[Person]:
    def stay() -> Stay:
        tests = tuple(sorted(draw.choices("ab", k=draw.randrange(2))))
        return (draw.choice("xy"), draw.randrange(2), tests)

    return [
        (draw.choice("01"), draw.choice("fm"), tuple(sorted(stay() for _ in range(number))))
        for number in draw.choices([0, 1, 2], k=12)
    ]


def changed(release: list[Person], draw: random.Random) -> list[Person]:
    """Return a release after some left, some joined, and labels of one changed."""
    kept = draw.sample(release, len(release) - draw.randrange(4))
    joined = random_release(draw)[: draw.randrange(4)]
    place = draw.randrange(len(kept))
    age, sex, stays = kept[place]
    moved = sorted((draw.choice("xy"), cost, tests) for _, cost, tests in stays)
    kept[place] = (age, sex, tuple(moved))
    return kept + joined


def load(engine: duckdb.DuckDBPyConnection, database: str, release: list[Person]) -> None:
    engine.execute(f"attach ':memory:' as {database}; use {database}")
    engine.execute("create table people (token int, age text, sex text)")
    engine.execute("create table stays (stays_key int, token int, ward text, cost int)")
    engine.execute("create table results (results_key int, stays_key int, test text)")
    keys = itertools.count(random.Random(database).randrange(1000))
    for age, sex, stays in random.Random(database).sample(release, len(release)):
        token = next(keys)
        engine.execute("insert into people values (?, ?, ?)", [token, age, sex])
        for ward, cost, tests in stays:
            stay = next(keys)
            engine.execute("insert into stays values (?, ?, ?, ?)", [stay, token, ward, cost])
            for test in tests:
                engine.execute("insert into results values (?, ?, ?)", [next(keys), stay, test])


def told(
    engine: duckdb.DuckDBPyConnection, k: int, known: int | str = 2, **declared: Any
) -> list[str]:
    """Return what the difference of the loaded releases tells."""
    given = {**DECLARED, "known_records": known, **declared}
    return list(compare(engine, "earlier", "later", k, given))


def without_labels(person: Person) -> Any:
    _, sex, stays = person
    return sex, tuple(sorted((cost, len(tests)) for _, cost, tests in stays))


def with_own_labels(person: Person) -> Any:
    return person[0], without_labels(person)


def found(release: list[Person], known: int | str, k: int) -> int:
    subjects = [
        Subject(
            age,
            [("stay", ward) for ward, _, _ in stays]
            + [("test", test, ward) for ward, _, tests in stays for test in tests],
        )
        for age, _, stays in release
    ]
    return len(found_by(subjects, None if known == "all" else int(known), k)[0])


def by_hand(earlier: list[Person], later: list[Person], known: int | str, k: int) -> list[int]:
    """Count who changed and is found in each release, by the worse way to subtract."""
    ways = []
    rest = [
        list((Counter(mine) - Counter(theirs)).elements())
        for mine, theirs in ((earlier, later), (later, earlier))
    ]
    for alike in (without_labels, with_own_labels):
        numbers = []
        for mine, theirs in (rest, rest[::-1]):
            more = Counter(map(alike, mine)) - Counter(map(alike, theirs))
            alone = [one for one in mine if alike(one) in more]
            numbers += [len(alone), found(alone, known, k)]
        ways.append(numbers)
    return max(ways, key=lambda numbers: numbers[1] + numbers[3])


@pytest.fixture
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as engine:
        yield engine


@pytest.mark.parametrize("seed", range(PAIRS))
def test_whom_the_difference_finds_is_as_counted_by_hand(
    seed: int, engine: duckdb.DuckDBPyConnection
) -> None:
    draw = random.Random(seed)
    earlier = random_release(draw)
    later = changed(earlier, draw)
    known, k = KNOWN[seed % len(KNOWN)], draw.choice([2, 3])
    load(engine, "earlier", earlier)
    load(engine, "later", later)

    said = told(engine, k, known)

    all_left, left, all_joined, joined = by_hand(earlier, later, known, k)
    people = "person" if all_joined == 1 else "people"
    wanted = (
        f"fewer than {k} people match what is known of {joined} of the {all_joined} {people} who "
        f"joined or have other records now, and of {left} of the {all_left} who left or had other "
        "records"
    )
    assert said == ([wanted] if left or joined else [])


def test_new_keys_and_another_order_are_no_difference(engine: duckdb.DuckDBPyConnection) -> None:
    release = random_release(random.Random(5))
    load(engine, "earlier", release)
    load(engine, "later", release)

    assert not told(engine, 5)


def test_labels_that_others_have_each_time_are_no_difference(
    engine: duckdb.DuckDBPyConnection,
) -> None:
    """Nobody learns who joined from records that are raised because of others."""
    release: list[Person] = [("0", "f", (("x", cost, ()),)) for cost in range(9)]
    raised: list[Person] = [("0", "f", (("*", cost, ()),)) for cost in range(9)]
    load(engine, "earlier", release)
    load(engine, "later", [*raised[:2], *release[2:]])

    assert not told(engine, 5)


def test_a_release_without_linked_tables_before_is_compared_by_people(
    engine: duckdb.DuckDBPyConnection,
) -> None:
    release = random_release(random.Random(5))
    load(engine, "earlier", release)
    engine.execute("drop table stays; drop table results")
    load(engine, "later", release[1:])

    (said,) = told(engine, 2)

    assert (
        "of 0 of the 0 people who joined or have other records now, and of 1 of the 1 who" in said
    )


def test_a_release_without_tokens_before_is_not_compared_here(
    engine: duckdb.DuckDBPyConnection,
) -> None:
    release = random_release(random.Random(5))
    load(engine, "earlier", release)
    engine.execute("drop table stays; drop table results; alter table people drop column token")
    load(engine, "later", release)

    assert not told(engine, 2)


def test_a_kept_column_of_another_type_is_not_compared(
    engine: duckdb.DuckDBPyConnection,
) -> None:
    release = random_release(random.Random(5))
    load(engine, "earlier", release)
    load(engine, "later", release)
    engine.execute("alter table stays alter cost type double")

    assert not told(engine, 5)


def test_what_was_kept_and_is_generalized_since_was_no_label(
    engine: duckdb.DuckDBPyConnection,
) -> None:
    """Exact costs of the earlier file find everybody in it, with the later one or without."""
    release: list[Person] = [("0", "f", (("x", cost, ()),)) for cost in range(9)]
    load(engine, "earlier", release)
    load(engine, "later", release[1:])
    engine.execute("alter table stays alter cost type text using '*'")
    tables = [
        {**one, "columns": ["ward", "cost"]} if one["name"] == "stays" else one
        for one in DECLARED["tables"]
    ]

    (said,) = told(engine, 5, tables=tables)

    assert "of 0 of the 0 people who joined" in said
    assert "of 1 of the 1 who left" in said
