"""The six kinds of transformation of the article's figure 2 in one release.

The figure is only drawn, so patients, draws and hierarchies are ours. What the article says of it
is kept: groups of three, and (epsilon, delta) of a sample of six tenths, as every transformation
but the sample is fixed without looking at the data.
"""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from dbt_anonymize.hierarchies import CategoricalHierarchy, IntervalHierarchy
from dbt_anonymize.spec import Spec
from tests.case_studies.building import prepare
from tests.case_studies.preparation import Study
from tests.projects import Project
from tests.worlds.specs import IDENTIFIER, categories, intervals

NAME = "figure_2"
BETA, K = 0.6, 3
# -ln(1 - beta), and the largest chance that more than gamma n of n >= 3 people are drawn; a spec
# has limits, which are above it.
EPSILON, DELTA = 0.9163, 0.2161

PATIENTS = """\
name,age,job,weight,zip,disease,ward,draw
Ada,21,nurse,52.5,81667,E10.1,north,0.11
Ben,28,baker,58,81675,E11.9,south,0.35
Cem,23,bishop,55.2,81612,E10.9,north,0.72
Dora,25,nurse,59.9,81667,E13.0,west,0.58
Elif,22,nurse,51,81610,E11.0,south,0.95
Finn,29,nurse,57.3,81675,E10.1,north,0.91
Gül,34,bishop,71.5,81925,J45.0,west,0.44
Hugo,38,astronaut,74,81927,J44.1,south,0.19
Ines,31,bishop,78.3,81925,J45.9,north,0.83
Jan,36,bishop,70,81929,J40.0,south,0.07
Kim,33,astronaut,79.9,81929,J45.0,west,0.55
Lea,26,nurse,53,81667,J45.0,west,0.31
Max,39,baker,91,81925,E10.1,north,0.40
Noor,24,nurse,54.1,81612,E11.9,west,0.26
"""


def as_decimal(number: float) -> Decimal:
    """Return the number as it is written."""
    return Decimal(str(number))


def patients() -> list[dict[str, str]]:
    """Return the patients; ``draw`` is what each would draw in a build."""
    return list(csv.DictReader(io.StringIO(PATIENTS)))


def _study() -> Study:
    rows = [{name: cell for name, cell in row.items() if name != "draw"} for row in patients()]
    of = {name: tuple(sorted({row[name] for row in rows})) for name in rows[0]}

    def tree(column: str, label: dict[str, str]) -> CategoricalHierarchy:
        values = of[column]
        first = tuple(label.get(value, value) for value in values)
        return CategoricalHierarchy(values, (first, ("*",) * len(values)))

    return Study(
        NAME,
        rows,
        {
            # The mean of the ages 20 to 29 and of 30 to 39.
            "age": _intervals((20, 30, 40), ("24.5 years", "34.5 years")),
            "job": tree("job", dict.fromkeys(("astronaut", "bishop"), "*")),
            "weight": _intervals((40, 60, 80, 100), ("light", "medium", "heavy")),
            "zip": tree("zip", {code: f"{code[:3]}**" for code in of["zip"]}),
            "disease": tree(
                "disease",
                {code: "E10-E14" if code[0] == "E" else "J40-J47" for code in of["disease"]},
            ),
            "ward": CategoricalHierarchy(of["ward"], (("*",) * len(of["ward"]),)),
        },
        texts=("zip",),
    )


def _intervals(bounds: tuple[int, ...], labels: tuple[str, ...]) -> IntervalHierarchy:
    decimals = tuple(map(Decimal, bounds))
    return IntervalHierarchy(decimals[:-1], decimals[1:], (labels, ("*",) * len(labels)))


def spec() -> dict[str, Any]:
    """Return the spec: one release, nothing is predicted."""
    ref = f"{NAME}_hierarchy_"
    return {
        "version": 1,
        "name": NAME,
        "source": {"ref": f"{NAME}_source"},
        "record_key": "record",
        "columns": {
            "name": IDENTIFIER,
            "age": intervals(f"{ref}age", 2),
            "job": categories(f"{ref}job", 2),
            "weight": intervals(f"{ref}weight", 2),
            "zip": categories(f"{ref}zip", 2),
            "disease": categories(f"{ref}disease", 2),
            "ward": categories(f"{ref}ward", 1),
        },
        "efforts": [{"age": 1, "job": 1, "weight": 1, "zip": 1, "disease": 1, "ward": 1}],
        "guarantees": {
            "k_anonymity": {"k": 2},
            "differential_privacy": {"epsilon": EPSILON, "delta": DELTA, "beta": BETA},
        },
        "suppression_limit": 1,
        "qnf": "k",
        "release": {"effort": 1, "recompute": True},
    }


def build(folder: Path) -> Project:
    """Build the release from the draws of `PATIENTS`; the operating system draws otherwise."""
    text = yaml.safe_dump(spec(), sort_keys=False)
    project = prepare(folder, [_study()], {NAME: text})
    assert project.dbt("seed").succeeded
    mechanism = Spec.model_validate(yaml.safe_load(text)).mechanism
    draws = [float(row["draw"]) for row in patients()]
    project.execute(
        f"create table vault.main.{NAME}_sample as select record as person,"
        f" list_extract({draws}, record) as draw, 'record' as identified_by,"
        f" '{mechanism}' as mechanism from {NAME}_source"
    )
    project.build()
    return project


def rows(project: Project) -> list[dict[str, Any]]:
    """Return each patient, and what is released of her: nothing of who is not drawn or too rare."""
    columns = [name for name in patients()[0] if name not in ("name", "draw")]
    released = [f"e.{name}" for name in columns]
    found = project.query(
        f"select d.draw, e.is_suppressed, {', '.join(released)}"
        f" from main.{NAME}_effort_1 as e join vault.main.{NAME}_sample as d"
        " on e.record = d.person order by e.record"
    )
    return [
        {name: patient[name] for name in ("name", *columns, "draw")}
        | {"released": _shown(float(draw), is_suppressed, labels)}
        for patient, (draw, is_suppressed, *labels) in zip(patients(), found, strict=True)
    ]


def _shown(draw: float, is_suppressed: bool, labels: list[str]) -> str:
    if draw >= BETA:
        return "not drawn"
    return "too rare" if is_suppressed else ", ".join(labels).replace("*", "\\*")
