"""Efforts that must be refused; see ``wrong``."""

from __future__ import annotations

from typing import Any

WRONG_EFFORTS: list[tuple[str, Any, str, str]] = [
    ("efforts", [{"levels": {"age": 1}, "k": 5}], "efforts.1.levels", "city is missing"),
    (
        "efforts",
        [{"levels": {"age": 9, "city": 0}}],
        "efforts.1.levels.age",
        "0 to 3; got 9",
    ),
    (
        "efforts",
        [{"levels": {"age": 1, "city": 0}, "k": 2}],
        "efforts.1.k",
        "at least the k that is guaranteed, 3; got 2",
    ),
]
