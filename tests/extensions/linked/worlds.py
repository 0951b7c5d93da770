"""Random graphs of coded tables, as searches of levels are given them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dbt_anonymize.extensions.linked.levels.coded import CodedTables, code_tables

Labels = list[list[str]]


def hierarchy(leaves: int, rng: np.random.Generator) -> Labels:
    """Return the labels of each leaf by level: themselves, random groups of these, and the root."""
    groups = [f"group {group}" for group in rng.integers(0, max(leaves // 2, 1), leaves)]
    return [[str(leaf) for leaf in range(leaves)], groups, ["*"] * leaves]


def declared(labels: dict[str, Labels], **more: Any) -> dict[str, Any]:
    """Return the levels of a table, each label with the share of leaves that it covers."""
    shares = {
        name: [[level.count(label) / len(level) for label in level] for level in levels]
        for name, levels in labels.items()
    }
    smallest = {name: 1 / len(levels[0]) for name, levels in labels.items()}
    return {"labels": labels, "shares": shares, "smallest": smallest, **more}


def world(seed: int, people: int = 24, limits: Sequence[float] = (0.4, 0.4)) -> CodedTables:
    """Return stays of people, and results of these, with hierarchies and sensitive values."""
    rng = np.random.default_rng(seed)
    number = int(people * rng.uniform(1, 2.5))
    leaves = {"ward": 4, "month": 6}
    stays = {"number": np.arange(number), "parent": rng.integers(0, people, number)}
    stays |= {name: rng.integers(0, size, number) for name, size in leaves.items()}
    results = {"number": np.arange(number), "parent": rng.integers(0, number, number)}
    results["test"] = rng.choice(4, number, p=[0.6, 0.2, 0.1, 0.1])
    of_values = np.random.default_rng([seed, 1])
    costs, notes = (of_values.integers(0, 40, number) for _ in range(2))
    tables = {
        "stays": declared(
            {name: hierarchy(size, rng) for name, size in leaves.items()},
            rows=stays,
            over="",
            most_lost=limits[0],
            sensitive=[costs],
        ),
        "results": declared(
            {"test": hierarchy(4, rng)},
            rows=results,
            over="stays",
            most_lost=limits[1],
            sensitive=[notes],
        ),
    }
    return code_tables(np.arange(people), tables, [of_values.integers(0, 20, people)])
