"""Specs that declare inspections wrongly: what is changed, and what the error says."""

from __future__ import annotations

_TWO = "must name two different features"
_NO_LEVEL = "must be a level of the column, 0 to"
WRONG: list[tuple[str, object, str, str]] = [
    (
        "quality.groups",
        ["phone"],
        "quality.groups.phone",
        "must be a quasi-identifier, or a sensitive or insensitive column",
    ),
    ("quality.groups", ["agee"], "quality.groups.agee", "Did you mean age?"),
    ("quality.groups", {"age": 9}, "quality.groups.age", f"{_NO_LEVEL} 3; got 9"),
    ("quality.groups", {"income": 1}, "quality.groups.income", f"{_NO_LEVEL} 0; got 1"),
    ("quality.groups", {"age": -1}, "quality.groups.age", "must be >= 0"),
    ("quality.groups", [], "quality.groups", "must have at least 1 entries"),
    ("quality.decision_grid", ["age", "age"], "quality.decision_grid", _TWO),
    ("quality.decision_grid", ["age", "ill"], "quality.decision_grid", _TWO),
]
