"""The hospital with sensitive columns, of people and of their stays, that are kept diverse."""

from __future__ import annotations

import copy
import csv
import io
from pathlib import Path
from typing import Any

from tests.extensions.linked.hospital import K, spec, write
from tests.projects import Project

DIVERSITY = 2


def changes(*, known_count: bool) -> dict[str, Any]:
    """Return what differs from the spec of the hospital: sex and cost are sensitive."""
    linked = copy.deepcopy(spec()["linked"]) | {"l": DIVERSITY, "known_count": known_count}
    linked["tables"]["stays"]["columns"]["cost"] = {"role": "sensitive"}
    for table in linked["tables"].values():
        table["suppression_limit"] = 1.0
    columns = spec()["columns"]
    columns["sex"] = {"role": "sensitive"}
    levels = {"stays": {"ward": 1, "month": 2}, "results": {"test": 1}}
    return {
        "linked": linked,
        "columns": columns,
        "efforts": [{"levels": {"age": 2}, "linked": levels}],
        "guarantees": {
            "k_anonymity": {"k": K},
            "alpha_k_anonymity": {"attribute": "sex", "alpha": 0.5, "k": K},
        },
        "suppression_limit": 0.5,
        "release": {"effort": 1},
    }


def _few_values(text: str, column: str, key: str) -> str:
    """Return a seed whose column has one of five values."""
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        row[column] = str(int(row[key]) * 7919 // 10 % 5)
    written = io.StringIO()
    writer = csv.DictWriter(written, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue()


def write_diverse(folder: Path, patients: int = 200, *, known_count: bool = False) -> Project:
    """Write the project, unbuilt and without its generated models."""
    project = write(folder, patients, **changes(known_count=known_count))
    for name, column, key in (("patients", "sex", "patient_id"), ("stays", "cost", "stay_id")):
        project.edit(
            f"seeds/clinic_{name}.csv", lambda text, c=column, k=key: _few_values(text, c, k)
        )
    return project
