"""Two remembered releases tell who joined, left and moved."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.extensions.diff.compared import Composition, compose
from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.register import RegisteredRelease
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.spec import load_spec
from tests.projects import Project

START = datetime(2026, 1, 1)
K = 4
State = dict[str, str]


@pytest.fixture(scope="module")
def warehouse(built_consumer: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Give the open warehouse of a copy of the stranger's project."""
    with pytest.MonkeyPatch.context() as patch:
        project = built_consumer.copy(tmp_path_factory.mktemp("register") / "project")
        patch.setenv("DBT_PROFILES_DIR", str(project.folder))
        with open_warehouse(find_project(project.folder)) as opened:
            yield opened


def months(randomness: random.Random, number: int) -> list[State]:
    """Return the class of each record month by month: some join, leave, move and come back."""
    state: State = {f"r{one}": randomness.choice("abc") for one in range(30)}
    states = [state]
    for _ in range(number - 1):
        state = dict(state)
        for _ in range(randomness.randrange(4)):
            key = f"r{randomness.randrange(36)}"
            if key in state and randomness.random() < 0.5:
                del state[key]
            else:
                state[key] = randomness.choice("abcd")
        states.append(state)
    return states


def changes(states: list[State]) -> Iterator[tuple[int, datetime, str, str | None]]:
    """Return the rows of `<n>_releases`: a release that changes nothing has none, and no number."""
    known: State = {}
    release = 1
    for month, state in enumerate(states):
        rows = [
            (release, START + timedelta(days=month), key, state.get(key))
            for key in sorted({*known, *state})
            if state.get(key) != known.get(key)
        ]
        yield from rows
        release += bool(rows)
        known = state


def expected(earlier: State, later: State) -> Composition:
    """Count by the definition, record by record."""
    joint = Counter((earlier.get(key), later.get(key)) for key in {*earlier, *later})
    # A class that nobody joined is one of the later release itself, which keeps k.
    joined = {other for one, other in joint if one != other}
    small = [
        size
        for (one, other), size in joint.items()
        if size < K and (one != other or other in joined)
    ]
    return Composition(
        joined_records=sum(size for (one, _), size in joint.items() if one is None),
        left_records=sum(size for (_, other), size in joint.items() if other is None),
        moved_records=sum(s for (one, o), s in joint.items() if one and o and one != o),
        joint_classes_below_k=len(small),
        records_below_k=sum(small),
    )


def at(month: int) -> RegisteredRelease:
    """Return a release of a month, of which only the time is read."""
    time = str(START + timedelta(days=month, hours=1))
    return RegisteredRelease(1, time, *(None,) * 16)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(4))
def test_two_remembered_releases_are_composed_by_the_definition(
    warehouse: Warehouse, seed: int
) -> None:
    randomness = random.Random(seed)
    states = months(randomness, 14)
    rows = list(changes(states))
    spec = load_spec(Path("anonymizations", "customers.yml"))  # the project is the folder
    beside = warehouse.relation_of_ref("customers_identifiers")
    releases = beside.incorporate(path={"identifier": "customers_releases"})
    cursor = warehouse.cursor()
    cursor.execute(f"delete from {releases}")
    cursor.executemany(f"insert into {releases} values (?, ?, ?, ?)", rows)
    cursor.execute(warehouse.macro("_forgotten_releases", releases=releases))
    last = max(release for release, *_ in rows)
    number_of = [
        max(release for release, time, *_ in rows if time <= START + timedelta(days=month))
        for month in range(len(states))
    ]
    found = 0
    pairs = list(itertools.combinations_with_replacement(range(len(states)), 2))
    for one, other in [(0, 13), (12, 13), *randomness.sample(pairs, 8)]:
        composed = compose(warehouse, spec, at(one), at(other))
        if number_of[one] < last - 9:  # merged with others
            assert composed is None
            continue
        assert composed == expected(states[one], states[other])
        found += composed.records_below_k
    assert found
    assert compose(warehouse, spec, at(-1), at(3)) is None
    assert compose(warehouse, spec, RegisteredRelease(None, None, *(None,) * 16), at(3)) is None  # type: ignore[arg-type]
