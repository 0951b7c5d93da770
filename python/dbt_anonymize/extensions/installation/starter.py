"""The project that `dbt-anonymize new` writes into an empty folder, or around tables as seeds."""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
from collections.abc import Sequence
from pathlib import Path

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.extensions.installation.changes import (
    Change,
    ClosedFile,
    ClosedFolder,
    FileChange,
)
from dbt_anonymize.extensions.installation.project_files import (
    IGNORED,
    VAULT,
    package_entry,
    with_publishers,
)
from dbt_anonymize.literals import yaml_text
from dbt_anonymize.project_file import PROJECT_FILE
from dbt_anonymize.spec.yaml_text import block_yaml

# The patients are invented; PROJECT stands for the name of the project.
FILES = Path(__file__).with_name("starter")
_OF_ANY_PROJECT = (PROJECT_FILE, "profiles.yml")
_TABLE_OF_STARTER = "    patients: {+database: vault}\n"
# Names that the folder of a new project may already hold.
_HARMLESS = re.compile(r"\..*|README.*|LICENSE.*|requirements.*\.txt|constraints\.txt|pip-log\.txt")


_SAMPLED_ROWS, _LEADING_ZERO = 10_000, re.compile(r"0\d+", re.ASCII)


def own_tables(root: Path) -> list[Path]:
    """Return the CSV files in ``seeds``, if the folder holds nothing else there."""
    seeds = root / "seeds"
    files = (
        [path for path in sorted(seeds.iterdir()) if path.name[0] != "."] if seeds.is_dir() else []
    )
    return files if all(path.suffix == ".csv" and path.is_file() for path in files) else []


def starter_changes(
    root: Path, git: str | None = None, published: Sequence[str] | None = None
) -> list[Change]:
    """Return the files of a new project: with an invented table, or for the tables of a folder.

    A folder that holds anything else is a `ProjectError`.
    """
    tables = own_tables(root)
    obstacles = [
        path
        for path in sorted(root.iterdir())
        if not _is_harmless(path) and not (tables and path.name == "seeds")
    ]
    if obstacles:
        raise ProjectError(
            f"{root}: must be in a dbt project, or else be empty or hold tables as CSV in seeds/ "
            f"and nothing else; it holds {obstacles[0].name}. Change to the project, or make a "
            "folder for a new one."
        )
    name = _project_name(root)
    content = {
        root / path.relative_to(FILES): path.read_text(encoding="utf-8").replace("PROJECT", name)
        for path in (
            [FILES / one for one in _OF_ANY_PROJECT] if tables else sorted(FILES.rglob("*"))
        )
        if path.is_file()
    }
    declared = root / PROJECT_FILE
    if tables:
        in_vault = "".join(f"    {yaml_text(one.stem)}: {_settings(one)}\n" for one in tables)
        content[declared] = content[declared].replace(_TABLE_OF_STARTER, in_vault)
    content[declared] = with_publishers(content[declared], published)
    content[root / "packages.yml"] = block_yaml({"packages": [package_entry(root, git)]})
    ignore = root / ".gitignore"
    before = ignore.read_text(encoding="utf-8") if ignore.exists() else None
    # Tables of people do not belong into git.
    ignored = "".join(f"{line}\n" for line in (*IGNORED, *(f"/seeds/{one.name}" for one in tables)))
    return [
        *(FileChange(path, None, text) for path, text in content.items()),
        FileChange(ignore, before, f"{before or ''}{ignored}"),
        ClosedFolder(root / VAULT.parent),
        *map(ClosedFile, tables),
    ]


def _settings(table: Path) -> str:
    """Return the settings of a table of people as a seed: its place, and columns that are texts."""
    texts = ", ".join(f"{yaml_text(name)}: varchar" for name in _columns_with_leading_zeros(table))
    return f"{{+database: vault{f', +column_types: {{{texts}}}' if texts else ''}}}"


def _columns_with_leading_zeros(table: Path) -> list[str]:
    """Return the columns, such as of postcodes, whose digits dbt would read as numbers."""
    found = dict[str, None]()
    with (
        contextlib.suppress(OSError, UnicodeDecodeError, csv.Error),  # dbt reports the error
        table.open(encoding="utf-8-sig", newline="") as lines,
    ):
        for row in itertools.islice(csv.DictReader(lines), _SAMPLED_ROWS):
            cells = ((name, cell) for name, cell in row.items() if isinstance(cell, str))
            found |= {name: None for name, cell in cells if _LEADING_ZERO.fullmatch(cell)}
    return list(found)


def _is_harmless(path: Path) -> bool:
    is_environment = (path / "pyvenv.cfg").is_file()
    return is_environment or _HARMLESS.fullmatch(path.name) is not None


def _project_name(root: Path) -> str:
    """Return a name that dbt takes, from that of the folder."""
    name = re.sub(r"\W+", "_", root.resolve().name.lower(), flags=re.ASCII).strip("_")
    usable = name[:1].isalpha() and name not in {"dbt_anonymize", "dbt"}
    return name if usable else f"starter_{name}".rstrip("_")
