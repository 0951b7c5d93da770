"""Workers and progress."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation import workers
from dbt_anonymize.evaluation.data.design import Design
from dbt_anonymize.evaluation.data.features import POSITIONS, VALUES
from dbt_anonymize.evaluation.data.spaces import Numbers, Space
from dbt_anonymize.evaluation.problem import EffortData, Model, Problem, Target
from dbt_anonymize.evaluation.progress import Progress, dbt_logger
from dbt_anonymize.evaluation.splits import Splitting
from dbt_anonymize.evaluation.workers import make_tasks, worker_count, workers_in_memory
from tests.evaluation.tables import evaluated, interval_efforts


def problem(records: int, features: int) -> Problem:
    """Return two efforts of a table of which each half is one row."""
    half = np.arange(records) % 2
    design = Design(columns=(np.arange(2, dtype=np.int32),), codes=half)
    space = Space(([Numbers(np.repeat([[0.0], [1.0]], features, axis=1))],), (True,))
    spaces = {VALUES: space, POSITIONS: space}
    effort = EffortData(0, design, spaces, spaces, np.zeros(records, dtype=bool))
    return Problem(
        targets=[Target("label", "classification", ("no", "yes"), codes=half)],
        models=[Model("naive_bayes", "naive_bayes", {})],
        efforts=[effort, effort],
        splitting=Splitting(repetitions=2, test_share=0.3),
        random_state=1,
    )


@pytest.mark.parametrize(
    ("targets", "repetitions", "workers"), [(1, 1, 8), (1, 3, 1), (2, 100, 2), (2, 2, 1)]
)
def test_tasks_cover_every_model_once(targets: int, repetitions: int, workers: int) -> None:
    tasks = make_tasks(targets, repetitions, 3, workers)
    models = [(task.target, task.repetition, effort) for task in tasks for effort in task.efforts]
    assert sorted(models) == [
        (t, r, e) for t in range(targets) for r in range(1, repetitions + 1) for e in range(3)
    ]
    assert len(tasks) >= min(workers, 3 * repetitions)


def test_the_environment_sets_the_number_of_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", "3")
    assert worker_count() == 3
    monkeypatch.delenv("DBT_ANONYMIZE_WORKERS")
    assert worker_count() >= 1


def test_large_tables_have_as_many_workers_as_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DBT_ANONYMIZE_WORKERS")
    assert workers_in_memory(problem(1000, 10), 16) == 16
    assert workers_in_memory(problem(1_000_000, 50), 16) == 2
    assert workers_in_memory(problem(1_000_000, 500), 16) == 1
    monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", "16")
    assert workers_in_memory(problem(1_000_000, 50), 16) == 16


@pytest.mark.sampled_tests(group="workers")
def test_scores_do_not_depend_on_the_number_of_workers(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    efforts = interval_efforts(connection, widths=(0, 10, 20))
    monkeypatch.setattr(workers, "_START_SECONDS", 0.0)
    found = []
    for number in ("1", "2"):
        monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", number)
        found.append(evaluated(connection, efforts, model="random_forest", repetitions=3))
    pd.testing.assert_frame_equal(*found)


@pytest.mark.parametrize("text", ["0", "many", "-1", "1.5"])
def test_a_number_of_workers_that_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("DBT_ANONYMIZE_WORKERS", text)
    with pytest.raises(EvaluationError, match="DBT_ANONYMIZE_WORKERS must be"):
        worker_count()


def lines_of(steps: list[tuple[int, float]], workers: int, **choices: Any) -> list[str]:
    """Return what is written while models take seconds, of so many workers that are all busy."""
    now = [100.0]
    lines: list[str] = []
    total = sum(models for models, _ in steps)
    progress = Progress("wdbc", total, lines.append, clock=lambda: now[0], **choices)
    progress.start(workers)
    for models, seconds in steps:
        now[0] += seconds / workers
        progress.advance(models, seconds)
    return lines


def test_the_time_to_the_end_is_estimated_after_the_first_split() -> None:
    lines = lines_of([(14, 40.0)] * 100, workers=2, first=14)
    assert lines[0] == "wdbc: 14 of 1400 models, 20 s, about 33 min left"
    assert lines[1] == "wdbc: 28 of 1400 models, 40 s, about 33 min left"
    assert lines[-1] == "wdbc: 1400 of 1400 models, 33 min"


def test_models_before_the_first_split_is_done_say_nothing_of_the_end() -> None:
    lines = lines_of([(7, 8.0)] * 40, workers=1, first=14)
    assert lines[0] == "wdbc: 7 of 280 models, 8 s"
    assert lines[1] == "wdbc: 14 of 280 models, 16 s, about 5 min left"


def test_with_few_splits_a_tenth_of_the_models_is_enough() -> None:
    assert lines_of([(2, 60.0)] * 7, workers=1, first=14)[0].endswith("60 s, about 6 min left")


def test_progress_is_shown_every_few_seconds_and_at_the_end() -> None:
    lines = lines_of([(2, 1.0)] * 10, workers=1, first=2)
    assert lines == [
        "wdbc: 2 of 20 models, 1 s, about 9 s left",
        "wdbc: 12 of 20 models, 6 s, about 4 s left",
        "wdbc: 20 of 20 models, 10 s",
    ]
    assert lines_of([(2, 0.5)] * 10, workers=1, first=2) == [
        "wdbc: 20 of 20 models, 5 s",
    ]


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
