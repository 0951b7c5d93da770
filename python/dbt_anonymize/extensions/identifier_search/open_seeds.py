"""Seeds with identifiers whose files others can read or git commits."""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dbt_anonymize.errors import AnonymizeError
from dbt_anonymize.project.engines import Diagnosis
from dbt_anonymize.project.layout import Project, find_project
from dbt_anonymize.spec import Spec
from dbt_anonymize.spec.draft import items, mapping
from dbt_anonymize.versions import PACKAGE

_IS_IGNORED, _IS_NOT_IGNORED = 0, 1


@dataclass(frozen=True)
class OpenSeed:
    """A seed with identifiers of an anonymization that others can read, or that git commits."""

    anonymization: str
    file: Path
    columns: tuple[str, ...]
    mode: int | None
    is_ignored: bool | None

    def __str__(self) -> str:
        """Return it as text, without the file."""
        ways, remedies = [], []
        if self.mode is not None:
            ways.append(f"others can read it (mode {self.mode:o})")
            remedies.append("close it (`chmod 600`)")
        if self.is_ignored is False:
            ways.append("git does not ignore it")
            remedies.append("name it in .gitignore, and take it out of what was committed")
        return (
            f"it holds identifiers of {self.anonymization} ({', '.join(self.columns)}), and "
            f"{' and '.join(ways)}. If these people are real, {' and '.join(remedies)}, or load "
            "the table into the vault without a seed; if they are invented, say so in the "
            f"properties of the seed: `meta: {{{PACKAGE}: {{invented: true}}}}`."
        )


def diagnose(root: Path, specs: Sequence[Spec], vault: Path | None) -> Iterator[Diagnosis]:
    """Note seeds that are open."""
    with contextlib.suppress(AnonymizeError):
        for seed in open_seeds(find_project(root), specs):
            yield Diagnosis("seeds", "note", f"{seed.file.as_posix()}: {seed}")


def open_seeds(project: Project, specs: Sequence[Spec]) -> Iterator[OpenSeed]:
    """Yield seeds that have the record key and an identifier of a spec, and are open to others.

    Files and properties are read, dbt and the warehouse are not. A seed whose properties say that
    its people are invented is left out.
    """
    headers = {path: _header(path) for path in sorted(project.seeds.rglob("*.csv"))}
    invented = set(_invented_seeds(project.seeds))
    for path, header in headers.items():
        for spec in specs if path.stem not in invented else ():
            columns = tuple(name for name in spec.identifiers if name.casefold() in header)
            if not columns or spec.record_key.casefold() not in header:
                continue
            mode, is_ignored = _open_mode(path, project.root), _is_ignored(path, project.root)
            if mode is not None or is_ignored is False:
                is_inside = path.is_relative_to(project.root)
                file = path.relative_to(project.root) if is_inside else path
                yield OpenSeed(spec.name, file, columns, mode, is_ignored)


def _header(path: Path) -> frozenset[str]:
    """Return the column names of a file; empty if it cannot be read."""
    with contextlib.suppress(OSError, UnicodeDecodeError, csv.Error, StopIteration):
        with path.open(encoding="utf-8-sig", newline="") as file:
            line = next(file)
        for delimiter in ",;\t|":
            cells = next(csv.reader([line], delimiter=delimiter))
            if len(cells) > 1:
                return frozenset(cell.strip().casefold() for cell in cells)
    return frozenset()


def _invented_seeds(seeds: Path) -> Iterator[str]:
    for path in (*seeds.rglob("*.yml"), *seeds.rglob("*.yaml")):
        content: Any = None
        with contextlib.suppress(OSError, ValueError, yaml.YAMLError):
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
        for seed in map(mapping, items(mapping(content).get("seeds"))):
            for meta in (seed.get("meta"), mapping(seed.get("config")).get("meta")):
                if mapping(mapping(meta).get(PACKAGE)).get("invented") is True:
                    yield str(seed.get("name"))


def _open_mode(path: Path, root: Path) -> int | None:
    """Return the mode of a file that others can reach and read, else None."""
    if os.name != "posix":
        return None
    mode = stat.S_IMODE(path.stat().st_mode)
    folders = itertools.takewhile(lambda folder: folder != root.parent, path.parents)
    is_reached = all(folder.stat().st_mode & stat.S_IXOTH for folder in folders)
    return mode if mode & stat.S_IROTH and is_reached else None


def _is_ignored(path: Path, root: Path) -> bool | None:
    """Tell whether git ignores a file; None where there is no repository."""
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "check-ignore", "--quiet", str(path.resolve())]
    code = subprocess.run(command, cwd=root, check=False, capture_output=True).returncode  # noqa: S603
    return {_IS_IGNORED: True, _IS_NOT_IGNORED: False}.get(code)
