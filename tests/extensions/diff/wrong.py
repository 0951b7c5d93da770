"""Specs that declare tolerances wrongly: what is changed, and what the error says."""

from __future__ import annotations

from tests.extensions import has

WRONG: list[tuple[str, object, str, str]] = [
    ("tolerance", {"kk": 1}, "tolerance.kk", "must be a key that we know. Did you mean k?"),
    ("tolerance", {"k": -1}, "tolerance.k", "must be >= 0"),
    ("tolerance", {"suppressed_share": 2}, "tolerance.suppressed_share", "must be <= 1"),
]
if has("second_month"):
    FROZEN = {"freeze": True, "release": {"effort": 1}, "tolerance": {"qf": 0.1}}
    WRONG.append(("", FROZEN, "tolerance.qf", "must not be declared where freeze is true"))
