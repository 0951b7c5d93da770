"""Findings of a report, made up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from dbt_anonymize.extensions.report.reading import Findings
from dbt_anonymize.project.evidence import PARTS, Evidence
from dbt_anonymize.relations import ALL
from dbt_anonymize.spec import Spec
from tests.effort_results import ABOUT, LINES, published, result_of
from tests.extensions import has
from tests.worlds import specs


def spec(**changes: Any) -> Spec:
    """Return the declaration."""
    columns = {
        "age": specs.intervals("ages", 2),
        "town": specs.categories("towns", 2),
        "name": specs.IDENTIFIER,
        "value": specs.SENSITIVE,
    }
    declared = specs.spec_of(
        "people",
        columns,
        record_key="id",
        target="value",
        features=["age", "town"],
        efforts=[{"age": 1, "town": 1}, {"age": 2, "town": 1}],
        quality={"decision_grid": ["age", "town"]} if has("inspection") else {},
        qnf="1 - 1/k",
    )
    return Spec.model_validate(declared | changes)


def _relations() -> dict[str, Any]:
    relations: dict[str, Any] = dict.fromkeys(PARTS)
    relations |= {
        "results": [result_of(effort) for effort in LINES],
        "privacy": [{"effort": 1, "highest_risk": 0.5, "released_records": 98}],
        "risk_profile": [
            {"effort": effort, "risk_from": to / 2, "risk_to": to, "cumulative_share": share}
            for effort in LINES
            for to, share in ((0.1, 0.5), (0.5, 0.8), (1.0, 1.0))
        ],
        "quasi_identifier_risk": [
            {
                "quasi_identifiers": name,
                "size": 1,
                "uniqueness": 0.4,
                "separation": 0.9,
                "distinction": 0.7,
            }
            for name in ("age", "town")
        ],
        "attacks": [
            {
                "attack": "linkage",
                "measure": "highest_success",
                "attribute": None,
                "against": None,
                "main": 0.4,
                "control": 0.3,
                "naive": 0.1,
                "risk": 0.14,
                "declared_limit": 0.5,
                "holds": True,
                "is_warning": False,
                **ABOUT,
            },
            {
                "attack": "composition",
                "measure": "smallest_joint_class",
                "attribute": None,
                "against": "release others",
                "main": 1.0,
                "control": None,
                "naive": None,
                "risk": None,
                "declared_limit": None,
                "holds": None,
                "is_warning": True,
                **ABOUT,
            },
        ],
        "verification": [],
        "history": [
            result_of(1) | {"name": "people", "run_at": datetime(2026, 1, day, tzinfo=UTC)}
            for day in (1, 2)
        ],
    }
    return {part: rows for part, rows in relations.items() if part in {*PARTS, "history"}}


def _parts() -> dict[str, Any]:
    two = [{"effort": 0}, {"effort": 1}]
    curves = [
        row | {"class": "yes", "curve": curve, "x": x, "y": x**0.5}
        for row in two
        for curve in ("roc", "precision_recall")
        for x in (0.0, 0.5, 1.0)
    ]
    parts: dict[str, Any] = {
        "alpha_ranges": [
            {"alpha_from": 0.0, "alpha_to": 0.04, "effort": 0},
            {"alpha_from": 0.04, "alpha_to": 0.2, "effort": 1},
            {"alpha_from": 0.2, "alpha_to": None, "effort": 2},
        ],
        "information_loss": [
            {"effort": effort, "age_loss": effort / 2, "town_loss": effort / 3} for effort in LINES
        ],
        "classes": [
            {"effort": effort, "size_from": size, "classes": 3, "records": 50}
            for effort in LINES
            for size in (1, 5)
        ],
        "curves": curves,
        "calibration": [
            row
            | {
                "class": "yes",
                "bin_from": part / 10,
                "records": 50 if part else 4,
                "mean_probability": part / 10 + 0.05,
                "observed_share": part / 10,
            }
            for row in two
            for part in range(10)
        ],
        "decision_grid": [
            row | {"class": "yes", "x": x, "y": y, "prediction": (x + y) / 4}
            for row in two
            for x in (1, 2)
            for y in (1, 2)
        ],
    }
    for row in parts["alpha_ranges"]:
        row |= {"is_releasable": row["effort"] > 0, "is_usable": row["effort"] == 1}
    return {part: rows for part, rows in parts.items() if part in ALL}


def findings() -> Findings:
    """Return findings in which every part has something to show."""
    return Findings(
        Evidence(
            spec(),
            _relations(),
            "release/dev/people.duckdb",
            is_current=True,
            published=published(),
            is_published=True,
        ),
        _parts(),
        {
            "age": [
                {"effort": 1, "label": "[0, 10)", "records": 60},
                {"effort": 1, "label": None, "records": 10},
                {"effort": 2, "label": "*", "records": 95},
            ],
            "town": [],
        },
        {
            "age": [{"level_1": f"[{a}, {a + 10})", "level_2": "*"} for a in (0, 10, 20, 30)],
            "town": [{"level_1": "north", "level_2": "*"}, {"level_1": "south", "level_2": "*"}],
        },
    )


def wide(columns: int = 30) -> Findings:
    """Return findings of many quasi-identifiers; the loss of each is its number in percent."""
    of, names = findings(), [f"answer_{place:02}" for place in range(columns)]
    declared = {name: specs.categories("answers", 2) for name in names}
    declared_before = of.spec.model_dump(mode="json")
    kept, quality = declared_before["columns"], declared_before["quality"]
    many = spec(
        columns={**declared, "name": kept["name"], "value": kept["value"]},
        features=names,
        efforts=[dict.fromkeys(names, 1), dict.fromkeys(names, 2)],
        quality={k: v for k, v in quality.items() if k != "decision_grid"},
    )
    losses = [
        {"effort": effort} | {f"{name}_loss": place / 100 for place, name in enumerate(names)}
        for effort in LINES
    ]
    return replace(
        of,
        evidence=replace(of.evidence, spec=many),
        parts={**of.parts, "information_loss": losses, "decision_grid": None},
        labels={name: [{"effort": 1, "label": "yes", "records": 60}] for name in names},
        hierarchies={
            name: [{"level_1": "yes", "level_2": "*"}, {"level_1": "no", "level_2": "*"}]
            for name in names
        },
        released=[dict.fromkeys(names, "yes") | {"value": "no"}] * 5,
    )
