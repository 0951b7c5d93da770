"""Specs that declare re-linking wrongly: what is changed, and what the error says."""

from __future__ import annotations

WRONG: list[tuple[str, object, str, str]] = [
    ("relinking", {"purpose": ["x"]}, "relinking.purpose", "Did you mean purposes?"),
    ("relinking", {"purposes": ["two\nlines"]}, "relinking.purposes.1", "must be one line"),
    ("relinking", {"purposes": []}, "relinking.purposes", "at least 1 entries"),
    (
        "relinking",
        {"purposes": ["care"], "highest_information_loss": 0},
        "relinking.highest_information_loss",
        "must be > 0",
    ),
    (
        "",
        {
            "mapping": "none",
            "relinking": {"purposes": ["care"], "highest_information_loss": 0.5},
        },
        "relinking",
        "must not be declared with mapping none",
    ),
    (
        "relinking",
        {"purposes": ["care"], "highest_information_loss": 0.5, "k": 2},
        "relinking.k",
        "must be at least the k that is guaranteed, 3; got 2",
    ),
]
