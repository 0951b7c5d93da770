"""One build at a time publishes a release: a lock that ends with the process that holds it."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from dbt_anonymize.errors import PublishError

# Seconds: longer than the largest release takes.
LONGEST_WAIT = 600.0
_PAUSE = 0.05
_LONGEST_NUMBER = 20


@contextlib.contextmanager
def exclusive_publication(target: Path) -> Iterator[None]:
    """Hold the lock of a release (``flock`` of a file beside it) until the end of the block.

    A second build waits for its turn; a killed one holds nothing. A `PublishError` says that
    another build held it for `LONGEST_WAIT`, or that the platform has no ``flock``: on Windows,
    where an open file cannot be replaced either, nothing is published.
    """
    lock = target.parent / f".{target.name}.lock"
    end = time.monotonic() + LONGEST_WAIT
    while (descriptor := _try_lock(lock, target, is_last=time.monotonic() >= end)) is None:
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        # In this order: a process that opened the file before sees that it is no longer the lock.
        with contextlib.suppress(OSError):
            lock.unlink()
        os.close(descriptor)


def _try_lock(lock: Path, target: Path, *, is_last: bool) -> int | None:
    """Lock the file; None if another process holds it, or removed it after it was opened here."""
    try:
        import fcntl  # noqa: PLC0415 (not on Windows)
    except ImportError:
        raise PublishError(
            f"{target} must be published by one build at a time; {sys.platform} has no flock to "
            "make sure of it. Nothing was published. Build on Linux or macOS, on Windows in WSL."
        ) from None
    try:
        # Never through a link: its target would be overwritten as a lock.
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _lock_error(lock, target, os.strerror(error.errno or 0)) from None
    with contextlib.ExitStack() as stack:
        stack.callback(os.close, descriptor)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1 or status.st_uid != os.geteuid():
            raise _lock_error(lock, target, "it is not a file of this account alone")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not is_last:
                return None
            holder = _process_number(os.pread(descriptor, _LONGEST_NUMBER, 0))
            raise PublishError(
                f"{target} must be published by one build at a time; process {holder} is "
                f"publishing it now, and this build has waited for {LONGEST_WAIT:.0f} s. It has "
                "published nothing. End that process if it hangs, and build again."
            ) from None
        if not _is_same(lock, descriptor):
            return None
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        stack.pop_all()
    return descriptor


def _lock_error(lock: Path, target: Path, reason: str) -> PublishError:
    return PublishError(
        f"{target} must be published by one build at a time; the lock {lock} cannot be taken "
        f"({reason}). Nothing was published. Check that the folder is writable; if the lock is "
        "there and no build of another account is running, remove it."
    )


def _process_number(content: bytes) -> str:
    """Return the process number in a lock, and nothing else that it may hold."""
    text = content.decode("ascii", errors="replace")
    return text if text.isdecimal() else "unknown"


def _is_same(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
