"""A stranger's project whose efforts show aggregates of classes, and random tables for it."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from dbt_anonymize.project.generate import generate
from tests.projects import Project, copy_consumer

K = 3
JOBS = {"nurse": "health", "doctor": "health", "clerk": "office", "lawyer": "office"}
HEAD = ("id", "name", "age", "income", "job", "sick")
# Widths of the levels below the root, all from 20 to 80.
WIDTHS = {"age": (10, 20), "income": (15, 30)}
LEVELS: dict[str, Any] = {
    "age": {"level": 2, "show": "mean"},
    "income": 2,
    "job": {"level": 1, "show": "mode"},
}
CELLS: dict[str, Any] = {
    "recoding": "cell_suppression",
    "levels": {
        "age": {"level": 1, "show": "mean", "p_percent": 20},
        "income": {"level": 1, "show": "median", "p_percent": 5},
        "job": {"level": 1, "show": "mode"},
    },
}
ROOT: dict[str, Any] = {
    "levels": {
        "age": {"level": 3, "show": "median"},
        "income": {"level": 2, "show": "mean"},
        "job": 1,
    },
    "k": 4,
}


def _column(ref: str, kind: str, levels: int) -> dict[str, Any]:
    return {
        "role": "quasi_identifier",
        "hierarchy": {"ref": ref, "kind": kind, "levels": levels},
    }


SPEC: dict[str, Any] = {
    "version": 1,
    "name": "wages",
    "source": {"ref": "wages"},
    "record_key": "id",
    "columns": {
        "name": {"role": "identifier", "repeats": "accepted"},
        "age": _column("age", "interval", 3),
        "income": _column("income", "interval", 3),
        "job": _column("job", "categorical", 2),
        "sick": {"role": "sensitive"},
    },
    "target": "sick",
    "features": ["age", "income", "job"],
    "efforts": [LEVELS, CELLS, ROOT],
    "guarantees": {"k_anonymity": {"k": K}},
    "suppression_limit": 0.5,
    "quality": {
        "model": "decision_tree",
        "parameters": {"max_depth": 3},
        "measure": "f1",
        "positive": "yes",
        "repetitions": 2,
        "test_share": 0.3,
        "random_state": 7,
    },
    "alpha": 0.05,
    "qnf": "1 - 1/k",
}
# Of the same table: people with one record and with several, and a sample. What is released does
# not depend on what models learn.
_RELEASED = SPEC | {"release": {"effort": 1}}
SPECS: tuple[dict[str, Any], ...] = (
    _RELEASED,
    _RELEASED | {"name": "workers", "subject": "name", "efforts": [LEVELS, ROOT]},
    _RELEASED | {"name": "drawn", "efforts": [LEVELS, ROOT], "sample": {"share": 0.7}},
)


def label(name: str, value: Any, level: int) -> str:
    """Return the label of a value at a level."""
    if value in ("", None):
        return "*"
    if name == "job":
        return ["*", JOBS[value]][level == 1]
    if level == len(WIDTHS[name]) + 1:
        return "*"
    width = WIDTHS[name][level - 1]
    low = 20 + int((float(value) - 20) // width) * width
    return f"[{low}, {low + width})"


def hierarchy(name: str) -> list[list[str]]:
    """Return the hierarchy of a number."""
    levels = range(1, len(WIDTHS[name]) + 1)
    rows = [["lower_bound", "upper_bound", *(f"level_{n}" for n in (*levels, len(levels) + 1))]]
    for low in range(20, 80, WIDTHS[name][0]):
        labels = [label(name, low, level) for level in levels]
        rows.append([str(low), str(low + WIDTHS[name][0]), *labels, "*"])
    return rows


def people(seed: int, count: int, people_of: int = 2) -> list[list[Any]]:
    """Draw records, some of the same person, some without age or job; incomes are exact."""
    chance = random.Random(seed)
    rows = []
    for number in range(count):
        age = chance.randrange(20, 80)
        rows.append(
            [
                number,
                f"Person {number // chance.randint(1, people_of)}",
                "" if chance.random() < 0.03 else age,
                int(chance.triangular(40, 159, 60)) / 2,
                "" if chance.random() < 0.03 else chance.choice([*JOBS, "nurse"]),
                ["yes", "no"][age < chance.choice((30, 50, 50, 50))],
            ]
        )
    return rows


def write(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_people(project: Project, rows: Iterable[Sequence[Any]]) -> None:
    """Write the source."""
    write(project.folder / "seeds" / "wages.csv", [HEAD, *rows])


def wages_project(
    folder: Path, rows: Iterable[Sequence[Any]], specs: Sequence[dict[str, Any]] = (SPEC,)
) -> Project:
    """Write the project, unbuilt."""
    project = copy_consumer(folder)
    (project.folder / "models" / "unit_tests.yml").unlink()
    (project.folder / "anonymizations" / "customers.yml").unlink()
    seeds = project.folder / "seeds"
    for seed in seeds.iterdir():
        seed.unlink()
    write_people(project, rows)
    for name in WIDTHS:
        write(seeds / f"{name}.csv", hierarchy(name))
    groups = [[job, kind, "*"] for job, kind in JOBS.items()]
    write(seeds / "job.csv", [["value", "level_1", "level_2"], *groups])
    source = {
        "name": "wages",
        "config": {
            "database": "vault",
            "column_types": {"age": "integer", "income": "float8"},
            "meta": {"dbt_anonymize": {"invented": True}},
        },
    }
    (seeds / "_wages.yml").write_text(yaml.safe_dump({"seeds": [source]}), encoding="utf-8")
    write_specs(project, *specs)
    return project


def write_specs(project: Project, *specs: dict[str, Any]) -> None:
    """Write specs, and generate."""
    for spec in specs:
        text = yaml.safe_dump(spec, sort_keys=False)
        file = project.folder / "anonymizations" / f"{spec['name']}.yml"
        file.write_text(text, encoding="utf-8")
    generate(project.folder)
