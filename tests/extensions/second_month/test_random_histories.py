"""Random histories of a frozen release: two months differ by groups that keep every promise."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from tests.extensions.second_month.compiled import AFTER, COLUMNS, PROMISES, K
from tests.oracle.privacy import Class, breaks
from tests.properties.warehouse import Warehouse
from tests.sampling import number_of

MONTHS = 6
HISTORIES = number_of("histories of a frozen release", 20, 1)
LABELS = ("a", "b")
ILLNESSES = ("flu", "gout", "none")
# Models that look at the rest of the table judge a group when it moves, and never again.
OF_THE_TABLE = {"t_closeness", "beta_likeness"}


@dataclass(frozen=True)
class Person:
    """Record of a person: the label of its class, and the values that are kept."""

    label: str
    illness: str
    version: int


State = dict[str, Person]


def histories(randomness: random.Random) -> Iterator[State]:
    """Yield the table month after month: groups and single people join, leave, move and change."""
    numbers, versions = itertools.count(), itertools.count()

    def somebody(label: str) -> Person:
        return Person(label, randomness.choice(ILLNESSES), next(versions))

    state = {f"p{next(numbers)}": somebody(label) for label in LABELS for _ in range(4 * K)}
    away: State = {}
    yield dict(state)
    for _ in range(MONTHS):
        # Sometimes nearly nobody, sometimes a third of all.
        share = randomness.choice((0.03, 0.15, 0.35))
        for key in [key for key in state if randomness.random() < share]:
            happens = randomness.choice(("leaves", "leaves", "moves", "changes"))
            if happens == "leaves":
                away[key] = state.pop(key)
            elif happens == "moves":
                others = [label for label in LABELS if label != state[key].label]
                old = state[key]
                state[key] = Person(randomness.choice(others), old.illness, old.version)
            else:
                state[key] = somebody(state[key].label)
        for key in [key for key in away if randomness.random() < 2 * share]:
            state[key] = away.pop(key)
        for _ in range(randomness.choice((0, 1, K, 2 * K))):
            state[f"p{next(numbers)}"] = somebody(randomness.choice(LABELS))
        yield dict(state)


def load(warehouse: Warehouse, state: State) -> None:
    """Write the effort and the microdata of a month."""
    rows = [(key, one.label, one.illness, one.version) for key, one in state.items()]
    kinds = {"record": "varchar", **dict.fromkeys(COLUMNS, "varchar"), "version": "bigint"}
    warehouse.load("waiting_microdata", kinds, rows)
    warehouse.connection.execute(
        "create or replace table waiting_effort as "
        "select *, label as equivalence_class, false as is_suppressed from waiting_microdata"
    )
    warehouse.connection.execute(
        "create or replace table waiting_classes as "
        "select distinct 1 as effort, equivalence_class, 7 as population_size from waiting_effort"
    )


def releases(warehouse: Warehouse, promise: str, states: Iterable[State]) -> Iterator[State]:
    """Yield who is released month after month, as members say."""
    run = warehouse.connection.execute
    for number, state in enumerate(states):
        load(warehouse, state)
        if not number:
            first = warehouse.statements["waiting_first"]
            run(f"create or replace table waiting_members as {first}")
        else:
            last = run(
                "select greatest(max(entered), coalesce(max(left_at), 0)) from waiting_members"
            ).fetchall()[0][0]
            for name in (promise, "changes"):
                sql = warehouse.statements[f"waiting_{name}"]
                sql = sql.replace(str(AFTER + 1), str(last + 1)).replace(str(AFTER), str(last))
                run(sql if name == "changes" else f"create or replace table waiting_plan as {sql}")
        rows = run(
            "select record_key, v_1, v_2, v_3 from waiting_members where left_at is null"
        ).fetchall()
        assert len({row[0] for row in rows}) == len(rows), "nobody is released twice"
        months = {row[0]: Person(*row[1:]) for row in rows}
        if number:
            assert told_classes(warehouse, promise) == classes_of(months)
        yield months


def told_classes(warehouse: Warehouse, promise: str) -> dict[str, tuple[int, int, int]]:
    """Return size, records and distinct illnesses of each class, as the release tells them."""
    rows = warehouse.connection.execute(
        "select label, class_size, records, illness_distinct_l from "
        f"({warehouse.statements[f'waiting_released_{promise}']}) as told "
        "where effort = 1 and equivalence_class = label"
    ).fetchall()
    return {label: tuple(figures) for label, *figures in rows}


def classes_of(month: State) -> dict[str, tuple[int, int, int]]:
    """Count the same from the rows that are released."""
    found: dict[str, list[str]] = {}
    for person in month.values():
        found.setdefault(person.label, []).append(person.illness)
    return {label: (len(of), len(of), len(set(of))) for label, of in found.items()}


def groups(one: State, other: State, *, by_value: bool) -> dict[str, list[Person]]:
    """Return by class who is in a release and not in the other: in it, or with these values."""
    found: dict[str, list[Person]] = {}
    for key, person in one.items():
        before = other.get(key)
        if before is None or before.label != person.label or (by_value and before != person):
            found.setdefault(person.label, []).append(person)
    return found


def broken(promise: str, people: Iterable[Person], table: State, *, neighbours: bool) -> list[str]:
    """Return the guarantees that a group breaks."""
    of_class = Counter(person.illness for person in people)
    of_table = Counter(person.illness for person in table.values())
    one = Class(sum(of_class.values()), of_class, of_table, table=len(table))
    return [
        guarantee["model"]
        for guarantee in PROMISES[promise]
        if neighbours or guarantee["model"] not in OF_THE_TABLE
        if (one.size < K if guarantee["model"] == "k_anonymity" else breaks(guarantee, one))
    ]


def starts_well(promise: str, state: State) -> bool:
    """Tell whether the first release, which nobody has to wait for, keeps its promises."""
    return not any(
        broken(promise, people, state, neighbours=True)
        for people in groups(state, {}, by_value=False).values()
    )


def worst(promise: str, months: list[State], tables: list[State]) -> set[str]:
    """Return what the differences of any two months, and the months themselves, break."""
    found: set[str] = set()
    for (place, one), (other_place, other) in itertools.permutations(enumerate(months), 2):
        is_next = abs(place - other_place) == 1
        table = tables[max(place, other_place)]
        for people in groups(one, other, by_value=is_next).values():
            found |= {*broken(promise, people, table, neighbours=is_next)}
    for month, table in zip(months, tables, strict=True):
        for people in groups(month, {}, by_value=False).values():
            found |= {*broken(promise, people, table, neighbours=False)}
    return found


@pytest.mark.parametrize("promise", sorted(PROMISES))
def test_no_two_months_show_a_group_that_breaks_a_promise(
    warehouse: Warehouse, promise: str
) -> None:
    moved, naive, seed = 0, set[str](), 0
    lived = 0
    while lived < HISTORIES:
        seed += 1
        tables = list(histories(random.Random(f"{promise} {seed}")))
        if not starts_well(promise, tables[0]):
            continue
        lived += 1
        months = list(releases(warehouse, promise, tables))
        assert worst(promise, months, tables) == set(), f"history {seed}"
        moved += sum(one != other for one, other in itertools.pairwise(months))
        naive |= worst(promise, tables, tables)
    # Else it would prove nothing: groups moved, and at once they would have broken the promises.
    assert moved
    assert naive
