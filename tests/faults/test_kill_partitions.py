"""`kill -9` while partitions are built: the next build is that of the whole table."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.killing import KILLS, Kills, wait_for_start
from tests.faults.processes import Launcher
from tests.sampling import FULL
from tests.worlds.monthly import MONTHS, PARTED, RELATIONS, WHOLE, Visits, contents, write

pytestmark = [pytest.mark.sampled_tests(group="faults"), pytest.mark.needs("partitions")]

# A build of it takes longer, and not all of its time to connect.
SECONDS = 0.3


@pytest.mark.dbt
def test_partitions_that_are_killed(launcher: Launcher, tmp_path: Path) -> None:
    project = write(tmp_path / "project")
    visits = Visits(project, 1)
    for month in MONTHS:
        visits.join(month, 100)
    visits.build()
    kills = Kills(max(2, KILLS // 10) if FULL else 1)
    for number in kills:
        relation = RELATIONS[number % len(RELATIONS)]
        before = {one: contents(project, PARTED, f"{one}_parts") for one in RELATIONS}
        visits.live()
        visits.write()
        child = launcher.dbt(
            project.folder, "build", "--no-quiet", "--no-use-colors", "-s", "+parted_frequencies"
        )
        wait_for_start(child, f"parted_{relation}_parts")
        kills.kill(child, SECONDS)
        found = {one: contents(project, PARTED, f"{one}_parts") for one in RELATIONS}
        visits.build()
        for one in RELATIONS:
            after = contents(project, PARTED, f"{one}_parts")
            assert found[one] in (before[one], after), "a mixture"
            assert contents(project, PARTED, one) == contents(project, WHOLE, one)
