"""A stranger's project with a spec of linked tables: patients, their stays, results of these."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from tests.projects import Project, copy_consumer

K = 4
WARDS = {"eye": "operative", "heart": "operative", "lung": "medical", "skin": "medical"}
TESTS = {"sodium": "blood", "iron": "blood", "glucose": "blood", "protein": "urine"}

_DISPATCH = """
dispatch:
  - macro_namespace: dbt
    search_order: [shop, dbt_anonymize, dbt]
"""


def _intervals(first: int, last: int, width: int, above: int) -> list[tuple[Any, ...]]:
    """Return a hierarchy of intervals of a width, of so many of these, and the root."""
    step = width * above
    rows: list[tuple[Any, ...]] = [("lower_bound", "upper_bound", "level_1", "level_2", "level_3")]
    for lower in range(first, last, width):
        start = first + step * ((lower - first) // step)
        ends = (lower, lower + width)
        rows.append((*ends, f"[{lower}, {lower + width})", f"[{start}, {start + step})", "*"))
    return rows


HIERARCHIES = {
    "clinic_wards": [("value", "level_1", "level_2"), *((w, d, "*") for w, d in WARDS.items())],
    "clinic_tests": [("value", "level_1", "level_2"), *((t, g, "*") for t, g in TESTS.items())],
    "clinic_months": _intervals(1, 13, 1, 6),
    "clinic_ages": _intervals(20, 100, 10, 2),
}


def tables(patients: int, seed: int = 0) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of each table, with its columns before them."""
    draw = np.random.default_rng(seed)
    people: list[tuple[Any, ...]] = [("patient_id", "name", "age", "sex", "returned")]
    stays: list[tuple[Any, ...]] = [("stay_id", "patient_id", "ward", "month", "cost")]
    results: list[tuple[Any, ...]] = [("result_id", "stay_id", "test", "value", "note")]
    for patient in range(1, patients + 1):
        number = int(draw.choice(4, p=[0.1, 0.4, 0.3, 0.2]))
        is_ill = draw.random() < 0.3
        people.append(
            (
                patient,
                f"name {patient}",
                int(draw.integers(20, 90)),
                str(draw.choice(["f", "m"])),
                "yes" if (number > 1 and draw.random() < 0.8) or is_ill else "no",
            )
        )
        for _ in range(number):
            stay = 5000 + len(stays)
            ward = str(draw.choice(list(WARDS), p=[0.1, 0.3, 0.2, 0.4]))
            cost = round(float(draw.gamma(2, 500 + 1000 * is_ill)))
            stays.append((stay, patient, ward, int(draw.integers(1, 13)), cost))
            for _ in range(int(draw.integers(0, 3))):
                test = str(draw.choice(list(TESTS), p=[0.4, 0.1, 0.3, 0.2]))
                results.append((f"r{len(results)}", stay, test, round(float(draw.normal()), 3), ""))
    return {"clinic_patients": people, "clinic_stays": stays, "clinic_results": results}


# A spec as its user writes it.
SPEC = """
version: 1
name: hospital
source: {ref: clinic_patients}
record_key: patient_id
columns:
  name: {role: identifier}
  age: {role: quasi_identifier, hierarchy: {ref: clinic_ages, kind: interval}}
  sex: {role: insensitive}
  returned: {role: insensitive}
linked:
  known_records: 2
  tables:
    stays:
      source: {ref: clinic_stays}
      key: stay_id
      to_subject: patient_id
      suppression_limit: 0.3
      columns:
        ward: {role: quasi_identifier, hierarchy: {ref: clinic_wards, kind: categorical}}
        month: {role: quasi_identifier, hierarchy: {ref: clinic_months, kind: interval}}
        cost: {role: insensitive}
    results:
      source: {ref: clinic_results}
      key: result_id
      to_subject: {stays: stay_id}
      suppression_limit: 0.3
      columns:
        test: {role: quasi_identifier, hierarchy: {ref: clinic_tests, kind: categorical}}
        value: {role: insensitive}
        note: {role: dropped}
  features:
    stays: {count: true, mean: cost, any: {ward: [heart, operative]}}
    results: {count: true}
mapping: token
target: returned
features: [age, sex]
efforts:
  - {levels: {age: 1}, linked: {stays: {ward: 1, month: 3}, results: {test: 1}}}
  - {levels: {age: 1}, linked: {stays: {ward: 2, month: 3}, results: {test: 1}}}
  - {levels: {age: 2}, linked: {stays: {ward: 1, month: 2}, results: {test: 2}}}
  - {levels: {age: 2}, linked: {stays: {ward: 0, month: 0}, results: {test: 0}}}
guarantees:
  k_anonymity: {k: 4}
suppression_limit: 0.1
quality:
  model: decision_tree
  measure: accuracy
  repetitions: 5
  test_share: 0.3
  random_state: 1
alpha: 0.1
qnf: 1 - 1 / k
"""


def spec() -> dict[str, Any]:
    """Return the spec, as YAML reads it."""
    content: dict[str, Any] = yaml.safe_load(SPEC)
    return content


def write(folder: Path, patients: int = 400, **changes: Any) -> Project:
    """Write the project, unbuilt and without its generated models."""
    project = copy_consumer(folder)
    # Seeds are loaded by the package, which prints no line of them.
    project.edit("dbt_project.yml", lambda text: text + _DISPATCH)
    (folder / "anonymizations" / "customers.yml").unlink()
    (folder / "models" / "unit_tests.yml").unlink()
    for name, rows in (tables(patients) | HIERARCHIES).items():
        with (folder / "seeds" / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    seeds = [
        {
            "name": name,
            "config": {"database": "vault", "meta": {"dbt_anonymize": {"invented": True}}},
        }
        for name in tables(1)
    ]
    properties = folder / "seeds" / "hospital.yml"
    properties.write_text(yaml.safe_dump({"version": 2, "seeds": seeds}), encoding="utf-8")
    content = yaml.safe_dump({**spec(), **changes}, sort_keys=False)
    (folder / "anonymizations" / "hospital.yml").write_text(content, encoding="utf-8")
    return project


def forget(project: Project, patient: int) -> None:
    """Let the sources forget one of 400 patients, with her stays and results."""
    stays = {str(row[0]) for row in tables(400)["clinic_stays"] if row[1] == patient}
    for seed, column, gone in (
        ("patients", 0, {str(patient)}),
        ("stays", 1, {str(patient)}),
        ("results", 1, stays),
    ):
        path = project.folder / "seeds" / f"clinic_{seed}.csv"
        lines = path.read_text("utf-8").splitlines(keepends=True)
        kept = [line for line in lines if line.rstrip().split(",")[column] not in gone]
        path.write_text("".join(kept), encoding="utf-8")
    outcome = project.dbt("seed", "-s", "clinic_patients", "clinic_stays", "clinic_results")
    assert outcome.succeeded, outcome.messages
