"""The project that `dbt-anonymize new` writes into an empty folder."""

from __future__ import annotations

import random
import re
from importlib.resources import files
from pathlib import Path

from dbt_anonymize.errors import ProjectError
from dbt_anonymize.hierarchies.intervals import equal_width_intervals
from dbt_anonymize.hierarchies.redaction import redact_codes
from dbt_anonymize.hierarchies.seed_csv import hierarchy_csv
from dbt_anonymize.installation.changes import Change, ClosedFolder, FileChange
from dbt_anonymize.installation.project_files import IGNORED, VAULT, package_entry
from dbt_anonymize.spec.yaml_text import block_yaml

_RECORDS = 600
_ZIPS = ("01067", "01069", "01097", "04103", "04105", "04107")
_NAMES = ("Ada", "Bo", "Cleo", "Dilek", "Emil", "Farah", "Gus", "Hana", "Ivo", "Jun")
_SURNAMES = ("Acorn", "Birch", "Cedar", "Dogwood", "Elder", "Fir", "Gorse", "Hazel")
# What a folder may hold that is to become a project.
_HARMLESS = re.compile(r"\..*|README.*|LICENSE.*|requirements.*\.txt|constraints\.txt|pip-log\.txt")
_FILES = {
    "dbt_project.yml": "dbt_project.yml",
    "profiles.yml": "profiles.yml",
    "seeds.yml": "seeds/_seeds.yml",
    "patients.yml": "anonymizations/patients.yml",
}


def starter_changes(root: Path, git: str | None = None) -> list[Change]:
    """Return the files of the starter; a folder that holds anything else is a `ProjectError`."""
    found = [path for path in sorted(root.iterdir()) if not _is_harmless(path)]
    if found:
        raise ProjectError(
            f"{root}: must be in a dbt project, or be empty for a starter; it holds "
            f"{found[0].name}. Change to the project, or name another folder with --project-dir."
        )
    name = _project_name(root)
    content = {
        place: files("dbt_anonymize.installation")
        .joinpath("starter", file)
        .read_text(encoding="utf-8")
        .replace("PROJECT", name)
        for file, place in _FILES.items()
    }
    ages = equal_width_intervals(0, 120, [5, 10, 20, 40])
    content |= {
        "packages.yml": block_yaml({"packages": [package_entry(root, git)]}),
        "seeds/patients.csv": _patients(),
        "seeds/patients_hierarchy_age.csv": hierarchy_csv(ages),
        "seeds/patients_hierarchy_zip.csv": hierarchy_csv(redact_codes(_ZIPS)),
    }
    ignore = root / ".gitignore"
    before = ignore.read_text(encoding="utf-8") if ignore.exists() else None
    ignored = "".join(f"{line}\n" for line in IGNORED)
    return [
        *(FileChange(root / place, None, text) for place, text in content.items()),
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


def _patients() -> str:
    """Return invented patients; the same ones each time."""
    draw = random.Random(1)  # noqa: S311 (nothing secret)
    lines = ["patient_id,name,age,zip,smoker,diagnosis"]
    for number in range(1, _RECORDS + 1):
        name = f"{draw.choice(_NAMES)} {draw.choice(_SURNAMES)}"
        age, is_smoker = draw.randint(18, 90), draw.random() < 0.3
        is_ill = draw.random() < (age - 18) / 90 + 0.35 * is_smoker
        words = ("yes" if is_smoker else "no", "ill" if is_ill else "well")
        lines.append(f"{number},{name},{age},{draw.choice(_ZIPS)},{','.join(words)}")
    return "\n".join(lines) + "\n"
