"""Workers and progress."""

from __future__ import annotations

import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.progress import Progress, dbt_logger
from dbt_anonymize.evaluation.workers import make_tasks, worker_count


@pytest.mark.parametrize(("repetitions", "workers"), [(1, 8), (3, 1), (100, 2)])
def test_tasks_cover_every_model_once(repetitions: int, workers: int) -> None:
    tasks = make_tasks(repetitions, 3, workers)
    models = [(task.repetition, effort) for task in tasks for effort in task.efforts]
    assert sorted(models) == [(r, e) for r in range(1, repetitions + 1) for e in range(3)]
    assert len(tasks) >= min(workers, 3 * repetitions)


def test_the_environment_sets_the_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", "3")
    assert worker_count() == 3
    monkeypatch.delenv("DBT_ANONYMIZE_WORKERS")
    assert worker_count() >= 1


@pytest.mark.parametrize("text", ["0", "many", "-1", "1.5"])
def test_a_number_of_workers_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", text)
    with pytest.raises(EvaluationError, match="DBT_ANONYMIZE_WORKERS must be"):
        worker_count()


def test_progress_is_shown_every_few_seconds_and_at_the_end() -> None:
    now = [100.0]
    lines: list[str] = []
    progress = Progress("wdbc", 10, lines.append, clock=lambda: now[0])
    for _ in range(5):
        now[0] += 2.0
        progress.advance(2)
    assert lines == ["wdbc: 6 of 10 models, 6 s, about 4 s left", "wdbc: 10 of 10 models, 10 s"]


def test_lines_are_written_to_the_log_of_dbt(capsys: pytest.CaptureFixture[str]) -> None:
    from dbt_common.events.base_types import EventMsg
    from dbt_common.events.event_manager_client import (
        add_callback_to_manager,
        get_event_manager,
    )

    heard: list[EventMsg] = []
    add_callback_to_manager(heard.append)
    try:
        dbt_logger().info("wdbc: {1} of 2 models")
    finally:
        get_event_manager().callbacks.remove(heard.append)
    capsys.readouterr()
    assert "dbt_anonymize adapter: wdbc: {1} of 2 models" in heard[-1].info.msg
