"""Parse a project as dbt does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dbt_anonymize.errors import WarehouseError
from dbt_anonymize.project.layout import Project
from dbt_anonymize.project.profile import run_dbt

# Folders and suffixes of the files that dbt reads as text.
_FOLDERS = ("seeds", "models", "macros", "tests", "snapshots", "analyses")
_TEXTS = frozenset({".csv", ".sql", ".yml", ".yaml", ".md", ".py"})


def parse_project(project: Project, options: Sequence[str]) -> Any:
    """Return the manifest of a project, which is the working directory, as dbt reads it."""
    # Silent: dbt's message is in the exception. The manifest of the last build stays for
    # `dbt retry`, and writing another would take as long as parsing.
    words = ["--quiet", "--log-level", "none", "--no-write-json", "parse"]
    outcome = run_dbt([*words, *options])
    if not outcome.success:
        if isinstance(outcome.exception, UnicodeDecodeError):
            raise WarehouseError(_not_utf8(project))
        remedy = "Run `dbt-anonymize new`." if _lacks_packages(outcome) else "See `dbt parse`."
        raise WarehouseError(
            f"{project.root}: must be a project that dbt can parse; got "
            f"{str(outcome.exception).rstrip('.')}. {remedy}"
        )
    return outcome.result


def _lacks_packages(outcome: Any) -> bool:
    """Tell whether packages are declared and not installed."""
    return "dbt deps" in str(outcome.exception)


def _not_utf8(project: Project) -> str:
    """Name the files that dbt cannot read; it names none."""
    folders = {project.seeds, project.models, *(project.root / name for name in _FOLDERS)}
    files = [file for folder in folders for file in folder.rglob("*") if file.suffix in _TEXTS]
    broken = sorted({str(file.relative_to(project.root)) for file in files if not _is_utf8(file)})
    return (
        f"{', '.join(broken[:8]) or project.root}: must be UTF-8, as dbt reads it; got bytes of "
        "another encoding. Convert it, for example `iconv -f LATIN1 -t UTF-8 old.csv > new.csv`."
    )


def _is_utf8(file: Path) -> bool:
    try:
        file.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
