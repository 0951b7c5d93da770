"""Warnings before a build about features with more categories than a model reads."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from dbt_anonymize.cli import app
from dbt_anonymize.evaluation import limits
from dbt_anonymize.project.category_limits import limits_in_seeds
from dbt_anonymize.spec import load_specs
from dbt_anonymize.spec.hierarchy_levels import ProjectFiles
from tests.spec.declarations import SPEC, write_project


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_CATEGORIES", 4)


def seeds(tmp_path: Path, cities: int, incomes: list[str], **changes: Any) -> Path:
    """Write a project whose hierarchy of cities and source are seeds."""
    project = write_project(tmp_path, {**SPEC, **changes})
    folder = project / "seeds" / "deep"
    folder.mkdir(parents=True)
    spec = yaml.safe_load((project / "anonymizations" / "visits.yml").read_text())
    columns = list(spec["columns"])
    with (folder / f"{spec['source']['ref']}.csv").open("w") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([i if name == "income" else "1" for name in columns] for i in incomes)
    with (folder / "cities.csv").open("w") as file:
        writer = csv.writer(file)
        writer.writerow(["value", "level_1", "level_2"])
        writer.writerows([f"{n:03}", f"{n // 3:03}", "*"] for n in range(cities))
    return project


def said(project: Path) -> list[str]:
    (spec,) = load_specs(project, ["visits"])
    return limits_in_seeds(ProjectFiles(project), spec)


def test_what_fits_is_not_mentioned(tmp_path: Path) -> None:
    assert said(seeds(tmp_path, 4, ["a", "b"])) == []


def test_numbers_are_no_categories(tmp_path: Path) -> None:
    assert said(seeds(tmp_path, 4, [str(n) for n in range(9)])) == []


def test_a_long_hierarchy_is_read_at_the_finest_level_that_fits(tmp_path: Path) -> None:
    project = seeds(tmp_path, 12, ["a"])
    line = (
        "visits: city has 12 values, and models read at most 4: they read it at level 1 (4 "
        "labels), in effort 0 too."
    )
    assert said(project) == [line]
    printed = CliRunner().invoke(app, ["generate", "--project-dir", str(project)])
    assert line in printed.output.replace("\n", " ")


def test_shares_of_leaves_are_not_read_coarser(tmp_path: Path) -> None:
    chosen = {**SPEC["quality"], "model": "logistic_regression", "categories": "leaves"}
    (line,) = said(seeds(tmp_path, 12, ["a"], quality=chosen))
    assert "with categories: leaves the evaluation will stop" in line


def test_a_text_without_a_hierarchy_stops_the_evaluation(tmp_path: Path) -> None:
    (line,) = said(seeds(tmp_path, 4, list("abcdef")))
    assert line.startswith("visits: income has 6 values, and models read at most 4: without")


def test_what_is_no_seed_or_no_csv_is_left_to_the_build(tmp_path: Path) -> None:
    project = seeds(tmp_path, 12, ["a"])
    for path in (project / "seeds").rglob("*.csv"):
        path.write_bytes(b"\xff\xfe broken")
    assert said(project) == []
    assert said(write_project(tmp_path / "none", SPEC)) == []
