"""Answers of a protected table, scored beside plain recounts."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dbt_anonymize.extensions.tables.questions import Finest, answers, score


def plain_scores(kind: str, truth: list[float], told: list[float]) -> tuple[float, float]:
    """Score one group by the words of the page."""
    if kind == "share":
        shares = [value / sum(truth) for value in truth]
        equal = [1 / len(truth)] * len(truth)
        own = [value / sum(told) for value in told] if sum(told) else None
        error = [
            sum(abs(a - b) for a, b in zip(shares, other, strict=True)) / 2
            for other in (own, equal)
            if other
        ]
        return (1 - error[0] if own else 0.0), 1 - error[-1]
    if kind == "trend":
        pairs = list(itertools.pairwise(zip(truth, told, strict=True)))
        changes = sum(abs(b[0] - a[0]) for a, b in pairs)
        errors = sum(abs((b[1] - a[1]) - (b[0] - a[0])) for a, b in pairs)
        if not changes:
            return float(errors == 0), 0.0
        return max(0.0, 1 - errors / changes), 0.0
    pairs = list(itertools.combinations(zip(truth, told, strict=True), 2))
    signs = [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in pairs]
    both = sum(x * y for x, y in signs)
    untied = [sum(s[place] != 0 for s in signs) for place in (0, 1)]
    if not untied[0]:
        return float(not untied[1]), 1.0
    if not untied[1]:
        return 0.5, 0.5
    return (both / np.sqrt(untied[0] * untied[1]) + 1) / 2, 0.5


@pytest.mark.parametrize("kind", ["share", "trend", "rank"])
@pytest.mark.parametrize("seed", range(20))
def test_scores_are_those_of_the_definition(kind: str, seed: int) -> None:
    chance = random.Random(seed)
    groups = [
        ([chance.randrange(4) for _ in range(4)], [chance.randrange(4) for _ in range(4)])
        for _ in range(3)
    ]
    truth, told = (np.array(part, dtype=float) for part in zip(*groups, strict=True))
    weights = [sum(t) for t, _ in groups]
    found = [
        plain_scores(kind, list(map(float, t)), list(map(float, a))) if sum(t) else (0.0, 0.0)
        for t, a in groups
    ]
    expected = [np.average([pair[i] for pair in found], weights=weights) for i in (0, 1)]
    assert score(kind, truth, told) == pytest.approx(tuple(expected))


def test_a_group_without_anybody_is_not_asked() -> None:
    assert score("share", np.zeros((2, 3)), np.ones((2, 3))) == (1.0, 0.0)


def test_hidden_cells_answer_nothing_and_coarse_ones_in_equal_parts() -> None:
    rows: list[dict[str, Any]] = [
        {"age": "1-", "ward": "n", "people": 6},
        {"age": "2-", "ward": "n", "people": None},
        {"age": "1-", "ward": None, "people": 50},
        {"age": None, "ward": "s", "people": 70},
    ]
    cells = pd.DataFrame(rows).astype({"people": "Int64"})
    pairs = pd.DataFrame({"label": ["1-", "1-", "2-"], "finest_label": ["11", "10", "20"]})
    wards = pd.DataFrame({"label": ["n", "s"], "finest_label": ["n", "s"]})
    finest = {"age": Finest.of(pairs), "ward": Finest.of(wards)}
    found = answers(cells, ["age", "ward"], ["ward", "age"], "people", finest)
    assert found.tolist() == [[3.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    assert answers(cells, ["age", "ward"], ["ward"], "people", finest).tolist() == [0.0, 70.0]
