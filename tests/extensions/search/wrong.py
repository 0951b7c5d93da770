"""Specs that declare a search wrongly: what is changed, and what the error says."""

from __future__ import annotations

WRONG: list[tuple[str, object, str, str]] = [
    ("search", {"efforts": 0}, "search.efforts", "must be >= 1"),
    ("search", {"levels": {"aeg": {}}}, "search.levels.aeg", "Did you mean age?"),
    ("search", {"levels": {"age": {"highest": 7}}}, "search.levels.age", "0 to 3"),
    (
        "search",
        {"levels": {"age": {"lowest": 2, "highest": 1}}},
        "search.levels.age",
        "lowest <= highest",
    ),
]
