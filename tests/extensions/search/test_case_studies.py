"""Case studies name levels that a search finds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from dbt_anonymize.project.generate import generate
from tests.case_studies.test_studies import Built, CasePage, built, needs
from tests.extensions.search.running import run as search

__all__ = ["built"]


@needs("acute_inflammations")
@pytest.mark.parametrize(
    ("k", "measure", "effort"),
    [
        (15, "classification_metric", 2),
        (15, "loss", 3),
        (20, "classification_metric", 4),
        (25, "classification_metric", 5),
    ],
)
def test_the_search_finds_the_levels_of_the_page(
    built: Built, tmp_path: Path, k: int, measure: str, effort: int
) -> None:
    project = built.project.copy(tmp_path / "project")
    name = "acute_inflammations"
    without = re.compile(r"^efforts:\n(?:  .*\n)+", re.M)
    project.edit(
        f"anonymizations/{name}.yml",
        lambda text: without.sub("", text).replace("{k: 5}", f"{{k: {k}}}"),
    )
    generate(project.folder, [name])
    arguments = ["--measure", measure, "--efforts", "1", "--dry-run"]
    found = search(project, *arguments, name=name)
    assert found.exit_code == 0, found.output
    levels = yaml.safe_load(CasePage(name).spec)["efforts"][effort - 1]["levels"]
    shown = ", ".join(f"{column} {level}" for column, level in levels.items())
    assert f"{shown} loses the least" in " ".join(found.output.split())
