"""Killing processes so often that enough of them die of it, however fast the machine is."""

from __future__ import annotations

import os
import random
import re
import signal
import time
from collections.abc import Iterator

from tests.faults.processes import Child
from tests.sampling import SEED, number_of

# A hundred take an hour for each kind: `make faults` asks for them.
KILLS = number_of("kills of each kind", int(os.environ.get("DBT_ANONYMIZE_KILLS", "6")), 2)
_TRIES = 10


class Kills:
    """Iterate over tries until so many processes were killed; one that had ended does not count.

    Parameters
    ----------
    wanted : int
        How many must die.
    """

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._died = 0
        self.moments = random.Random(SEED)

    def __iter__(self) -> Iterator[int]:
        tries = 0
        while self._died < self._wanted:
            assert tries < _TRIES * self._wanted, f"{self._died} of {tries} died: all too quick"
            yield tries
            tries += 1

    def kill(self, child: Child, longest: float) -> float | None:
        """Kill a process after at most so many seconds.

        Returns
        -------
        float or None
            The seconds, if it died of it; None if it had ended well before.
        """
        moment = self.moments.uniform(0, longest)
        time.sleep(moment)
        status = child.kill()
        assert status in {-signal.SIGKILL, 0}, child.said
        if status == 0:
            return None
        self._died += 1
        return moment


def wait_for_start(child: Child, node: str) -> None:
    """Wait until a dbt command says that it starts a node, or has ended."""
    while child.is_running() and not re.search(rf"START .*\.{node} ", child.said):
        time.sleep(0.002)
