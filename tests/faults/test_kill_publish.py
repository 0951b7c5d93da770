"""`kill -9` at any moment of publishing leaves the complete old or new release."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.faults.killing import KILLS, SEED, Kills
from tests.faults.people import WAREHOUSE, files_of_release, released, write_people
from tests.faults.processes import Child, Launcher
from tests.sampling import number_of

_MOST_LINES = 400
_STEP = 4 // number_of("lines of each four at which publishing is killed", 4, 1)


def publish(launcher: Launcher, folder: Path, relation: str) -> Child:
    return launcher.start(
        "publish_table", folder=str(folder), warehouse=WAREHOUSE, relation=relation
    )


@pytest.mark.sampled_tests(group="faults")
def test_killed_before_any_line_of_publishing(tmp_path: Path, launcher: Launcher) -> None:
    """Places in our code where a process can die; the next removes what the last one left.

    Every fourth line, and every one with DBT_ANONYMIZE_FULL=1.
    """
    people = write_people(tmp_path, records=50)
    assert publish(launcher, tmp_path, "old").wait() == 0
    states = []
    for number in range(SEED % _STEP, _MOST_LINES, _STEP):
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
    assert len(states) > 50 // _STEP
    assert files_of_release(tmp_path) == {"people.duckdb"}


@pytest.mark.sampled_tests(group="faults")
def test_killed_at_random_moments_of_publishing(tmp_path: Path, launcher: Launcher) -> None:
    """Also inside the engine, while it writes."""
    people = write_people(tmp_path, records=30_000)
    assert publish(launcher, tmp_path, "old").wait() == 0
    longest = 1.0
    kills = Kills(max(5, KILLS))
    for number in kills:
        relation = ("new", "old")[number % 2]
        if kills.kill(publish(launcher, tmp_path, relation), longest) is None:
            longest *= 0.7
        assert released(tmp_path) in people.values(), (SEED, number)
        restored = publish(launcher, tmp_path, relation)
        assert restored.wait() == 0, restored.said
        assert released(tmp_path) == people[relation], (SEED, number)
        assert files_of_release(tmp_path) == {"people.duckdb"}
