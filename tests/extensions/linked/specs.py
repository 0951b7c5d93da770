"""Specs with linked tables, for tests of all generated models."""

from __future__ import annotations

from tests.extensions.linked.test_rules import declared

_KEPT = {"role": "insensitive", "free_text": "accepted", "unique": "accepted"}


def _without_models() -> dict[str, object]:
    """Return the spec without a target, of records of which all and their number are known."""
    raw = declared()
    for key in ("target", "features", "quality", "alpha"):
        del raw[key]
    del raw["linked"]["features"]
    raw["linked"] |= {"known_records": "all", "known_count": True}
    raw["linked"]["tables"]["results"]["columns"]["note"] = _KEPT
    return raw


def _diverse() -> dict[str, object]:
    """Return the spec with sensitive results that are kept diverse."""
    raw = declared()
    raw["linked"] |= {"l": 2, "known_count": True}
    raw["linked"]["tables"]["results"]["columns"]["value"] = {"role": "sensitive"}
    return raw


SPECS = [declared(), _without_models(), _diverse()]
