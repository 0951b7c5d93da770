"""Publishing: write a new database file beside the release, audit it, rename it into place.

A released file is never written twice: a reader that holds it open keeps the complete earlier
release, all others get the complete new one. Until the rename the file is in a private folder.
Copies in other formats are put in place just before it, and taken back if publishing fails.
One build at a time publishes; it removes files that a killed one left behind.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from dbt_anonymize.errors import PublishError, safe_reason
from dbt_anonymize.literals import quote_name, quote_text
from dbt_anonymize.release.audit import about_table, audit, open_file
from dbt_anonymize.release.composition import Composition, check_composition
from dbt_anonymize.release.copies import places_of_copies, write_copies
from dbt_anonymize.release.lock import exclusive_publication

RELEASE_MODE = 0o644
FOLDER_MODE = 0o755
# Readers such as BI drivers are usually older than the writer.
STORAGE_VERSION = "v1.4.0"
_RECORDS = "dbt_anonymize_records"
# Types that Arrow does not have: between engines they travel as text.
_NOT_IN_ARROW = re.compile(r"\b(BIT|TIME WITH TIME ZONE)\b")


def publish(
    session: DuckDBPyConnection,
    *,
    relation: str,
    table: str,
    folder: str,
    path: str,
    composition: Mapping[str, Any] | None = None,
    formats: Sequence[str] = ("duckdb",),
    beside: Mapping[str, Any] | None = None,
) -> None:
    """Publish a committed relation, in its row order, as the only table of a DuckDB file.

    ``beside`` it are ``about``, which describes it: another ``relation``, which becomes a table of
    the file too, and ``comments`` on released columns, by name; and ``tables``, relations by name
    that become tables of the file, without copies. Further ``formats`` are copies of that file
    beside it; those of other formats are removed. ``relation`` is a quoted name, ``path`` is
    relative to the project ``folder`` or absolute; its folder is created, an existing file replaced
    atomically. ``composition`` are the fields of a `Composition`. Raises a `PublishError`, without
    a value, and leaves the earlier release in place if the file cannot be written or fails its
    audit, if a strict ``composition`` stops it, or if the lock cannot be had
    (`exclusive_publication`).
    """
    target = Path(folder) / path
    about = (beside or {}).get("about") or {}
    relations = {table: relation} | ({about_table(table): about["relation"]} if about else {})
    copied = [*relations]
    relations |= (beside or {}).get("tables", {})
    comments = about.get("comments", {})
    try:
        _make_folder(target.parent)
        if target.is_symlink():
            # The rename would replace the link, and readers of its target would not notice.
            raise PublishError(
                f"{target} must be a file, since it is replaced as a whole; it is a symbolic link. "
                "The earlier release is unchanged. Remove the link, or set the folder of the "
                "releases (dbt_anonymize_release_folder) to where it leads."
            )
        if target.is_dir():
            raise _obstacle_error(target, target, "it is a folder")
        log = Path(f"{target}.wal")
        with exclusive_publication(target), _stage(target) as stage:
            for path_beside in (log, *places_of_copies(target).values()):
                _require_ours(path_beside, target, is_folder=False)
            _write(session, relations, stage, {table: comments})
            audit(session, relations=relations, stage=stage)
            if composition is not None:
                check_composition(
                    session,
                    table=table,
                    stage=stage,
                    target=target,
                    composition=Composition(**composition),
                )
            copies = write_copies(session, tables=copied, stage=stage, formats=formats)
            for file in (*copies.values(), stage):
                file.chmod(RELEASE_MODE)
                _sync(file)
            # A reader that was killed may have left a log of the earlier file, which would make
            # the new one unreadable.
            log.unlink(missing_ok=True)
            with _copies_in_place(target, copies, stage.parent):
                stage.replace(target)
            # The release is in place, so a file system that cannot sync folders is no failure.
            with contextlib.suppress(OSError):
                _sync(target.parent)
    except PublishError:
        raise
    except Exception as error:
        # dbt prints the chain of errors, with the words of the driver.
        raise _publish_error(target, error) from None


@contextlib.contextmanager
def _copies_in_place(target: Path, copies: Mapping[str, Path], stage: Path) -> Iterator[None]:
    """Put copies in place and remove those of other formats; undo both if the block fails."""
    undo = contextlib.ExitStack()
    with undo:
        for form, place in places_of_copies(target).items():
            backup = stage / f"{place.name}.before"
            if place.exists():
                # A hard link as backup: the path always holds a complete file.
                os.link(place, backup)
                undo.callback(backup.replace, place)
            elif form in copies:
                undo.callback(place.unlink, missing_ok=True)
            if form in copies:
                copies[form].replace(place)
            else:
                place.unlink(missing_ok=True)
        yield
        undo.pop_all()


def _publish_error(target: Path, error: Exception) -> PublishError:
    cause = safe_reason(error)
    remedy = "Build again."
    if isinstance(error, OSError) or "IO Error" in cause or "Could not write file" in cause:
        remedy = "Check that the folder is writable and not full, and build again."
    return PublishError(
        f"{target} could not be published ({cause}). The earlier release is unchanged. {remedy}"
    )


def _make_folder(folder: Path) -> None:
    """Create a folder that others can read, whatever the umask of the build."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        path.chmod(FOLDER_MODE)


@contextlib.contextmanager
def _stage(target: Path) -> Iterator[Path]:
    """Yield a path in a private folder beside ``target``; remove folders of killed builds."""
    start, end = f".{target.name}.", ".stage"
    for leftover in list(target.parent.iterdir()):
        if leftover.name.startswith(start) and leftover.name.endswith(end):
            _require_ours(leftover, target, is_folder=True)
            try:
                shutil.rmtree(leftover)
            except OSError as error:
                raise _obstacle_error(leftover, target, error.strerror or "it is in use") from None
    # Mode 0700, whatever the umask: others cannot read files that the engine creates in it.
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=start, suffix=end))
    try:
        yield folder / target.name
    finally:
        # A folder that cannot be removed does not undo the release; the next build tries again.
        shutil.rmtree(folder, ignore_errors=True)


def _require_ours(path: Path, target: Path, *, is_folder: bool) -> None:
    """Refuse to remove a path that no build of this account can have left."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not (stat.S_ISDIR if is_folder else stat.S_ISREG)(status.st_mode):
        raise _obstacle_error(path, target, f"it is {_kind_of_file(status)}")
    if status.st_uid != os.geteuid():
        raise _obstacle_error(path, target, "it belongs to another account")


def _obstacle_error(path: Path, target: Path, reason: str) -> PublishError:
    return PublishError(
        f"{target} cannot be published while {path} is there, which this build must not remove "
        f"({reason}). The earlier release is unchanged. Look at it, remove it, and build again."
    )


def _kind_of_file(status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link"
    return "a folder" if stat.S_ISDIR(status.st_mode) else "a file"


def _write(
    session: DuckDBPyConnection,
    relations: Mapping[str, str],
    stage: Path,
    comments: Mapping[str, Mapping[str, str]],
) -> None:
    """Stream relations into tables of a file in an engine of its own (see `open_file`)."""
    # Without vacuum: rows arrive in chunks of another size than row groups, and would be rewritten
    # when the file is closed.
    settings = {"storage_compatibility_version": STORAGE_VERSION, "max_vacuum_tasks": "0"}
    with open_file(session, stage, **settings) as file:
        for table, relation in relations.items():
            _write_table(session.cursor(), relation, file, quote_name(table))
            for column, comment in comments.get(table, {}).items():
                place = f"main.{quote_name(table)}.{quote_name(column)}"
                file.execute(f"comment on column {place} is {quote_text(comment)}")
        file.execute("checkpoint")


def _write_table(
    cursor: DuckDBPyConnection, relation: str, file: DuckDBPyConnection, table: str
) -> None:
    described = cursor.execute(f"describe {relation}").fetchall()
    types = {quote_name(name): str(kind) for name, kind, *_ in described}
    columns = ", ".join(f"{name} {kind}" for name, kind in types.items())
    select = ", ".join(
        f"cast({name} as varchar)" if _NOT_IN_ARROW.search(kind) else name
        for name, kind in types.items()
    )
    file.execute(f"create table main.{table} ({columns})")
    records = cursor.sql(f"select {select} from {relation}")  # noqa: S608 (quoted)
    file.register(_RECORDS, records.__arrow_c_stream__())
    file.execute(f"insert into main.{table} from {_RECORDS}")
    file.unregister(_RECORDS)


def _sync(path: Path) -> None:
    """Make a file, or a rename inside a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
