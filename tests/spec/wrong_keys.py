"""Specs with an unknown key, or with partitions that are declared wrongly."""

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

WRONG_PARTITIONS: list[tuple[str, object, str, str]] = [
    ("partition_by", "phone", "partition_by", "must not be the record key or an identifier"),
    ("partition_by", "visit_id", "partition_by", "must not be the record key or an identifier"),
    ("partition_by", "mont", "partition_by", "must be a declared column"),
    (
        "",
        {"partition_by": "age", "subject": "phone"},
        "partition_by",
        "must not be declared beside a subject",
    ),
]
