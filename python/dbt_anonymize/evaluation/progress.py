"""Progress of the training in dbt's own log, on the console and in its file."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

# Where lines go while no build of dbt runs.
_LOGGER: ContextVar[Any] = ContextVar("_LOGGER", default=None)


@contextlib.contextmanager
def logged_to(logger: Any) -> Iterator[None]:
    """Send lines to the logger of a command, which has methods ``info`` and ``warning``."""
    token = _LOGGER.set(logger)
    try:
        yield
    finally:
        _LOGGER.reset(token)


def dbt_logger() -> Any:
    """Return the logger of the running command, or else that of dbt."""
    if _LOGGER.get() is not None:
        return _LOGGER.get()
    from dbt.adapters.events.logging import AdapterLogger  # noqa: PLC0415

    return AdapterLogger("dbt_anonymize")


class Progress:
    """Report finished models: after the first split, every ``interval`` seconds, and at the end.

    ``write`` takes one line; ``clock`` returns seconds. The remaining time is estimated after
    ``first`` models, those of one split, or a tenth of ``total`` if that is less.
    """

    def __init__(
        self,
        anonymization: str,
        total: int,
        write: Callable[[str], object],
        *,
        first: int | None = None,
        interval: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._anonymization = anonymization
        self._total = total
        self._write = write
        self._first = min(total / 10, first or total)
        self._interval = interval
        self._clock = clock
        self.start(workers=1)

    def start(self, workers: int) -> None:
        """Count from now, with this many models at a time."""
        self._workers = workers
        self._started = self._last_line = self._clock()
        self._is_estimated = False
        self._work = 0.0
        self.done = 0

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._started

    @property
    def remaining(self) -> float:
        """Estimated seconds to the end; infinite before the first model."""
        if not self.done:
            return float("inf")
        return self._work / self.done * (self._total - self.done) / self._workers

    def advance(self, models: int, seconds: float) -> None:
        """Count finished models and the seconds that one worker needed for them.

        Write a line if it is due, or when the first estimate of the remaining time exceeds the
        interval.
        """
        self.done += models
        self._work += seconds
        is_last = self.done == self._total
        is_estimated = not is_last and self.done >= self._first
        is_news = is_estimated and not self._is_estimated and self.remaining > self._interval
        if not (is_last or is_news or self._clock() - self._last_line >= self._interval):
            return
        self._last_line = self._clock()
        self._is_estimated = is_estimated
        text = f"{self._anonymization}: {self.done} of {self._total} models"
        text = f"{text}, {duration(self.elapsed)}"
        self._write(f"{text}, about {duration(self.remaining)} left" if is_estimated else text)


def duration(seconds: float) -> str:
    """Return seconds in a readable unit.

    Examples
    --------
    >>> duration(12.3), duration(119), duration(1500), duration(9000)
    ('12 s', '119 s', '25 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
