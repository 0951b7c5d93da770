"""The spec of a table about people, of which each test says what is its own."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

IDENTIFIER = {"role": "identifier"}
SENSITIVE = {"role": "sensitive"}
INSENSITIVE = {"role": "insensitive"}
DROPPED = {"role": "dropped"}

_SHARED: dict[str, Any] = {
    "version": 1,
    "guarantees": {"k_anonymity": {"k": 3}},
    "suppression_limit": 0.1,
    "quality": {
        "model": "naive_bayes",
        "measure": "accuracy",
        "repetitions": 2,
        "test_share": 0.3,
        "random_state": 1,
    },
    "alpha": 0.1,
    "qnf": "k",
    "details": "all",
}


def intervals(ref: str, levels: int) -> dict[str, Any]:
    """Return a quasi-identifier of numbers or dates."""
    return _quasi_identifier(ref, "interval", levels)


def categories(ref: str, levels: int) -> dict[str, Any]:
    """Return a quasi-identifier of texts."""
    return _quasi_identifier(ref, "categorical", levels)


def _quasi_identifier(ref: str, kind: str, levels: int) -> dict[str, Any]:
    hierarchy = {"ref": ref, "kind": kind, "levels": levels}
    return {"role": "quasi_identifier", "hierarchy": hierarchy}


def spec_of(name: str, columns: Mapping[str, Any], **own: Any) -> dict[str, Any]:
    """Return a spec as it is read from YAML; ``own`` replaces whole keys, but ``quality`` by parts.

    The source is called ``<name>_source``; nothing is shared with what another call returns.
    """
    whole = {**_SHARED, "name": name, "source": {"ref": f"{name}_source"}, "columns": columns}
    quality = _SHARED["quality"] | own.pop("quality", {})
    return copy.deepcopy(whole | {"quality": quality} | own)
