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
EFFORTS: list[dict[str, Any]] = [
    {"age": {"level": 2, "show": "mean"}, "income": 2, "job": {"level": 1, "show": "mode"}},
    {
        "recoding": "cell_suppression",
        "levels": {
            "age": {"level": 1, "show": "mean", "p_percent": 20},
            "income": {"level": 1, "show": "median", "p_percent": 5},
            "job": {"level": 1, "show": "mode"},
        },
    },
    {
        "levels": {
            "age": {"level": 3, "show": "median"},
            "income": {"level": 2, "show": "mean"},
            "job": 1,
        },
        "k": 4,
    },
]
SPEC: dict[str, Any] = {
    "version": 1,
    "name": "wages",
    "source": {"ref": "wages"},
    "record_key": "id",
    "columns": {
        "name": {"role": "identifier", "repeats": "accepted"},
        "age": {
            "role": "quasi_identifier",
            "hierarchy": {"ref": "ages", "kind": "interval", "levels": 3},
        },
        "income": {
            "role": "quasi_identifier",
            "hierarchy": {"ref": "incomes", "kind": "interval", "levels": 3},
        },
        "job": {
            "role": "quasi_identifier",
            "hierarchy": {"ref": "jobs", "kind": "categorical", "levels": 2},
        },
        "sick": {"role": "sensitive"},
    },
    "target": "sick",
    "features": ["age", "income", "job"],
    "efforts": EFFORTS,
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
    "release": {"effort": 1},
}


def ages(levels: int, widths: Sequence[int]) -> list[list[str]]:
    """Return an interval hierarchy from 20 to 80 whose levels have these widths."""
    rows = [["lower_bound", "upper_bound", *(f"level_{n}" for n in range(1, levels + 1))]]
    for low in range(20, 80, widths[0]):
        labels = [
            f"[{20 + (low - 20) // w * w}, {20 + (low - 20) // w * w + w})" for w in widths
        ]
        rows.append([str(low), str(low + widths[0]), *labels, "*"])
    return rows


def people(seed: int, count: int) -> list[list[Any]]:
    """Draw records: some without age or job, incomes with fractions."""
    chance = random.Random(seed)
    return [
        [
            number,
            f"Person {number}",
            "" if chance.random() < 0.03 else chance.randrange(20, 80),
            f"{chance.triangular(20, 80, 30):.1f}",
            "" if chance.random() < 0.03 else chance.choice([*JOBS, "nurse"]),
            chance.choice(["yes", "no"]),
        ]
        for number in range(count)
    ]


def write(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_people(project: Project, rows: Iterable[Sequence[Any]]) -> None:
    """Write the source."""
    head = ["id", "name", "age", "income", "job", "sick"]
    write(project.folder / "seeds" / "wages.csv", [head, *rows])


def wages_project(folder: Path, rows: Iterable[Sequence[Any]], **changes: Any) -> Project:
    """Write the project, unbuilt."""
    project = copy_consumer(folder)
    (project.folder / "models" / "unit_tests.yml").unlink()
    (project.folder / "anonymizations" / "customers.yml").unlink()
    seeds = project.folder / "seeds"
    write_people(project, rows)
    write(seeds / "ages.csv", ages(3, [10, 20]))
    write(seeds / "incomes.csv", ages(3, [15, 30]))
    write(
        seeds / "jobs.csv",
        [["value", "level_1", "level_2"], *([job, kind, "*"] for job, kind in JOBS.items())],
    )
    declared = {
        "seeds": [
            {"name": name, "config": {"column_types": types}}
            for name, types in (
                ("wages", {"age": "integer", "income": "double"}),
                ("jobs", {"value": "text"}),
            )
        ]
    }
    (seeds / "_wages.yml").write_text(yaml.safe_dump(declared), encoding="utf-8")
    write_spec(project, **changes)
    return project


def write_spec(project: Project, **changes: Any) -> None:
    """Write the spec, and generate."""
    text = yaml.safe_dump(SPEC | changes, sort_keys=False)
    (project.folder / "anonymizations" / "wages.yml").write_text(text, encoding="utf-8")
    generate(project.folder)
