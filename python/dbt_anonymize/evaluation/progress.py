"""What a user sees while models train: lines in dbt's own log, on the console and in its file."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def dbt_logger() -> Any:
    """Return a logger whose lines dbt formats, stores and silences with ``--quiet``."""
    from dbt.adapters.events.logging import AdapterLogger  # noqa: PLC0415

    return AdapterLogger("dbt_anonymize")


class Progress:
    """Report how many models are done, at most every few seconds and at the end.

    Parameters
    ----------
    anonymization : str
        Name shown in front of each line.
    total : int
        Number of models.
    write : callable
        Takes one line.
    interval : float, default 5.0
        Least number of seconds between two lines.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self,
        anonymization: str,
        total: int,
        write: Callable[[str], object],
        *,
        interval: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._anonymization = anonymization
        self._total = total
        self._write = write
        self._interval = interval
        self._clock = clock
        self.start()

    def start(self) -> None:
        """Count from now."""
        self._started = self._shown = self._clock()
        self.done = 0

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._started

    @property
    def remaining(self) -> float:
        """Estimated seconds to the end, from the pace so far; infinite before the first model."""
        if not self.done:
            return float("inf")
        return self.elapsed / self.done * (self._total - self.done)

    def advance(self, models: int) -> None:
        """Count finished models, and write a line if it is time for one."""
        self.done += models
        is_last = self.done == self._total
        if not is_last and self._clock() - self._shown < self._interval:
            return
        self._shown = self._clock()
        text = f"{self._anonymization}: {self.done} of {self._total} models, {self.elapsed:.0f} s"
        # The first models are slow: libraries are loaded and other processes started.
        is_telling = not is_last and self.done >= 0.1 * self._total
        self._write(f"{text}, about {self.remaining:.0f} s left" if is_telling else text)
