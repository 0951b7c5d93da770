"""Spread models over all cores; the scores do not depend on their number.

Every model runs with one thread, here and in the workers, so that sums are formed in one order and
no core is used twice. Small work stays in this process: starting others costs more.
"""

from __future__ import annotations

import functools
import os
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.problem import Problem, Task
from dbt_anonymize.evaluation.progress import Progress
from dbt_anonymize.evaluation.scoring import TaskResult, score_task

WORKERS_VARIABLE = "DBT_ANONYMIZE_WORKERS"
# Starting the workers and importing scikit-learn in each takes about this long.
_START_SECONDS = 3.0
# Arrays beyond this many bytes are shared between workers through a file, not copied.
_SHARED_BYTES = 100_000
# Memory of all workers together in bytes, unless their number is set: with the table and the
# database, an evaluation of a million records stays below 4 GB.
_MEMORY = 3_000_000_000
# A model needs about this many matrices of all records: training and test rows, and its copies.
_MATRICES = 3.5
# dbt may run several Python models at once; each uses all cores, so one after the other.
_POOL = threading.Lock()


def worker_count() -> int:
    """Return the number of worker processes: all cores, or ``DBT_ANONYMIZE_WORKERS``.

    Anything but a whole number >= 1 there is an `EvaluationError`.
    """
    import joblib  # noqa: PLC0415

    text = os.environ.get(WORKERS_VARIABLE, "").strip()
    if not text:
        return max(1, int(joblib.cpu_count()))
    if not text.isdecimal() or int(text) < 1:
        raise EvaluationError(
            f"environment variable {WORKERS_VARIABLE} must be a whole number >= 1; got {text!r}. "
            "Correct it, or unset it to use all cores."
        )
    return int(text)


def workers_in_memory(problem: Problem, workers: int) -> int:
    """Return how many of the workers fit into memory, at least one.

    All of them if ``DBT_ANONYMIZE_WORKERS`` is set.
    """
    if os.environ.get(WORKERS_VARIABLE, "").strip():
        return workers
    features = max(space.starts[-1] for effort in problem.efforts for space in effort.own.values())
    numbers = max(target.records for target in problem.targets) * features
    return max(1, min(workers, int(_MEMORY / (8 * _MATRICES * max(1, numbers)))))


def make_tasks(targets: int, repetitions: int, efforts: int, workers: int) -> list[Task]:
    """Return tasks that cover every effort of every repetition of every target once.

    With few repetitions per worker, each effort of a repetition is a task of its own.

    Examples
    --------
    >>> [task.efforts for task in make_tasks(targets=1, repetitions=2, efforts=2, workers=2)]
    [(0,), (1,), (0,), (1,)]
    >>> make_tasks(targets=1, repetitions=4, efforts=2, workers=1)[-1]
    Task(target=0, repetition=4, efforts=(0, 1))
    """
    step = efforts if targets * repetitions >= 4 * workers else 1
    return [
        Task(target, repetition, tuple(range(first, min(first + step, efforts))))
        for target in range(targets)
        for repetition in range(1, repetitions + 1)
        for first in range(0, efforts, step)
    ]


def run_tasks(
    problem: Problem, tasks: Sequence[Task], workers: int, progress: Progress
) -> Iterator[TaskResult]:
    """Yield the results of all tasks as they finish.

    Tasks run here while that is faster, else in at most ``workers`` processes.
    """
    workers = workers_in_memory(problem, workers)
    with _POOL:
        progress.start(min(workers, len(tasks)))
        waiting = list(reversed(tasks))
        while waiting:
            result, seconds = run_quietly(problem, waiting.pop())
            progress.advance(len(result.outcomes), seconds)
            yield result
            is_first = len(waiting) + 1 == len(tasks)  # its seconds include imports
            is_representative = workers > 1 and not (is_first and seconds < _START_SECONDS)
            saved = seconds * len(waiting) * (1.0 - 1.0 / workers)
            if is_representative and saved > _START_SECONDS:
                break
        for result, seconds in _run_in_workers(problem, waiting[::-1], workers):
            progress.advance(len(result.outcomes), seconds)
            yield result


def _run_in_workers(
    problem: Problem, tasks: Sequence[Task], workers: int
) -> Iterator[tuple[TaskResult, float]]:
    if not tasks:
        return
    import joblib  # noqa: PLC0415

    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(
            n_jobs=min(workers, len(tasks)),
            return_as="generator_unordered",
            max_nbytes=_SHARED_BYTES,
        )
        yield from parallel(joblib.delayed(run_quietly)(problem, task) for task in tasks)


def run_quietly(problem: Problem, task: Task) -> tuple[TaskResult, float]:
    """Run a task with one thread and without warnings of scikit-learn; return its seconds, too."""
    with quiet_training():
        started = time.monotonic()
        return score_task(problem, task), time.monotonic() - started


@contextmanager
def quiet_training() -> Iterator[None]:
    """Train with one thread and without warnings of scikit-learn."""
    with _thread_pools().limit(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@functools.cache
def _thread_pools() -> Any:
    """Return the numeric libraries of this process, once those of the models are loaded."""
    import sklearn.ensemble  # noqa: F401, PLC0415

    return import_module("threadpoolctl").ThreadpoolController()
