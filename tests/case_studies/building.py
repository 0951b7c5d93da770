"""Build case studies: seeds and the specs of the pages in a dbt project of their own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbt_anonymize.project.generate import generate
from tests.case_studies.pages import CasePage
from tests.case_studies.preparation import LARGE_STUDIES, STUDIES, Study
from tests.projects import REPOSITORY, Project

_PROJECT = {
    # As the package itself: its macros are found without installing it.
    "name": "dbt_anonymize",
    "version": "1.0",
    "profile": "case_studies",
    "flags": {"send_anonymous_usage_stats": False},
}
_PROFILES = {
    "case_studies": {
        "target": "dev",
        "outputs": {
            "dev": {
                "type": "duckdb",
                "path": "case_studies.duckdb",
                "threads": 1,
                "attach": [{"path": "vault/vault.duckdb", "alias": "vault"}],
            }
        },
    }
}


@dataclass(frozen=True)
class Built:
    """The project as it was built."""

    project: Project

    def rows(self, relation: str) -> list[dict[str, Any]]:
        """Return all rows of a relation in their stored order, by name; NULL is None."""
        with self.project.connection() as connection:
            cursor = connection.execute(f'select * from "{relation}"')
            names = [column[0] for column in cursor.description or []]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def build(folder: Path, names: Sequence[str]) -> Built:
    """Build studies with everything that a user builds: seeds, models and their tests.

    Parameters
    ----------
    folder : Path
        Empty; for the project.
    names : sequence of str
        Which studies; their pages hold the specs.
    """
    project = prepare(
        folder,
        [(STUDIES | LARGE_STUDIES)[name]() for name in names],
        {name: CasePage(name).spec for name in names},
    )
    project.build()
    return Built(project)


def prepare(folder: Path, studies: Iterable[Study], specs: Mapping[str, str]) -> Project:
    """Write seeds and specs into an empty folder, and generate the models of a project of them."""
    for part in ("anonymizations", "models", "seeds", "vault", "release"):
        (folder / part).mkdir()
    (folder / "macros").symlink_to(REPOSITORY / "macros")
    (folder / "dbt_project.yml").write_text(json.dumps(_PROJECT), encoding="utf-8")
    (folder / "profiles.yml").write_text(json.dumps(_PROFILES), encoding="utf-8")
    for study in studies:
        study.write(folder / "seeds")
    for name, spec in specs.items():
        (folder / "anonymizations" / f"{name}.yml").write_text(spec, encoding="utf-8")
    generate(folder)
    return Project(folder, "case_studies.duckdb")
