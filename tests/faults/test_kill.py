"""`kill -9` at any moment leaves the complete old or new release, and the next build succeeds.

DBT_ANONYMIZE_KILLS tells how often a whole build is killed; DBT_ANONYMIZE_KILL_SEED chooses other
moments.
"""

from __future__ import annotations

import math
import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import duckdb

from tests.faults.people import (
    WAREHOUSE,
    Rows,
    files_of_release,
    other_people,
    released,
    write_people,
)
from tests.faults.processes import Child, Launcher
from tests.projects import Project

KILLS = int(os.environ.get("DBT_ANONYMIZE_KILLS", "3"))
SEED = int(os.environ.get("DBT_ANONYMIZE_KILL_SEED", "20"))
_MOST_LINES = 400


def publish(launcher: Launcher, folder: Path, relation: str) -> Child:
    return launcher.start(
        "publish_table", folder=str(folder), warehouse=WAREHOUSE, relation=relation
    )


def test_killed_before_any_line_of_publishing(tmp_path: Path, launcher: Launcher) -> None:
    """Every place in our code where a process can die; the next removes what the last one left."""
    people = write_people(tmp_path, records=50)
    assert publish(launcher, tmp_path, "old").wait() == 0
    states = []
    for number in range(_MOST_LINES):
        child = launcher.start(
            "publish_until_line",
            folder=str(tmp_path),
            warehouse=WAREHOUSE,
            relation="new",
            number=number,
        )
        status = child.wait()
        rows = released(tmp_path)
        assert rows in people.values(), number
        states.append(rows == people["new"])
        if status == 0:
            break
        assert status == -signal.SIGKILL, child.said
        if states[-1]:
            assert publish(launcher, tmp_path, "old").wait() == 0
            assert released(tmp_path) == people["old"]
            assert files_of_release(tmp_path) == {"people.duckdb"}
    # Old up to the rename and new from there on.
    assert states == sorted(states)
    assert states[0] is False
    assert states[-1] is True
    assert len(states) > 50
    assert files_of_release(tmp_path) == {"people.duckdb"}


def test_killed_at_random_moments_of_publishing(tmp_path: Path, launcher: Launcher) -> None:
    """Also inside the engine, while it writes."""
    people = write_people(tmp_path, records=30_000)
    assert publish(launcher, tmp_path, "old").wait() == 0
    duration = math.inf
    moments = random.Random(SEED)
    statuses = []
    for number in range(max(10, KILLS)):
        relation = ("new", "old")[number % 2]
        child = publish(launcher, tmp_path, relation)
        time.sleep(moments.uniform(0, min(duration, 1.0)))
        statuses.append(child.kill())
        assert released(tmp_path) in people.values(), (SEED, number)
        started = time.monotonic()
        restored = publish(launcher, tmp_path, relation)
        assert restored.wait() == 0, restored.said
        duration = min(duration, time.monotonic() - started)
        assert released(tmp_path) == people[relation], (SEED, number)
        assert files_of_release(tmp_path) == {"people.duckdb"}
    assert statuses.count(-signal.SIGKILL) > len(statuses) // 4


def vault(project: Project, copies: Path) -> Rows:
    """Return the vault as it is now, without repairing it: opened as a copy, with its log."""
    shutil.rmtree(copies, ignore_errors=True)
    shutil.copytree(project.folder / "vault", copies)
    with duckdb.connect(str(copies / "vault.duckdb")) as connection:
        return connection.execute("from customers_identifiers order by all").fetchall()


def state(project: Project) -> tuple[Rows, Rows]:
    return project.release("customers"), vault(project, project.folder.parent / "vault_copy")


def test_killed_at_random_moments_of_a_build(
    shop: Project, launcher: Launcher, record_property: Any
) -> None:
    seed_file = shop.folder / "seeds" / "customers.csv"
    text = seed_file.read_text(encoding="utf-8")
    versions = {"old": text, "new": other_people(text)}
    states = {"old": state(shop)}
    seed_file.write_text(versions["new"], encoding="utf-8")
    started = time.monotonic()
    child = launcher.dbt(shop.folder, "build")
    assert child.wait() == 0, child.said
    duration = time.monotonic() - started
    states["new"] = state(shop)
    for old, new in zip(*states.values(), strict=True):
        assert not set(map(str, old)) & set(map(str, new))
    moments = random.Random(SEED)
    killed = 0
    for number in range(KILLS):
        before, version = (("new", "old"), ("old", "new"))[number % 2]
        seed_file.write_text(versions[version], encoding="utf-8")
        # Every second one near the end, where a build publishes and writes the vault.
        moment = moments.uniform(0.8 * (number % 2), 1.05) * duration
        where = f"seed {SEED}, kill {number}, after {moment:.3f} of {duration:.3f} s"
        child = launcher.dbt(shop.folder, "build")
        time.sleep(moment)
        killed += child.kill() == -signal.SIGKILL
        found = state(shop)
        assert found[0] in (states[before][0], states[version][0]), where
        assert found[1] in (states[before][1], states[version][1]), where
        repaired = launcher.dbt(shop.folder, "build")
        assert repaired.wait() == 0, f"{where}: {repaired.said}"
        assert state(shop) == states[version], where
        assert files_of(shop, "release/dev") == {"customers.duckdb"}, where
        assert files_of(shop, "vault") == {".gitignore", "vault.duckdb"}, where
    record_property("killed", killed)
    assert killed > KILLS // 2
    assert_one_row_per_person(shop)


def files_of(project: Project, folder: str) -> set[str]:
    return {path.name for path in (project.folder / folder).iterdir()}


def assert_one_row_per_person(project: Project) -> None:
    ((rows, people),) = project.query(
        "select count(*), count(distinct customer_id) from vault.main.customers_identifiers"
    )
    assert rows == people == 400
