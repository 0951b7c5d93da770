"""Progress of the models that a search trains."""

from __future__ import annotations

import time
from collections.abc import Callable

from dbt_anonymize.evaluation.progress import Progress
from dbt_anonymize.extensions.search.clock import INTERVAL
from dbt_anonymize.extensions.search.results import ProgressCallback, Training


class TrainingProgress:
    """Report trained models and the remaining time, about ten times a second.

    The remaining time is that of ``seconds`` of all workers or ``evaluations``; a search may end
    earlier.
    """

    def __init__(
        self,
        callback: ProgressCallback | None,
        *,
        seconds: float | None = None,
        evaluations: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._callback = callback
        self._seconds, self._evaluations = seconds, evaluations
        self._clock = clock
        self._started = self._reported = clock()
        self._trained, self._spent = 0, 0.0
        self._required: int | None = None

    def begin(self, required: int) -> None:
        """Start another class size."""
        self._required = required
        self._report()

    def advance(self, models: int, seconds: float) -> None:
        """Count trained models and their seconds of one worker."""
        self._trained += models
        self._spent += seconds
        if self._clock() - self._reported >= INTERVAL:
            self._report()

    def of(self, tasks: int) -> Progress:
        """Return the progress of ``tasks`` tasks of an evaluation."""
        return _PartProgress(self, tasks)

    def _report(self) -> None:
        self._reported = self._clock()
        if self._callback is not None:
            share = self._share
            elapsed = self._reported - self._started
            remaining = elapsed * (1.0 / share - 1.0) if share else None
            self._callback(Training(self._required, self._trained, share, remaining))

    @property
    def _share(self) -> float:
        """Spent share of the budget; 0 without a limit."""
        if self._evaluations:
            return min(1.0, self._trained / self._evaluations)
        return min(1.0, self._spent / self._seconds) if self._seconds else 0.0


class _PartProgress(Progress):
    """Progress of a part, which writes nothing itself."""

    def __init__(self, whole: TrainingProgress, tasks: int) -> None:
        super().__init__("", tasks, lambda _: None)
        self._whole = whole

    def advance(self, models: int, seconds: float) -> None:
        """Count for the whole."""
        super().advance(models, seconds)
        self._whole.advance(models, seconds)
