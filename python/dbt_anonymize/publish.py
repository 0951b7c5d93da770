"""Publishing: write a new database file beside the release, audit it, rename it into place.

A DuckDB file that any other process has open cannot be written, so the released file is never
written twice: a reader that holds it open keeps the complete earlier release, everybody else sees
the complete new one, and at no moment is there half a release. Until it is renamed, the new file
is in a folder that only its owner may enter. One build at a time publishes a release; what a
killed one left behind, the next removes.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_anonymize.errors import PublishError, told
from dbt_anonymize.literals import quote_name
from dbt_anonymize.release_audit import attached, audit
from dbt_anonymize.release_lock import alone

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

RELEASE_MODE = 0o644
FOLDER_MODE = 0o755
# Readers such as BI drivers are usually older than the writer.
STORAGE_VERSION = "v1.4.0"


def publish(
    session: DuckDBPyConnection, *, relation: str, table: str, folder: str, path: str
) -> None:
    """Publish a relation as the only table of a DuckDB file.

    Parameters
    ----------
    session : duckdb.DuckDBPyConnection
        Connection that sees ``relation`` (committed).
    relation : str
        Quoted name of the relation to publish; its row order is kept.
    table : str
        Name of the table in the file.
    folder : str
        The dbt project.
    path : str
        The release file, relative to the project or absolute. Its folder is created; an existing
        file is replaced in one step.

    Raises
    ------
    PublishError
        If the file cannot be written, is not what was to be published, or is being published by
        another build, or if the platform has no ``flock`` (Windows); the earlier release is
        unchanged. The message quotes no value of the relation.
    """
    target = Path(folder) / path
    try:
        _make_folder(target.parent)
        if target.is_symlink():
            # The rename would replace the link, and readers of what it leads to would never know.
            raise PublishError(
                f"{target} must be a file, since it is replaced as a whole; it is a symbolic link. "
                "The earlier release is unchanged. Remove the link, or set the folder of the "
                "releases (dbt_anonymize_release_folder) to where it leads."
            )
        with alone(target), _stage(target) as stage:
            _write(session, relation=relation, table=table, stage=stage)
            audit(session, relation=relation, table=table, stage=stage)
            stage.chmod(RELEASE_MODE)
            _sync(stage)
            # A reader that was killed may have left a log of the earlier file, which would make
            # the new one unreadable.
            Path(f"{target}.wal").unlink(missing_ok=True)
            stage.replace(target)
            # The release is in place: a file system that cannot do this has not failed to publish.
            with contextlib.suppress(OSError):
                _sync(target.parent)
    except PublishError:
        raise
    except Exception as error:
        raise PublishError(
            f"{target} could not be published ({told(error)}). "
            "The earlier release is unchanged. Check that the folder is writable and not full, "
            "and build again."
        ) from None  # dbt prints the chain of errors, with the words of the driver


def _make_folder(folder: Path) -> None:
    """Create a folder for readers, whatever the umask of who builds."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        path.chmod(FOLDER_MODE)


@contextlib.contextmanager
def _stage(target: Path) -> Iterator[Path]:
    """Name a file in a private folder beside ``target``; call it only while nobody else publishes.

    The folder is gone afterwards, and with it those that killed builds left.
    """
    start, end = f".{target.name}.", ".stage"
    for left_over in list(target.parent.iterdir()):
        if left_over.name.startswith(start) and left_over.name.endswith(end):
            shutil.rmtree(left_over)
    # Mode 0700, whatever the umask: not even what the engine creates in it can be read by others.
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=start, suffix=end))
    try:
        yield folder / target.name
    finally:
        # What cannot be removed now does not undo the release; the next build tries again.
        shutil.rmtree(folder, ignore_errors=True)


def _write(session: DuckDBPyConnection, *, relation: str, table: str, stage: Path) -> None:
    option = f"storage_version '{STORAGE_VERSION}'"
    with attached(session, stage, option) as (cursor, database):
        select = f"select * from {relation}"  # noqa: S608 (quoted by dbt)
        cursor.execute(f"create table {database}.main.{quote_name(table)} as {select}")
        cursor.execute(f"checkpoint {database}")


def _sync(path: Path) -> None:
    """Make a file, or a rename inside a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
