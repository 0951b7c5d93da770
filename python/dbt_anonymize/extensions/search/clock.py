"""Time limit and progress of a search."""

from __future__ import annotations

import time
from collections.abc import Callable

from dbt_anonymize.extensions.search.results import Progress, ProgressCallback

# Seconds between two reports.
INTERVAL = 0.1


class Clock:
    """Time limit (seconds or None) and progress, reported ten times a second and at the end."""

    def __init__(
        self, time_limit: float | None = None, progress: ProgressCallback | None = None
    ) -> None:
        self._started = time.monotonic()
        self._limit = time_limit
        self._progress = progress
        self._reported = self._started
        # Another limit than time.
        self.is_spent: Callable[[], bool] = lambda: False

    def remaining(self, share: float = 1.0) -> float | None:
        """Return the remaining seconds, or a share of them; None without a limit."""
        if self._limit is None:
            return None
        return max(0.0, self._limit - (time.monotonic() - self._started)) * share

    def is_over(self) -> bool:
        """Tell whether the time limit, or another one, is reached."""
        return self.is_spent() or self.remaining() == 0.0

    def report(self, progress: Callable[[], Progress], *, is_last: bool = False) -> None:
        """Report if it is due."""
        if self._progress is None:
            return
        now = time.monotonic()
        if is_last or now - self._reported >= INTERVAL:
            self._reported = now
            self._progress(progress())
