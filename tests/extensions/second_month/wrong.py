"""Specs that are frozen wrongly: what is changed, and what the error says."""

from __future__ import annotations

from tests.extensions import has

FROZEN = {"freeze": True, "release": {"effort": 1}}
RELINKING = {"purposes": ["care"], "highest_information_loss": 0.5}
WRONG: list[tuple[str, object, str, str]] = [
    ("freeze", True, "release.effort", "must be the number of the frozen effort"),
    ("release", {"joiners": "wait"}, "release.joiners", "must be publish without freeze"),
    ("", {**FROZEN, "mapping": "none"}, "mapping", "must be class or token where new records wait"),
]
if has("custody"):
    WRONG.append(
        ("", {**FROZEN, "relinking": RELINKING}, "relinking", "must not be declared where new")
    )
