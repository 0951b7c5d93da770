"""The sections of a report from details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt_anonymize.project.evidence import Evidence, Row
from dbt_anonymize.project.sections import (
    MOST_BARS,
    Section,
    charted_class,
    missing,
    number,
    rounding_unit,
    table_name,
)
from dbt_anonymize.spec import Spec

_MOST_SUBSETS = 15
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


def ranges(evidence: Evidence) -> list[Section]:
    """Return the exact ranges of alpha, and the effort that each would choose."""
    title = "What another alpha would choose"
    rows = evidence.rows("alpha_ranges")
    if not rows:
        return [_unmeasured("ranges", title, f"{evidence.spec.name}_alpha_ranges", evidence.spec)]
    data: list[dict[str, Any]] = [
        {
            "from": number(row["alpha_from"]),
            "to": number(row["alpha_to"]),
            "effort": int(row["effort"]),
            "is_releasable": bool(row["is_releasable"]),
            "is_usable": bool(row["is_usable"]),
        }
        for row in sorted(rows, key=lambda row: row["alpha_from"])
    ]
    breaks = len(data) - 1
    return [
        Section(
            "ranges",
            title,
            f"Q is a line in alpha for each effort, so {breaks} exact break points part the "
            "ranges. Where effort 0, the untouched table, has the highest Q, no effort is worth "
            "what it costs; it is never released. In a usable range both quality and privacy "
            "count.",
            ("alpha from", "alpha to", "highest Q", "may be released", "usable"),
            [
                (
                    r["from"],
                    "no end" if r["to"] is None else r["to"],
                    r["effort"],
                    r["is_releasable"],
                    r["is_usable"],
                )
                for r in data
            ],
            data,
        )
    ]


def risks(evidence: Evidence) -> list[Section]:
    """Show the risk profile: how many records have at most a risk."""
    title = "Risk of being found"
    rows = evidence.rows("risk_profile")
    if not rows:
        return [missing("risks", title, f"{evidence.spec.name}_risk_profile", "dbt build")]
    data: list[dict[str, Any]] = [
        {
            "effort": int(row["effort"]),
            "risk": number(row["risk_to"]),
            "share": number(row["cumulative_share"]),
            "is_chosen": int(row["effort"]) == evidence.effort,
        }
        for row in sorted(rows, key=lambda row: (row["effort"], row["risk_to"]))
    ]
    of_release = evidence.rows("privacy", effort=evidence.effort)
    highest = next((number(row.get("highest_risk")) for row in of_release), None)
    risk_sentence = "" if highest is None else f" The highest risk in the release is {highest:.2%}."
    return [
        Section(
            "risks",
            title,
            "Share of the records whose risk (1 / size of the class) is at most what is given "
            "below: the earlier a line is up, the better people are hidden; the thick line is the "
            f"release.{risk_sentence}",
            ("effort", "risk at most", "share of records"),
            [(r["effort"], r["risk"], r["share"]) for r in data],
            data,
            "risks",
        )
    ]


def columns(evidence: Evidence) -> list[Section]:
    """Return the columns of the untouched table that find people."""
    title = "Which columns find people"
    rows = evidence.rows("quasi_identifier_risk")
    if not rows:
        relation = f"{evidence.spec.name}_quasi_identifier_risk"
        return [missing("columns", title, relation, "dbt build")]
    ordered = sorted(rows, key=lambda row: (-(number(row["uniqueness"]) or 0), row["size"]))
    data: list[dict[str, Any]] = [
        {
            "columns": str(row["quasi_identifiers"]),
            "uniqueness": number(row["uniqueness"]),
            "separation": number(row["separation"]),
            "distinction": number(row["distinction"]),
        }
        for row in ordered[:_MOST_SUBSETS]
    ]
    first = data[0]
    alone = "together single out" if ordered[0]["size"] > 1 else "alone singles out"
    return [
        Section(
            "columns",
            title,
            f"Without generalization, {first['columns']} {alone} "
            f"{first['uniqueness'] or 0:.0%} of the records.{_left_out(rows)}",
            ("columns", "records singled out", "separation", "distinction"),
            [(r["columns"], r["uniqueness"], r["separation"], r["distinction"]) for r in data],
            data[:MOST_BARS],
            "columns",
            is_worst_first=True,
        )
    ]


def _left_out(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say which subsets were not measured: those between the small ones and all columns."""
    *_, largest, most = [0, *sorted({int(row["size"]) for row in rows})]
    if largest >= most - 1:
        return ""
    return f" Subsets of {largest + 1} to {most - 1} of the {most} columns were not measured."


def curves(evidence: Evidence) -> list[Section]:
    """Return the curves of the untouched table and of the released effort."""
    if evidence.spec.task != "classification":
        return []
    rows = evidence.rows("curves")
    if not rows:
        relation = f"{evidence.spec.name}_curves"
        return [_unmeasured("curves", "ROC and precision-recall curves", relation, evidence.spec)]
    positive = charted_class(evidence.spec, rows)
    built = []
    for key, (title, x, y, sentence) in _CURVES.items():
        data: list[dict[str, Any]] = [
            {"table": table_name(effort), **point}
            for effort in sorted({int(row["effort"]) for row in rows})
            for point in _thin(
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
                    f"{sentence} Models are tested on {evidence.spec.tests.test_on} records.",
                    ("learned from", x, y),
                    [(r["table"], r["x"], r["y"]) for r in data],
                    data,
                    "curve",
                    {"x": x, "y": y, "has_diagonal": key == "roc"},
                )
            )
    return built


def _thin(rows: Sequence[Row]) -> list[dict[str, float]]:
    """Return every n-th point of a curve and its end, in order, about `_POINTS` in all."""
    # As the threshold falls: recall never falls, and at the same recall precision does.
    sign = -1 if rows and rows[0]["curve"] == "precision_recall" else 1
    points = sorted(
        ((number(row["x"]) or 0.0, number(row["y"]) or 0.0) for row in rows),
        key=lambda point: (point[0], sign * point[1]),
    )
    if not points:
        return []
    step = max(1, -(-len(points) // _POINTS))
    thinned = [*points[::step], points[-1]]
    return [
        {"x": round(x, 4), "y": round(y, 4), "place": place}
        for place, (x, y) in enumerate(dict.fromkeys(thinned))
    ]


def calibration(evidence: Evidence) -> list[Section]:
    """Return predicted probabilities against observed frequencies."""
    if evidence.spec.task != "classification":
        return []
    rows = evidence.rows("calibration")
    if not rows:
        relation = f"{evidence.spec.name}_calibration"
        return [_unmeasured("calibration", "Calibration", relation, evidence.spec)]
    positive = charted_class(evidence.spec, rows)
    data: list[dict[str, Any]] = [
        {
            "table": table_name(row["effort"]),
            "x": number(row["mean_probability"]),
            "y": number(row["observed_share"]),
            "place": place,
        }
        for place, row in enumerate(sorted(rows, key=lambda row: (row["effort"], row["bin_from"])))
        if str(row["class"]) == positive and int(row["records"]) >= rounding_unit(evidence.spec)
    ]
    return [
        Section(
            "calibration",
            f"Calibration of class {positive}",
            "On the diagonal, what a model says with 70 % comes true in 70 of 100 records.",
            ("learned from", "mean probability", "observed share"),
            [(r["table"], r["x"], r["y"]) for r in data],
            data,
            "curve" if data else None,
            {
                "x": "mean probability",
                "y": "observed share",
                "has_diagonal": True,
                "has_points": True,
            },
        )
    ]


def _unmeasured(key: str, title: str, relation: str, spec: Spec) -> Section:
    """Return a missing part that needs trained models, which a frozen effort has not."""
    if not spec.is_frozen:
        return missing(key, title, relation, "dbt build")
    return Section(
        key,
        title,
        f"Not there: {relation} comes from trained models, and a frozen effort trains none. "
        "Keep the report of the build before the freeze; or remove `freeze` from the spec, run "
        "`dbt-anonymize generate` and `dbt build`, and choose again.",
    )
