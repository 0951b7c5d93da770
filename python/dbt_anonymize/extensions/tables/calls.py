"""Calls of the package that hides cells: in a process of its own, for a limited time."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dbt_anonymize.arrays import Ints
from dbt_anonymize.extensions.tables import tau
from dbt_anonymize.extensions.tables.errors import TableError

_COMMAND = (sys.executable, "-m", "dbt_anonymize.extensions.tables.tau")


@contextlib.contextmanager
def private_folder(folder: Path) -> Iterator[Path]:
    """Give a folder in a private one, alone, and remove it with all that killed calls left."""
    state = folder.stat()
    if not stat.S_ISDIR(state.st_mode) or stat.S_IMODE(state.st_mode) & 0o077:
        raise TableError(
            f"{folder} must be a folder that nobody else can read, since its files hold values; "
            f"its mode is {stat.S_IMODE(state.st_mode):04o}. Run chmod 700 on it."
        )
    with _alone(folder):
        for left in folder.glob("tau-*"):
            shutil.rmtree(left)
        private = Path(tempfile.mkdtemp(prefix="tau-", dir=folder)).absolute()
        try:
            yield private
        finally:
            shutil.rmtree(private)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other call uses the folder; the lock ends with the process."""
    import fcntl  # noqa: PLC0415 (not on Windows, where nothing is published)

    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def call(private: Path, method: str, seconds: float) -> Ints:
    """Run the package in a process of its own, and end it with its children after its time."""
    variables = {"TMPDIR": str(private), "TMP": str(private), "TEMP": str(private)}
    with subprocess.Popen(  # noqa: S603
        [*command(), str(private)],
        cwd=private,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # it may quote values
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise TableError(
                f"suppression ({method}) must finish within {seconds:g} s; it did not. "
                "Coarsen a dimension, show fewer margins, or give it more time."
            ) from None
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    solution = private / tau.SOLUTION
    if code == 0 and solution.is_file():
        return np.asarray(np.load(solution), dtype=np.int64)
    reason = f"it ended with code {code}"
    if (private / tau.REASON).is_file():
        reason = f"it raised {(private / tau.REASON).read_text(encoding='utf-8')}"
    raise TableError(
        f"suppression ({method}) must return cells to hide; pytauargus returned none: {reason}. "
        "Coarsen a dimension, or protect the table by noise or rounding."
    )


def command() -> Sequence[str]:
    """Return the command that runs the package; a folder is added."""
    return _COMMAND
