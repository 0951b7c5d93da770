"""Specs with an unknown key."""

from __future__ import annotations

WRONG_KEYS: list[tuple[str, object, str, str]] = [
    ("owner", {"nam": "x"}, "owner.nam", "Did you mean name?"),
    ("columns", {"role": {"rule": "sensitive"}}, "columns.role.rule", "Did you mean role?"),
    ("descripton", "x", "descripton", "Did you mean description?"),
    ("zzz", 1, "zzz", "known keys are version, name"),
    ("columns.age.hierarchy.level", 3, "columns.age.hierarchy.level", "Did you mean levels?"),
    ("guarantees.k_anonymity.K", 2, "guarantees.k_anonymity.K", "Did you mean k?"),
    ("guarantees.l_diversty", {"l": 2}, "guarantees.l_diversty", "Did you mean l_diversity?"),
]
