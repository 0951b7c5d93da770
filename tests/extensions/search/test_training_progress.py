"""Progress of the models that a search trains: one line that is renewed."""

from __future__ import annotations

from dbt_anonymize.extensions.search.results import Progress, Training
from dbt_anonymize.extensions.search.training import TrainingProgress


class Told:
    """Take what is told, by a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.states: list[str] = []

    def __call__(self, state: Progress | Training) -> None:
        """Remember a line."""
        self.states.append(str(state))

    def clock(self) -> float:
        """Return the seconds that were set."""
        return self.now


def test_time_that_is_left_follows_what_is_spent() -> None:
    told = Told()
    progress = TrainingProgress(told, seconds=60.0, clock=told.clock)
    progress.begin(50)
    told.now = 10.0
    progress.of(3).advance(3, 20.0)
    # Two workers: a third of the seconds took ten.
    assert told.states == ["k = 50: 0 models trained", "k = 50: 3 models trained, about 20 s left"]
    told.now = 10.05
    progress.advance(1, 1.0)
    assert len(told.states) == 2
    progress.begin(20)
    assert told.states[-1].startswith("k = 20: 4 models trained, about ")


def test_models_that_are_left_take_as_long_as_those_before() -> None:
    told = Told()
    progress = TrainingProgress(told, evaluations=40, clock=told.clock)
    told.now = 5.0
    progress.advance(10, 5.0)
    told.now = 60.0
    progress.advance(50, 5.0)
    assert told.states == [
        "10 models trained, about 15 s left",
        "60 models trained, about 0 s left",
    ]


def test_without_a_limit_nothing_is_said_of_the_time() -> None:
    told = Told()
    progress = TrainingProgress(told, clock=told.clock)
    told.now = 1.0
    progress.advance(1, 1.0)
    assert told.states == ["1 model trained"]
