"""Progress of the models that a search trains."""

from __future__ import annotations

import time
from collections.abc import Callable

from dbt_anonymize.evaluation.progress import Progress
from dbt_anonymize.extensions.search.clock import INTERVAL
from dbt_anonymize.extensions.search.results import ProgressCallback, Training


class TrainingProgress:
    """Report trained models and the time left, about ten times a second.

    Left is what ``seconds`` of all workers or ``evaluations`` allow: a search may end before.
    """

    def __init__(
        self,
        tell: ProgressCallback | None,
        *,
        seconds: float | None = None,
        evaluations: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tell = tell
        self._seconds, self._evaluations = seconds, evaluations
        self._clock = clock
        self._started = self._told = clock()
        self._trained, self._spent = 0, 0.0
        self._required: int | None = None

    def begin(self, required: int) -> None:
        """Go on with another class size."""
        self._required = required
        self._report()

    def advance(self, models: int, seconds: float) -> None:
        """Count trained models, and the seconds that they took one worker."""
        self._trained += models
        self._spent += seconds
        if self._clock() - self._told >= INTERVAL:
            self._report()

    def of(self, tasks: int) -> Progress:
        """Return what takes the progress of so many tasks of an evaluation."""
        return _Forwarded(self, tasks)

    def _report(self) -> None:
        self._told = self._clock()
        if self._tell is not None:
            share = self._share
            elapsed = self._told - self._started
            left = elapsed * (1.0 / share - 1.0) if share else None
            self._tell(Training(self._required, self._trained, share, left))

    @property
    def _share(self) -> float:
        """Share of what may be trained; 0 where nothing was, or there is no limit."""
        if self._evaluations:
            return min(1.0, self._trained / self._evaluations)
        return min(1.0, self._spent / self._seconds) if self._seconds else 0.0


class _Forwarded(Progress):
    """Progress of a part, which writes nothing itself."""

    def __init__(self, whole: TrainingProgress, tasks: int) -> None:
        super().__init__("", tasks, lambda _: None)
        self._whole = whole

    def advance(self, models: int, seconds: float) -> None:
        """Count for the whole."""
        super().advance(models, seconds)
        self._whole.advance(models, seconds)
