"""Specs that declare a recoding wrongly: what is changed, and what the error says."""

from __future__ import annotations

from typing import Any

# An effort that differs per record, beside a guarantee that counts people outside the source.
LEFT_WITHOUT_POPULATION: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"recoding": "multidimensional"}, "k_map", {"k": 5}),
    (
        {"recoding": "local", "rounds": [{"age": 1, "city": 1}]},
        "delta_presence",
        {"minimum": 0, "maximum": 0.5},
    ),
]


WRONG: list[tuple[str, object, str, str]] = [
    (
        "efforts",
        [{"age": {"level": 1, "show": "mode"}, "city": 0}],
        "efforts.1.age.show",
        "must be mean or median of a column whose hierarchy is interval; got mode",
    ),
    (
        "efforts",
        [{"levels": {"age": 1, "city": {"level": 1, "show": "mean"}}, "k": 4}],
        "efforts.1.levels.city.show",
        "must be mode of a column whose hierarchy is categorical; got mean",
    ),
    (
        "efforts",
        [{"age": {"level": 0, "show": "mean"}, "city": 1}],
        "efforts.1.age.level",
        "must be 1 or more where an aggregate is shown",
    ),
    (
        "efforts",
        [{"age": {"level": 9, "show": "mean"}, "city": 1}],
        "efforts.1.age",
        "must be a level of its hierarchy, 0 to 3",
    ),
    (
        "efforts",
        [{"age": {"level": 1, "show": "sum"}, "city": 1}],
        "efforts.1.age.show",
        "mean",
    ),
    (
        "efforts",
        [{"age": {"level": 1}, "city": 1}],
        "efforts.1.age.show",
        "must be given",
    ),
    (
        "efforts",
        [{"age": 1, "city": {"level": 1, "show": "mode", "p_percent": 5}}],
        "efforts.1",
        "must have p_percent only of a mean or median; city is shown as its mode",
    ),
    (
        "efforts",
        [{"age": {"level": 1, "show": "mean", "p_percent": 101}, "city": 1}],
        "efforts.1.age.p_percent",
        "100",
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
        "efforts",
        [{"recoding": "multidimensional", "merge": True}],
        "efforts.1",
        "must have merge only where its recoding is microaggregation or clustering",
    ),
    (
        "efforts",
        [{"recoding": "microaggregation", "method": "mondrian", "merge": True}],
        "efforts.1",
        "must not have merge with method: mondrian, whose groups keep the guarantees",
    ),
    ("efforts", [{"recoding": "clustering", "merge": 3}], "efforts.1.merge", "true or false"),
    (
        "",
        {
            "efforts": [{"recoding": "clustering", "merge": True}],
            "guarantees": {"k_anonymity": {"k": 3}},
        },
        "efforts.1.merge",
        "must have a guarantee beside k_anonymity, which groups keep by their size",
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
    *(
        (
            "",
            {
                "efforts": [{"age": 1, "city": 0}, effort],
                "population": {"ref": "people"},
                "guarantees": {"k_anonymity": {"k": 3}, model: parameters},
            },
            "efforts.2.recoding",
            f"must be full_domain with the guarantee {model}",
        )
        for effort, model, parameters in LEFT_WITHOUT_POPULATION
    ),
]
