"""The vault of a DuckDB project: a file that only its owner can read, in a folder of its own.

DuckDB has no grants and creates files, logs included, by the umask of the process. So every build
first closes the folder and the file and sets a private umask, before any identifier is written.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt_anonymize.errors import VaultError, safe_reason
from dbt_anonymize.literals import quote_path

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


FOLDER_MODE = 0o700
FILE_MODE = 0o600
PRIVATE_UMASK = 0o077
# The last event of each dbt command, even of one that failed or was interrupted.
_END_OF_COMMAND = "CommandCompleted"
_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# Suffix of DuckDB's default folder for rows that do not fit into memory.
_SPILL_SUFFIX = ".tmp"
# Suffix of the file that the macro `_require_closed_vault` looks for.
KEY_SUFFIX = ".key"
KEY_BYTES = 32
LOST_WITH_VAULT = (
    "tokens, draws of samples, keys of masks, members of frozen releases, what was spent, and who "
    "was re-linked and erased"
)
_DAMAGED = re.compile(
    r"not a valid DuckDB database|checksum|corrupt|WAL file|WAL was created|Serialization|INTERNAL",
    re.IGNORECASE,
)
# A drive of Windows has one letter.
_ELSEWHERE = re.compile(r"\w\w+:")


def require_folders(credentials: Any) -> None:
    """Raise a `VaultError` where an attached database file has no folder, or is damaged.

    DuckDB creates the file but no folder, and reports only that it cannot open the file. Relative
    paths of the ``credentials`` (dbt's profile) are read from the working directory.
    """
    for attachment in filter(_is_file, getattr(credentials, "attach", None) or ()):
        folder = Path(attachment.path).absolute().parent
        name = attachment.alias or Path(attachment.path).stem
        if not folder.is_dir():
            parents = "" if folder.parent.is_dir() else "-p "
            raise VaultError(
                f"{name}: its database file must have a folder, which only its owner can read; "
                f"there is no {folder}. Run `mkdir {parents}-m 700 {shlex.quote(str(folder))}`."
            )
        if not (attachment.options or {}).get("encryption_key"):
            _require_sound(name, Path(attachment.path))


def missing_files(credentials: Any) -> dict[str, Path]:
    """Return the attached database files that attaching would create, by lower-case alias.

    Relative paths of the ``credentials`` are read from the working directory.
    """
    return {
        str(attachment.alias or Path(attachment.path).stem).lower(): Path(attachment.path)
        for attachment in getattr(credentials, "attach", None) or ()
        if _would_be_created(attachment)
    }


def existing_attachments(credentials: Any) -> list[Any]:
    """Return the attachments of a profile without those whose files would be created."""
    return [a for a in credentials.attach or () if not _would_be_created(a)]


def missing_vault(file: Path) -> str:
    """Return what is lost with a file of the vault, and the remedy."""
    return (
        f"there is no {file.absolute()}. If there was one, put back a backup of it: a build makes "
        f"a new vault, without what the old one held ({LOST_WITH_VAULT})."
    )


def _is_file(attachment: Any) -> bool:
    """Tell whether an attachment is a local file of DuckDB."""
    # Paths of other kinds may be connection strings with passwords.
    kind = attachment.type or (attachment.options or {}).get("type", "duckdb")
    return str(kind).lower() == "duckdb" and not _ELSEWHERE.match(attachment.path)


def _would_be_created(attachment: Any) -> bool:
    """Tell whether attaching makes a file that does not exist."""
    is_in_memory = attachment.path.startswith(":")
    is_read = attachment.read_only or (attachment.options or {}).get("read_only")
    is_writable_file = _is_file(attachment) and not is_in_memory and not is_read
    return is_writable_file and not Path(attachment.path).exists()


def _require_sound(name: str, file: Path) -> None:
    """Raise a `VaultError` if the content of a database file is damaged."""
    import duckdb  # noqa: PLC0415 (not every adapter has it)

    if not file.is_file() or not file.stat().st_size:
        return
    try:
        duckdb.connect(str(file), read_only=True).close()
    except duckdb.Error as error:
        if not _DAMAGED.search(str(error)):  # locked, open already, or not ours to read
            return
        raise VaultError(
            f"{name}: {file} must be a database file of DuckDB; it is damaged, or none "
            f"({safe_reason(error)}). "
            f"A vault holds what nothing can compute again: {LOST_WITH_VAULT}. "
            f"Keep the file, and put back a backup of it with its log ({file.name}.wal), in a "
            "folder of mode 700 that belongs to whoever builds; then run `dbt build` and "
            "`dbt-anonymize verify`, and repeat erasures since the backup. Only where no "
            "such rows are lost may a build start a new vault: move the file away."
        ) from None


def protect_vault(
    session: DuckDBPyConnection,
    *,
    vault: str,
    warehouse: str,
    project: str,
    release: str,
    is_writing: bool = True,
) -> None:
    """Close folder and file of the vault to everybody but their owner.

    The folder becomes 0700, the database file and its log 0600, if ``is_writing``; a symbolic link
    is followed. Rows that exceed memory are spilled into this folder too, unless the profile sets
    `temp_directory`. ``vault`` and ``warehouse`` are attached databases; a vault that is no local
    file is left alone. ``project`` is the dbt project's folder, against which paths are read,
    ``release`` that of the releases.

    Raises
    ------
    VaultError
        If the vault is the warehouse, or its folder also holds the warehouse, the project or the
        releases, or if others can still read it.
    """
    file = database_file(session, vault)
    if file is None:
        return
    root = Path(project)
    warehouse_file = database_file(session, warehouse)
    if warehouse_file is not None and (root / warehouse_file).samefile(root / file):
        raise VaultError(
            f"{vault}: the vault must be a database file of its own; {root / file} is also the "
            "warehouse, which analysts open. Attach another file in the profile."
        )
    # Others could read the target of a symbolic link.
    path = (root / file).resolve()
    folder = path.parent
    others = {"the dbt project": root, "the release folder": root / release}
    if warehouse_file is not None:
        others["the warehouse"] = root / warehouse_file
    _check_folder(vault, folder, others)
    if is_writing and os.name == "posix":
        _restrict(vault, folder, FOLDER_MODE)
        for vault_file in (path, Path(f"{path}.wal")):
            if vault_file.exists():
                _restrict(vault, vault_file, FILE_MODE)
    _spill_into(session, path, warehouse_file)


def close_vault(session: DuckDBPyConnection, **places: Any) -> None:
    """Call `protect_vault`, and keep all files private that this dbt command creates."""
    protect_vault(session, **places)
    keep_files_private()


@contextlib.contextmanager
def key_beside(file: Path) -> Iterator[None]:
    """Put a key beside a protected vault for SQL, which cannot see permissions; remove it again.

    Draws derive from it, so the operating system draws a new one each time.
    """
    key = Path(f"{file}{KEY_SUFFIX}")
    key.unlink(missing_ok=True)
    with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE), "wb") as stream:
        stream.write(secrets.token_bytes(KEY_BYTES))
    try:
        yield
    finally:
        key.unlink(missing_ok=True)


def keep_files_private() -> None:
    """Set a private umask until the end of dbt's command, however it ends.

    The umask covers the whole process, threads of dbt and DuckDB included; a release gets its mode
    once it is complete. The umask is restored, except when dbt is called from within dbt.
    """
    from dbt_common.events.event_manager_client import add_callback_to_manager  # noqa: PLC0415

    before = os.umask(PRIVATE_UMASK)
    if before != PRIVATE_UMASK:  # else it is private already

        def restore(event: Any) -> None:
            if event.info.name == _END_OF_COMMAND:
                os.umask(before)

        add_callback_to_manager(restore)


@contextlib.contextmanager
def private_files() -> Iterator[None]:
    """Set a private umask until the end of the block."""
    before = os.umask(PRIVATE_UMASK)
    try:
        yield
    finally:
        os.umask(before)


def database_file(session: DuckDBPyConnection, name: str) -> Path | None:
    """Return the file of an attached database, or None if it is in memory or elsewhere."""
    rows = session.execute(
        "select path from duckdb_databases() where lower(database_name) = lower(?)", [name]
    ).fetchall()
    if not rows or not rows[0][0] or not Path(rows[0][0]).is_file():
        return None
    return Path(rows[0][0])


def _check_folder(vault: str, folder: Path, others: dict[str, Path]) -> None:
    for owner, path in others.items():
        if path.resolve().is_relative_to(folder):
            raise VaultError(
                f"{vault}: the vault must be in a folder of its own, since it is closed to "
                f"everybody else; {folder} also holds {owner}. Attach the vault in another folder, "
                "such as vault/vault.duckdb, and move the file there."
            )


def _restrict(vault: str, path: Path, mode: int) -> None:
    """Take all rights from group and others, and check the result."""
    try:
        if stat.S_IMODE(path.stat().st_mode) != mode:
            path.chmod(mode)
        mode_now = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise VaultError(
            f"{vault}: {path} must be closed to others, which failed ({error.strerror}). "
            f"Let its owner run `chmod {mode:o}`, or build as its owner."
        ) from error
    if mode_now & _FOR_OTHERS:
        raise VaultError(
            f"{vault}: {path} must be closed to others; its mode is still {mode_now:o}. "
            "Attach the vault on a file system that keeps modes."
        )


def _spill_into(session: DuckDBPyConnection, vault_file: Path, warehouse: Path | None) -> None:
    """Keep identifiers that do not fit into memory from being spilled beside the warehouse."""
    ((current,),) = session.execute("select current_setting('temp_directory')").fetchall()
    # The default lies beside the warehouse; anything else is a setting of the profile.
    default = f"{warehouse}{_SPILL_SUFFIX}" if warehouse else _SPILL_SUFFIX
    if current != default:
        return
    session.execute(
        f"set global temp_directory = {quote_path(Path(f'{vault_file}{_SPILL_SUFFIX}'))}"
    )
