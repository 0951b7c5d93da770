"""Processes that tests limit, kill and let compete, started by the launcher."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from tests.projects import REPOSITORY

_LONGEST_WAIT = 120.0


@dataclass(frozen=True)
class Child:
    """A started process; wait for each exactly once."""

    launcher: Launcher
    pid: int
    output: Path

    def wait(self) -> int:
        """Return the exit status; negative is the number of the signal that ended it."""
        return int(self.launcher.ask({"wait": self.pid})["status"])

    def is_running(self) -> bool:
        """Tell whether the process still runs; ask only before its status was waited for."""
        return bool(self.launcher.ask({"look": self.pid})["is_running"])

    def kill(self) -> int:
        """Kill the process as `kill -9` does, and return its status: it may have ended before."""
        os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    @contextlib.contextmanager
    def standing_still_with(self, database: Path) -> Iterator[None]:
        """Stop the process at a moment at which nobody else can open a database; then go on."""
        end = time.monotonic() + _LONGEST_WAIT
        is_held_by_it = False
        try:
            while not is_held_by_it:
                assert time.monotonic() < end, f"{database} was never held: {self.said}"
                assert self.is_running(), self.said
                time.sleep(0.005)
                if not self._has_open(database):
                    continue
                os.kill(self.pid, signal.SIGSTOP)
                while self._state() not in {"T", "Z"}:
                    time.sleep(0.001)
                # Only while it stands still: whoever tries would be in its way.
                is_held_by_it = is_held(database)
                if not is_held_by_it:
                    os.kill(self.pid, signal.SIGCONT)
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def _has_open(self, file: Path) -> bool:
        """Tell whether the process has a file open, as Linux reports without touching the file."""
        with contextlib.suppress(FileNotFoundError):  # closed while we look
            opened = Path(f"/proc/{self.pid}/fd").iterdir()
            return any(str(one.readlink()) == str(file.resolve()) for one in opened)
        return False

    def _state(self) -> str:
        """Return the letter that Linux has for the state of the process."""
        return Path(f"/proc/{self.pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]

    @property
    def said(self) -> str:
        """Output so far, stdout and stderr."""
        return self.output.read_text(encoding="utf-8")


class Launcher:
    """The process that starts the others."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started = 0
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("launcher.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
            # A process that is forked must have no threads; numerical libraries start them.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def start(
        self,
        task: str,
        *,
        file_bytes: int | None = None,
        is_powerless: bool = False,
        **arguments: Any,
    ) -> Child:
        """Start a function of ``tasks``.

        Parameters
        ----------
        task : str
            Name of the function.
        file_bytes : int, optional
            No file can grow beyond: a full disk.
        is_powerless : bool, default False
            Modes of files bind it, even if it runs as root.
        **arguments
            Of the function.
        """
        self._started += 1
        output = self._folder / f"output_{self._started}.txt"
        output.touch()
        request = {
            "task": task,
            "arguments": arguments,
            "output": str(output),
            "file_bytes": file_bytes,
            "is_powerless": is_powerless,
        }
        return Child(self, int(self.ask(request)["pid"]), output)

    def dbt(self, folder: Path, *arguments: str, **limits: Any) -> Child:
        """Start a dbt command in a project."""
        return self.start("dbt", folder=str(folder), arguments=list(arguments), **limits)

    def stop(self) -> None:
        """End the launcher."""
        self._process.communicate()


def is_held(database: Path) -> bool:
    """Tell whether another process has a database open for writing."""
    try:
        duckdb.connect(str(database), read_only=True).close()
    except duckdb.IOException as error:
        if "Could not set lock" not in str(error):
            raise
        return True
    return False


def wait_for(path: Path) -> None:
    """Wait until a file is there."""
    end = time.monotonic() + _LONGEST_WAIT
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.005)
