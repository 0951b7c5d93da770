"""The register says what each release was, and what it shows together with the one before."""

from __future__ import annotations

import csv
import io
import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from dbt_anonymize.project.layout import find_project
from dbt_anonymize.project.register import Composition, RegisteredRelease, compose
from dbt_anonymize.project.warehouse import Warehouse, open_warehouse
from dbt_anonymize.spec import load_spec
from tests.cli.conftest import run
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


def test_the_register_is_shown_without_a_record(
    built_consumer: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBT_PROFILES_DIR", str(built_consumer.folder))
    where = ("--project-dir", built_consumer.folder)
    result = run("results", "customers", "--history", "--format", "json", *where)
    assert result.exit_code == 0, result.output
    (row,) = [json.loads(line) for line in result.stdout.splitlines()]
    names = "effort, k, records, suppressed_records, qf_mean, qf_low, qf_high, qnf, q, fingerprint"
    (chosen,) = built_consumer.query(f"select {names} from customers_results where is_chosen")
    shown = names.replace("qf_mean", "qf").replace("fingerprint", "spec").split(", ")
    assert tuple(row[name] for name in shown) == chosen
    ((classes, records, highest, average),) = built_consumer.query(
        "select equivalence_classes, released_records, highest_risk, average_risk "
        f"from customers_privacy where effort = {chosen[0]}"
    )
    assert (row["release"], row["equivalence_classes"]) == (1, classes)
    assert row["released_records"] == records == len(built_consumer.release("customers"))
    assert (row["highest_risk"], row["average_risk"]) == (highest, average)
    assert row["joined_records"] is row["is_source_changed"] is None
    # Whoever knew all records but one could try which one gives the digest of the source.
    ((digest,),) = built_consumer.query("select source from customers_register")
    assert len(digest) == 8
    assert digest not in result.stdout
    read = run("results", "customers", "--history", "--format", "csv", *where)
    (line,) = csv.DictReader(io.StringIO(read.stdout))
    assert line == {name: "" if value is None else str(value) for name, value in row.items()}
    table = run("results", "--history", *where).stdout
    assert "customers: 1 release" in table
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize("is_released", [True, False])
def test_without_a_register_the_history_says_what_begins_one(
    built_consumer: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_released: bool
) -> None:
    project = built_consumer.copy(tmp_path / "project")
    project.execute("drop table customers_register")
    if not is_released:
        project.release_file("customers").unlink()
    monkeypatch.setenv("DBT_PROFILES_DIR", str(project.folder))
    result = run("results", "--history", "--project-dir", project.folder)
    said = " ".join(result.output.split())
    assert "customers_register must have a release to be shown" in said
    assert ("is older than the register" in said) == is_released
    assert ("nothing is released" in said) != is_released
    assert "dbt build" in said
    assert "0 releases" not in said


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
