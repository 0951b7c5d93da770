"""Suppression counted on the training records alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from dbt_anonymize.errors import EvaluationError, SearchError
from dbt_anonymize.evaluation.suppression import Recount, check_recountable, training_table

DRAWS = np.random.default_rng(11)
CLASSES = DRAWS.integers(0, 12, 200)
DIAGNOSES = DRAWS.choice(4, 200, p=[0.7, 0.1, 0.1, 0.1])
SUBJECTS = DRAWS.integers(0, 60, 200)
TRAIN = np.sort(DRAWS.permutation(200)[:90])


def suppressed(*guarantees: dict[str, Any], k: int | None = None, **recount: Any) -> list[bool]:
    found = Recount(guarantees, {"diagnosis": DIAGNOSES}, **recount)
    return training_table(found, TRAIN).suppressed(CLASSES, k).tolist()


def test_class_sizes_are_those_of_the_training_records() -> None:
    sizes = Counter(CLASSES[TRAIN])
    expected = [sizes[c] < 8 for c in CLASSES[TRAIN]]
    assert any(expected)
    assert not all(expected)
    assert suppressed({"model": "k_anonymity", "k": 8}) == expected
    assert suppressed({"model": "k_anonymity", "k": 2}, k=8) == expected


def test_people_count_once() -> None:
    people = {c: len({SUBJECTS[i] for i in TRAIN if CLASSES[i] == c}) for c in range(12)}
    expected = [people[c] < 7 for c in CLASSES[TRAIN]]
    assert any(expected)
    assert suppressed({"model": "k_anonymity", "k": 7}, subjects=SUBJECTS) == expected
    assert suppressed({"model": "k_anonymity", "k": 7}) != expected


def test_a_class_needs_different_values_among_the_training_records() -> None:
    values = {c: len({DIAGNOSES[i] for i in TRAIN if CLASSES[i] == c}) for c in range(12)}
    expected = [values[c] < 3 for c in CLASSES[TRAIN]]
    assert any(expected)
    k = {"model": "k_anonymity", "k": 2}
    diversity = {"model": "l_diversity", "attribute": "diagnosis", "l": 3, "variant": "distinct"}
    assert suppressed(k, diversity) == expected


def test_closeness_is_to_the_training_records() -> None:
    shares = np.bincount(DIAGNOSES[TRAIN], minlength=4) / len(TRAIN)
    distances = {}
    for c in range(12):
        own = DIAGNOSES[TRAIN][CLASSES[TRAIN] == c]
        if len(own):
            distances[c] = np.abs(np.bincount(own, minlength=4) / len(own) - shares).sum() / 2
    limit = float(np.median(list(distances.values())))
    expected = [distances[c] > limit + 1e-9 for c in CLASSES[TRAIN]]
    closeness = {"model": "t_closeness", "attribute": "diagnosis", "t": limit, "distance": "equal"}
    assert suppressed({"model": "k_anonymity", "k": 1}, closeness) == expected


def test_listed_values_are_limited_by_their_code() -> None:
    shares = {
        c: np.mean([DIAGNOSES[i] == 2 for i in TRAIN if CLASSES[i] == c])
        for c in set(CLASSES[TRAIN].tolist())
    }
    expected = [shares[c] > 0.15 for c in CLASSES[TRAIN]]
    assert any(expected)
    limited = {"model": "alpha_k_anonymity", "attribute": "diagnosis", "alpha": 0.15, "k": 2}
    assert suppressed({**limited, "values": [2]}) == expected


def test_a_stricter_guarantee_never_suppresses_less() -> None:
    counts = [sum(suppressed({"model": "k_anonymity", "k": k})) for k in range(2, 30)]
    assert counts == sorted(counts)
    assert counts[-1] == len(TRAIN)


def test_a_guarantee_that_can_never_hold_is_told_from_suppression() -> None:
    diversity = {"model": "l_diversity", "attribute": "diagnosis", "l": 5, "variant": "distinct"}
    with pytest.raises(SearchError, match="l <= 4"):
        suppressed(diversity)


@pytest.mark.parametrize(
    "guarantee",
    [
        {"model": "k_map", "k": 3},
        {"model": "delta_presence", "minimum": 0, "maximum": 0.5},
        {"model": "t_closeness", "attribute": "d", "t": 0.2, "distance": "hierarchical"},
    ],
)
def test_guarantees_that_need_more_than_the_records_are_refused(guarantee: dict[str, Any]) -> None:
    with pytest.raises(EvaluationError, match="Use fit: once"):
        check_recountable([guarantee])
