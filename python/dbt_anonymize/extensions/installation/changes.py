"""Changes of files that are shown before they are made."""

from __future__ import annotations

import difflib
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.pluralize import pluralized
from dbt_anonymize.vault.files import FILE_MODE, FOLDER_MODE

# Diffs of longer new files, and of data, are not shown.
_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class FileChange:
    """The text of a file before (None: there is no file) and after.

    ``is_secret``: lines that stay are not shown, since they may hold passwords.
    """

    path: Path
    before: str | None
    after: str
    is_secret: bool = False

    def description(self, root: Path) -> str:
        """Return the change as a diff; a long new file by its length."""
        name = _relative(self.path, root)
        lines = self.after.splitlines()
        if self.before is None and (len(lines) > _LONGEST_SHOWN or self.path.suffix == ".csv"):
            return f"+++ {name} (new, {pluralized(len(lines), 'line')})"
        diff = difflib.unified_diff(
            (self.before or "").splitlines(),
            lines,
            fromfile=name if self.before is not None else "(nothing)",
            tofile=name,
            lineterm="",
            n=0 if self.is_secret else 2,
        )
        return "\n".join(diff)

    def make(self) -> None:
        """Write the file, its folder included."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        stage = self.path.with_name(f".{self.path.name}.new")
        stage.write_text(self.after, encoding="utf-8", newline="")
        if self.before is not None:
            stage.chmod(self.path.stat().st_mode & 0o777)
        stage.replace(self.path.resolve())


@dataclass(frozen=True)
class ClosedFolder:
    """A folder that only its owner can enter."""

    path: Path

    def description(self, root: Path) -> str:
        """Return the change as a command."""
        verb = "chmod 700" if self.path.is_dir() else "mkdir -m 700"
        return f"{verb} {_relative(self.path, root)}"

    def make(self) -> None:
        """Make the folder, or close it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.mkdir(mode=FOLDER_MODE, exist_ok=True)
        if os.name == "posix":
            self.path.chmod(FOLDER_MODE)


@dataclass(frozen=True)
class ClosedFile:
    """A file that only its owner can read."""

    path: Path

    def description(self, root: Path) -> str:
        """Return the change as a command."""
        return f"chmod 600 {shlex.quote(_relative(self.path, root))}"

    def make(self) -> None:
        """Close the file, where the system knows owners."""
        if os.name == "posix":
            self.path.chmod(FILE_MODE)


Change = FileChange | ClosedFolder | ClosedFile


def describe_changes(changes: Sequence[Change], root: Path) -> str:
    """Return all changes as they are shown before they are made."""
    return "\n".join(change.description(root) for change in changes)


def make(changes: Sequence[Change]) -> None:
    """Make all changes; a file that cannot be written is a `ProjectError`."""
    for change in changes:
        try:
            change.make()
        except OSError as error:
            raise ProjectError(
                f"{change.path}: must be writable; got: {error.strerror}. Change its rights."
            ) from None


def read_text(path: Path) -> str | None:
    """Return the text of a file, None if there is none; one that is no text a `ProjectError`."""
    try:
        return path.read_bytes().decode("utf-8") if path.exists() else None
    except (OSError, UnicodeDecodeError) as error:
        raise ProjectError(
            f"{path}: must be a readable UTF-8 file; got {type(error).__name__}. Correct it."
        ) from None


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
