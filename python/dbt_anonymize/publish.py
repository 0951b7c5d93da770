"""Publishing: write a new database file beside the release, then rename it into place.

A DuckDB file that any other process has open cannot be written, so the released file is never
written twice: a reader that holds it open keeps the complete earlier release, everybody else sees
the complete new one, and at no moment is there half a release.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_anonymize.errors import PublishError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

RELEASE_MODE = 0o644
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
        If the file cannot be written; the earlier release is unchanged.
    """
    target = Path(folder) / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _stage(target) as stage:
            _write(session.cursor(), relation=relation, table=table, stage=stage)
            stage.chmod(RELEASE_MODE)
            _sync(stage)
            # A reader that was killed may have left a log of the earlier file, which would make
            # the new one unreadable.
            Path(f"{target}.wal").unlink(missing_ok=True)
            stage.replace(target)
            _sync(target.parent)
    except Exception as error:
        raise PublishError(
            f"{target} could not be published ({type(error).__name__}: {error}). "
            "The earlier release is unchanged. Check that the folder is writable and not full, "
            "and build again."
        ) from error


@contextlib.contextmanager
def _stage(target: Path) -> Iterator[Path]:
    """Name a file beside ``target``, gone afterwards with what a killed build left there."""
    for left_over in target.parent.glob(f".{target.name}.*.stage*"):
        left_over.unlink(missing_ok=True)
    stage = target.parent / f".{target.name}.{uuid.uuid4().hex}.stage"
    try:
        yield stage
    finally:
        for left_over in stage.parent.glob(f"{stage.name}*"):
            left_over.unlink(missing_ok=True)


def _write(cursor: DuckDBPyConnection, *, relation: str, table: str, stage: Path) -> None:
    # The alias is unique because attached databases are visible to all threads of a build.
    alias = f"stage_{uuid.uuid4().hex}"
    literal = str(stage).replace("'", "''")
    identifier = table.replace('"', '""')
    cursor.execute(f"attach '{literal}' as {alias} (storage_version '{STORAGE_VERSION}')")
    try:
        select = f"select * from {relation}"  # noqa: S608 (quoted by dbt)
        cursor.execute(f'create table {alias}.main."{identifier}" as {select}')
        cursor.execute(f"checkpoint {alias}")
    finally:
        cursor.execute(f"detach {alias}")
        cursor.close()


def _sync(path: Path) -> None:
    """Make a file, or a rename inside a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
