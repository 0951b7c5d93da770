"""The project that `dbt-anonymize new` writes into an empty folder: the files of ``starter``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.extensions.installation.changes import Change, ClosedFolder, FileChange
from dbt_anonymize.extensions.installation.project_files import (
    IGNORED,
    VAULT,
    package_entry,
    with_publishers,
)
from dbt_anonymize.project_file import PROJECT_FILE
from dbt_anonymize.spec.yaml_text import block_yaml

# The patients are invented; PROJECT stands for the name of the project.
FILES = Path(__file__).with_name("starter")
# Names that the folder of a new project may already hold.
_HARMLESS = re.compile(r"\..*|README.*|LICENSE.*|requirements.*\.txt|constraints\.txt|pip-log\.txt")


def starter_changes(
    root: Path, git: str | None = None, published: Sequence[str] | None = None
) -> list[Change]:
    """Return the files of the starter; a folder that holds anything else is a `ProjectError`."""
    obstacles = [path for path in sorted(root.iterdir()) if not _is_harmless(path)]
    if obstacles:
        raise ProjectError(
            f"{root}: must be in a dbt project, or be empty for a starter; it holds "
            f"{obstacles[0].name}. Change to the project, or name another folder with "
            "--project-dir."
        )
    name = _project_name(root)
    content = {
        root / path.relative_to(FILES): path.read_text(encoding="utf-8").replace("PROJECT", name)
        for path in sorted(FILES.rglob("*"))
        if path.is_file()
    }
    declared = root / PROJECT_FILE
    content[declared] = with_publishers(content[declared], published)
    content[root / "packages.yml"] = block_yaml({"packages": [package_entry(root, git)]})
    ignore = root / ".gitignore"
    before = ignore.read_text(encoding="utf-8") if ignore.exists() else None
    ignored = "".join(f"{line}\n" for line in IGNORED)
    return [
        *(FileChange(path, None, text) for path, text in content.items()),
        FileChange(ignore, before, f"{before or ''}{ignored}"),
        ClosedFolder(root / VAULT.parent),
    ]


def _is_harmless(path: Path) -> bool:
    is_environment = (path / "pyvenv.cfg").is_file()
    return is_environment or _HARMLESS.fullmatch(path.name) is not None


def _project_name(root: Path) -> str:
    """Return a name that dbt takes, from that of the folder."""
    name = re.sub(r"\W+", "_", root.resolve().name.lower(), flags=re.ASCII).strip("_")
    usable = name[:1].isalpha() and name not in {"dbt_anonymize", "dbt"}
    return name if usable else f"starter_{name}".rstrip("_")
