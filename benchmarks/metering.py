"""CPU time and memory of a process and its workers."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from joblib.externals.loky import get_reusable_executor


class Clock:
    """Seconds on the clock and of all cores."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count what happens meanwhile, worker processes included."""
        started = time.perf_counter(), _cpu_seconds()
        yield
        self.wall = time.perf_counter() - started[0]
        # The time of a worker is known once it has ended.
        get_reusable_executor(reuse=True).shutdown(wait=True)
        self.cpu = _cpu_seconds() - started[1]


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


class Memory:
    """The largest proportional set size of this process and its children, in bytes."""

    def __init__(self) -> None:
        self.before = self.largest = memory_of_tree()

    @contextmanager
    def watched(self, interval: float = 0.2) -> Iterator[None]:
        """Look at it a few times per second."""
        is_done = threading.Event()

        def watch() -> None:
            while not is_done.wait(interval):
                self.largest = max(self.largest, memory_of_tree())

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        yield
        is_done.set()
        watcher.join()


def cpu_of_tree(root: int | None = None) -> tuple[float, float]:
    """Return user and system seconds of a process, or of this one, and of all its children.

    Those that have ended are counted by the parent that waited for them.
    """
    ticks = [0, 0]
    for process in _processes(root):
        try:
            text = (process / "stat").read_text(encoding="ascii", errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        # The name of a program may hold spaces; what follows its bracket does not.
        for place, used in enumerate(text.rpartition(")")[2].split()[11:15]):
            ticks[place % 2] += int(used)
    per_second = os.sysconf("SC_CLK_TCK")
    return ticks[0] / per_second, ticks[1] / per_second


def memory_of_tree(root: int | None = None) -> int:
    """Return the proportional set size of a process, or of this one, and its children, in bytes."""
    total = 0
    for process in _processes(root):
        try:
            rollup = (process / "smaps_rollup").read_text(encoding="ascii")
        except OSError:
            continue
        sizes = [line.split() for line in rollup.splitlines() if line.startswith("Pss:")]
        total += 1024 * sum(int(size[1]) for size in sizes)
    return total


def _processes(root: int | None) -> Iterator[Path]:
    """Yield a process, or this one, and its children, as folders of ``/proc``.

    By the parent that each process names: a list of children is that of a thread, and those of
    Java end while they are read.
    """
    children: dict[int, list[int]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            text = (process / "stat").read_text(encoding="ascii", errors="replace")
        except OSError:  # it has ended meanwhile
            continue
        children.setdefault(int(text.rpartition(")")[2].split()[1]), []).append(int(process.name))
    waiting = [root or os.getpid()]
    while waiting:
        number = waiting.pop()
        yield Path("/proc") / str(number)
        waiting.extend(children.get(number, []))
