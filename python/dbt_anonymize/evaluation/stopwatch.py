"""Seconds that the steps of an evaluation take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Stopwatch:
    """Seconds by step, on the clock unless another one is given."""

    clock: Callable[[], float] = time.perf_counter
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def running(self, step: str) -> Iterator[None]:
        """Add the seconds that the body takes, also if it fails."""
        started = self.clock()
        try:
            yield
        finally:
            self.seconds[step] = self.seconds.get(step, 0.0) + self.clock() - started

    def take(self) -> dict[str, float]:
        """Return the seconds and reset.

        Examples
        --------
        >>> watch = Stopwatch(clock=iter([1.0, 3.5]).__next__)
        >>> with watch.running("fit"):
        ...     pass
        >>> watch.take(), watch.take()
        ({'fit': 2.5}, {})
        """
        seconds, self.seconds = self.seconds, {}
        return seconds
