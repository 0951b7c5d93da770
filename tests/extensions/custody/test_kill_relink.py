"""`kill -9` at any moment of re-linking: nobody is shown whom the audit does not know.

Twice, and more often in full; DBT_ANONYMIZE_SEED chooses other moments.
"""

from __future__ import annotations

import re
import time

import pytest

from dbt_anonymize.extensions.custody.relink.audit import check_audit
from tests.extensions.custody.relink.running import POLICY, PURPOSE, RELEASED, SPEC, open_session
from tests.faults.killing import KILLS, SEED, Kills
from tests.faults.processes import Child, Launcher
from tests.projects import Project

# Several requests, and the end of a session and the begin of the next.
_LONGEST = 1.0


def wait_for_first(child: Child) -> None:
    """Wait until a process has shown somebody."""
    while child.is_running() and "shown" not in child.said:
        time.sleep(0.005)


@pytest.mark.sampled_tests(group="faults")
def test_who_is_shown_is_in_the_audit_whenever_relinking_is_killed(
    shop: Project, launcher: Launcher
) -> None:
    shop.edit(SPEC, lambda text: text + POLICY)
    values = [cqi for (cqi,) in shop.query(f"select distinct cqi from {RELEASED}")]
    known = 0
    kills = Kills(KILLS)
    for number in kills:
        child = launcher.start(
            "relink_again_and_again", folder=str(shop.folder), purpose=PURPOSE, values=values
        )
        wait_for_first(child)
        moment = kills.kill(child, _LONGEST)
        where = f"seed {SEED}, kill {number}, after {moment} s: {child.said}"
        told = list(map(int, re.findall(r"^attempt (\d+)$", child.said, re.MULTILINE)))
        assert told == [*range(known + 1, known + 1 + len(told))], where
        shown = {int(rows) for rows in re.findall(r"^shown (\d+)$", child.said, re.MULTILINE)}
        assert shown, where
        with open_session(shop, groups={}) as session:
            attempts, missing = check_audit(session.warehouse, "customers")
            assert missing == 0, where
            # An attempt more than was told: killed between the two.
            assert attempts - known - len(told) in {0, 1}, where
            written = [row for row in session.audit() if row["attempt"] > known]
            assert shown <= {row["given_rows"] for row in written if row["shown_people"]}, where
            assert session.ask(values[0])
            last = session.audit()[-1]
            known = last["attempt"]
            assert (known, last["outcome"]) == (attempts + 1, "granted"), where
