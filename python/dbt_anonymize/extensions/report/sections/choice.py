"""Sections on the choice: the qualities of efforts, and the plane of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbt_anonymize.extensions.report.reading import Findings
from dbt_anonymize.project.evidence import Row
from dbt_anonymize.project.sections import Section, number, words
from dbt_anonymize.spec.tested import NO_MODEL

_LOWER_IS_BETTER = {"brier_score", "log_loss", "mae", "rmse"}
# Section on the effort that each range of alpha would choose; the slider reads its data.
RANGES = "ranges"
# Offsets of a number from its point, in shares of the plane.
_SIDES = {
    "right": (0.02, 0.03),
    "left": (-0.02, 0.03),
    "below": (0.02, -0.04),
    "below left": (-0.02, -0.04),
}
_REDRAWN = (
    " How often an effort is chosen when redrawn is its stability over splits of this table, not "
    "the probability that it is best: of two equally good efforts one is above 95 % in half of "
    "simulated tables."
)
_RULES = {
    "max_q": "the highest Q among the efforts that qualify",
    "strongest_non_inferior": "the strongest effort that is not inferior",
    "declared": "that release.effort of the specification names it",
    "frozen": "that it is frozen, and keeps its guarantees",
    "pareto_knee": "the knee of the front of privacy and usefulness",
}


def quality(findings: Findings) -> Section:
    """QF, QNF and Q of each effort."""
    rows = [_effort_row(row) for row in findings.results]
    chosen = findings.chosen
    spec = findings.spec
    name = words(spec.shown_measure)
    sign = "minus " if spec.measure in _LOWER_IS_BETTER else ""
    untested = "" if spec.is_tested else f" ({NO_MODEL})"
    qnf = spec.model_dump(mode="json")["qnf"]
    explained = (
        f"Q is QF + alpha * QNF: QF is {sign}{name}{untested}, QNF is {qnf}, and alpha says what a "
        "unit of QNF is worth." + (_REDRAWN if spec.is_tested else "")
    )
    if not is_measured(findings):
        explained = f"QF is not measured, since no model is trained, nor is Q; QNF is {qnf}."
    return Section(
        "quality",
        "Usefulness QF, privacy QNF, and both in Q",
        f"{verdict(findings)} {explained}",
        ("effort", "k", "QF", "QF from", "QF to", "QNF", "Q", "qualifies", "chosen when redrawn"),
        [
            (
                row["effort"],
                row["k"],
                row["qf"],
                row["low"],
                row["high"],
                row["qnf"],
                row["q"],
                row["qualifies"],
                row["share"],
            )
            for row in rows
        ],
        rows,
        "quality" if is_measured(findings) else None,
        {
            "alpha": alpha_of(findings),
            "chosen": None if chosen is None else int(chosen["effort"]),
            "zero_rule": next(
                (row["zero_rule"] for row in rows if row["zero_rule"] is not None), None
            ),
            "measure": sign + name,
        },
        is_open=True,
    )


def is_measured(findings: Findings) -> bool:
    """Tell whether some effort has a QF: none of a frozen release has."""
    return any(row["qf_mean"] is not None for row in findings.results)


def verdict(findings: Findings) -> str:
    """Say which effort the results chose and by which rule, or why they chose none."""
    rule = _RULES[rule_of(findings)]
    if findings.chosen is not None:
        return f"Effort {findings.chosen['effort']} is chosen; the rule is {rule}."
    able = [str(row["effort"]) for row in findings.results if row["qualifies"]]
    if not able:
        return "No effort qualifies, so none is chosen."
    efforts = f"effort{'s' if len(able) > 1 else ''} {', '.join(able)}"
    return (
        f"No effort is chosen: the rule is {rule}, and of {efforts}, which qualify, it takes none."
    )


def rule_of(findings: Findings) -> str:
    """Return the rule that chose an effort; ``declared`` where the spec names one that may vary."""
    rows = findings.results
    if findings.evidence.is_current and findings.spec.is_frozen:
        return "frozen"
    if any("release.effort is" in str(row["reason"]) for row in rows):
        return "declared"
    if findings.evidence.is_current and findings.spec.release.effort != "auto":
        return "declared"
    return next((str(row["choose"]) for row in rows if row.get("choose")), findings.spec.choose)


def alpha_of(findings: Findings) -> float:
    """Return the alpha of the choice."""
    return next((a for row in findings.results if (a := number(row["alpha"])) is not None), 0.0)


def largest_alpha(findings: Findings, ranges: Sequence[Row]) -> float:
    """Return the end of the slider, beyond the last break point."""
    usable = max((row["to"] or 0.0 for row in ranges), default=0.0)
    return max(usable * 1.1, alpha_of(findings) * 2, 1e-6)


def _effort_row(row: Row) -> dict[str, Any]:
    return {
        "effort": int(row["effort"]),
        "k": None if row["k"] is None else int(row["k"]),
        "qf": number(row["qf_mean"]),
        "low": number(row["qf_low"]),
        "high": number(row["qf_high"]),
        "qnf": number(row["qnf"]),
        "q": number(row["q"]),
        "zero_rule": number(row["zero_rule"]),
        "qualifies": bool(row["qualifies"]),
        "is_chosen": bool(row["is_chosen"]),
        "share": number(row["choice_share"]),
        "suppressed": int(row["suppressed_records"]),
        "reason": str(row["reason"]),
    }


def plane(findings: Findings) -> Section:
    """Show usefulness against privacy, the front, and the zero rule."""
    data: list[dict[str, Any]] = [
        row
        for row in map(_effort_row, findings.results)
        if row["qf"] is not None and row["qnf"] is not None
    ]
    front = on_front([(row["qnf"], row["qf"], row["qualifies"]) for row in data])
    zero = next((row["zero_rule"] for row in data if row["zero_rule"] is not None), None)
    sides = label_sides([(row["qnf"], row["qf"]) for row in data], zero)
    data = [
        {**row, "is_on_front": place in front, "side": side}
        for place, (row, side) in enumerate(zip(data, sides, strict=True))
    ]
    listed = ", ".join(str(row["effort"]) for row in data if row["is_on_front"]) or "none"
    return Section(
        "plane",
        "Privacy against usefulness",
        "Further right is more private, further up more useful. No qualifying effort is better in "
        f"both than those of the front: {listed}."
        + (
            " Below the dashed line, the zero rule, a model learns nothing."
            if findings.spec.is_tested
            else f" Useful is {findings.spec.shown_measure}; {NO_MODEL}."
        ),
        ("effort", "QNF", "QF", "zero rule", "on the front", "qualifies"),
        [
            (r["effort"], r["qnf"], r["qf"], r["zero_rule"], r["is_on_front"], r["qualifies"])
            for r in data
        ],
        data,
        "plane" if data else None,
    )


def label_sides(points: Sequence[tuple[float, float]], zero: float | None = None) -> list[str]:
    """Return for each point on which side its number stands, so that none covers another.

    Distances are in shares of the plane, which reaches to the zero rule.

    Examples
    --------
    >>> label_sides([(0, 0), (1, 1), (0.98, 0.99), (0.5, 0)])
    ['right', 'right', 'left', 'right']
    >>> label_sides([])
    []
    """
    if not points:
        return []
    across, up = [x for x, _ in points], [y for _, y in points] + ([] if zero is None else [zero])
    wide, high = max(across) - min(across) or 1.0, max(up) - min(up) or 1.0
    scaled = [(x / wide, y / high) for x, y in points]
    numbers, chosen = list[tuple[float, float]](), list[str]()
    for place, (x, y) in enumerate(scaled):
        occupied = [*scaled[:place], *scaled[place + 1 :], *numbers]
        places = {name: (x + dx, y + dy) for name, (dx, dy) in _SIDES.items()}
        free = [
            name
            for name, (a, b) in places.items()
            if not any(abs(a - c) < 0.025 and abs(b - d) < 0.04 for c, d in occupied)
        ]
        chosen.append(free[0] if free else "right")
        numbers.append(places[chosen[-1]])
    return chosen


def on_front(points: Sequence[tuple[float, float, bool]]) -> set[int]:
    """Return the places of points that may be chosen and that no other one dominates.

    Examples
    --------
    >>> sorted(on_front([(0, 1, True), (1, 0, True), (0, 0.5, True), (2, 2, False)]))
    [0, 1]
    """
    allowed = [(x, y) for x, y, may in points if may]
    return {
        place
        for place, (x, y, may) in enumerate(points)
        if may and not any(a >= x and b >= y and (a, b) != (x, y) for a, b in allowed)
    }
