"""Section on models: curves, calibration, decision regions; original against anonymized."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt_anonymize.extensions.report.reading import Findings
from dbt_anonymize.extensions.report.section import Section, number, unmeasured
from dbt_anonymize.project.evidence import Row

_CURVES = {
    "roc": (
        "ROC curve",
        "false positive rate",
        "true positive rate",
        "The closer to the upper left, the better; the diagonal is guessing.",
    ),
    "precision_recall": (
        "Precision-recall curve",
        "recall",
        "precision",
        "The closer to the upper right, the better.",
    ),
}
# Points of a curve: enough for the eye.
_POINTS = 60


def sections(found: Findings) -> list[Section]:
    """Return curves, calibration and decision regions of the model that decides."""
    if found.spec.task != "classification":
        return []
    return [*curves(found), calibration(found), *regions(found)]


def _class(found: Findings, rows: Sequence[Row]) -> str | None:
    """Return the class that curves describe: the positive one, or the last."""
    classes = sorted({str(row["class"]) for row in rows})
    positive = str(found.spec.tests.positive)
    return positive if positive in classes else next(reversed(classes), None)


def _name(effort: Any) -> str:
    return "original" if int(effort) == 0 else f"anonymized (effort {effort})"


def curves(found: Findings) -> list[Section]:
    """Return the curves of the untouched table and of the released effort."""
    rows = found.rows("curves")
    if not rows:
        relation = f"{found.spec.name}_curves"
        return [unmeasured("curves", "ROC and precision-recall curves", relation, found.spec)]
    positive = _class(found, rows)
    built = []
    for key, (title, x, y, sentence) in _CURVES.items():
        data: list[dict[str, Any]] = [
            {"table": _name(effort), **point}
            for effort in sorted({int(row["effort"]) for row in rows})
            for point in _thinned(
                [
                    row
                    for row in rows
                    if row["curve"] == key
                    and row["effort"] == effort
                    and str(row["class"]) == positive
                ]
            )
        ]
        if data:
            built.append(
                Section(
                    key,
                    f"{title} of class {positive}",
                    f"{sentence} Models are tested on {found.spec.tests.test_on} records.",
                    ("learned from", x, y),
                    [(r["table"], r["x"], r["y"]) for r in data],
                    data,
                    "curve",
                    {"x": x, "y": y, "has_diagonal": key == "roc"},
                )
            )
    return built


def _thinned(rows: Sequence[Row]) -> list[dict[str, float]]:
    """Return at most so many points of a curve, the ends among them, in order."""
    # As the threshold falls: recall never falls, and at the same recall precision does.
    way = -1 if rows and rows[0]["curve"] == "precision_recall" else 1
    points = sorted(
        ((number(row["x"]) or 0.0, number(row["y"]) or 0.0) for row in rows),
        key=lambda point: (point[0], way * point[1]),
    )
    if not points:
        return []
    step = max(1, -(-len(points) // _POINTS))
    kept = [*points[::step], points[-1]]
    return [
        {"x": round(x, 4), "y": round(y, 4), "place": place}
        for place, (x, y) in enumerate(dict.fromkeys(kept))
    ]


def calibration(found: Findings) -> Section:
    """Calibration: predicted probabilities against observed frequencies."""
    rows = found.rows("calibration")
    if not rows:
        relation = f"{found.spec.name}_calibration"
        return unmeasured("calibration", "Calibration", relation, found.spec)
    positive = _class(found, rows)
    data: list[dict[str, Any]] = [
        {
            "table": _name(row["effort"]),
            "x": number(row["mean_probability"]),
            "y": number(row["observed_share"]),
            "place": place,
        }
        for place, row in enumerate(sorted(rows, key=lambda row: (row["effort"], row["bin_from"])))
        if str(row["class"]) == positive and int(row["records"]) >= found.fewest
    ]
    return Section(
        "calibration",
        f"Calibration of class {positive}",
        "On the diagonal, what a model says with 70 % comes true in 70 of 100 records.",
        ("learned from", "mean probability", "observed share"),
        [(r["table"], r["x"], r["y"]) for r in data],
        data,
        "curve" if data else None,
        {"x": "mean probability", "y": "observed share", "has_diagonal": True, "has_points": True},
    )


def regions(found: Findings) -> list[Section]:
    """Show what models predict over two features, where that is declared."""
    rows, features = found.rows("decision_grid"), found.spec.tests.decision_grid
    if not rows or features is None:
        return []
    positive = _class(found, rows)
    data: list[dict[str, Any]] = [
        {
            "table": _name(row["effort"]),
            "x": int(row["x"]),
            "y": int(row["y"]),
            "prediction": round(number(row["prediction"]) or 0.0, 3),
        }
        for row in rows
        if str(row["class"]) == positive
    ]
    means = {
        table: [row["prediction"] for row in data if row["table"] == table]
        for table in dict.fromkeys(row["table"] for row in data)
    }
    return [
        Section(
            "regions",
            f"Decision regions of {features[0]} and {features[1]}",
            f"Predictions of the models of the first split for class {positive}. Features are "
            "shown by rank, since their values occur in the source.",
            ("learned from", "points", "mean prediction", "share above one half"),
            [
                (table, len(all_), sum(all_) / len(all_), sum(p > 0.5 for p in all_) / len(all_))
                for table, all_ in means.items()
            ],
            data,
            "regions",
            {"x": f"{features[0]}, rank", "y": f"{features[1]}, rank"},
        )
    ]
