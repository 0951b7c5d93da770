"""Specs with linked tables, for tests of all generated models."""

from __future__ import annotations

from tests.extensions import has
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


def _frozen() -> dict[str, object]:
    """Return the spec with the third effort frozen."""
    return {**declared(), "freeze": True, "release": {"effort": 3, "joiners": "publish"}}


def _frozen_and_recoded() -> dict[str, object]:
    """Return the spec with an effort frozen in which levels of people differ."""
    raw = declared()
    raw["efforts"][0] |= {"recoding": "cell_suppression", "levels": {"age": 0}}
    return {**raw, "freeze": True, "release": {"effort": 1, "joiners": "publish"}}


SPECS = [declared(), _without_models(), _diverse()]
if has("second_month"):
    SPECS.append(_frozen())
if has("second_month") and has("recoding"):
    SPECS.append(_frozen_and_recoded())
