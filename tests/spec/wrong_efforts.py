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
    ("efforts", [{"recoding": "mondrian"}], "efforts.1.recoding", "'multidimensional'"),
    ("efforts", [{"recoding": "local"}], "efforts.1", "must have rounds if and only if"),
    (
        "efforts",
        [{"recoding": "local", "rounds": [{"age": 1, "city": 0}, {"age": 1}]}],
        "efforts.1.rounds.2",
        "city is missing",
    ),
    (
        "efforts",
        [{"recoding": "multidimensional", "stict": True}],
        "efforts.1.stict",
        "Did you mean strict?",
    ),
    (
        "efforts",
        [{"recoding": "multidimensional", "method": "mdav"}],
        "efforts.1",
        "must have method only where its recoding is microaggregation",
    ),
    (
        "efforts",
        [{"recoding": "microaggregation", "cluster_size": 4}],
        "efforts.1",
        "must have cluster_size only where its recoding is clustering",
    ),
    (
        "efforts",
        [{"recoding": "clustering", "cluster_size": 6, "passes": 2, "halve": True}],
        "efforts.1",
        "must not have halve with passes: 2",
    ),
    (
        "efforts",
        [{"recoding": "clustering", "cluster_size": 2}],
        "efforts.1.cluster_size",
        "must be at least the k of the effort, 3",
    ),
    (
        "efforts",
        [{"recoding": "clustering", "cluster_size": 5, "halve": True}],
        "efforts.1.halve",
        "must leave clusters of at least 3 records",
    ),
    (
        "efforts",
        [{"recoding": "clustering", "k": 4, "cluster_size": 7, "halve": True}],
        "efforts.1.halve",
        "Write cluster_size: 8 or more",
    ),
    (
        "",
        {"subject": "phone", "efforts": [{"recoding": "clustering"}]},
        "efforts.1.recoding",
        "must not be clustering where a subject is declared",
    ),
    (
        "efforts",
        [{"recoding": "microaggregation", "numbers": "median", "p_percent": 5}],
        "efforts.1",
        "must have p_percent only where means are released",
    ),
    ("efforts", [{"recoding": "microaggregation", "p_percent": 0}], "efforts.1.p_percent", "> 0"),
    (
        "efforts",
        [{"recoding": "microaggregation", "method": "optimal"}],
        "efforts.1.method",
        "but for a single quasi-identifier with intervals",
    ),
]
