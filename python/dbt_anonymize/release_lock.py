"""One build at a time publishes a release: a lock that ends with the process that holds it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from dbt_anonymize.errors import PublishError

_LONGEST_NUMBER = 20


@contextlib.contextmanager
def alone(target: Path) -> Iterator[None]:
    """Keep all others from publishing the same release until the end of the block.

    The lock is of the operating system (``flock`` of a file beside the release), so that a killed
    build does not hold it; the file is gone afterwards. Windows has no such lock, nor can a file be
    replaced there that a reader has open: nothing is published on it.

    Parameters
    ----------
    target : pathlib.Path
        The release; its folder exists.

    Raises
    ------
    PublishError
        If another build holds the lock. It does not wait: what it would publish then may already
        be older than what the other has published. Or if the platform has no such lock.
    """
    lock = target.parent / f".{target.name}.lock"
    descriptor = None
    while descriptor is None:
        descriptor = _try(lock, target)
    try:
        yield
    finally:
        # In this order: whoever opened the file before sees that it is no longer the lock.
        with contextlib.suppress(OSError):
            lock.unlink()
        os.close(descriptor)


def _try(lock: Path, target: Path) -> int | None:
    """Lock the file; None where its last holder removed it after it was opened here."""
    try:
        import fcntl  # noqa: PLC0415 (not on Windows)
    except ImportError:
        raise PublishError(
            f"{target} must be published by one build at a time; {sys.platform} has no flock to "
            "make sure of it. Nothing was published. Build on Linux or macOS, on Windows in WSL."
        ) from None
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    with contextlib.ExitStack() as otherwise:
        otherwise.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, _LONGEST_NUMBER, 0).decode() or "unknown"
            raise PublishError(
                f"{target} must be published by one build at a time; process {holder} is "
                "publishing it now. This build has published nothing. When the other one has "
                "ended, build again if its release is not the one that you want."
            ) from None
        if not _is_same(lock, descriptor):
            return None
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        otherwise.pop_all()
    return descriptor


def _is_same(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
