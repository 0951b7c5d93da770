"""Specs with partitions that are declared wrongly: what is changed, and what the error says."""

from __future__ import annotations

WRONG: list[tuple[str, object, str, str]] = [
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
