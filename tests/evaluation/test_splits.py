"""The random splits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbt_anonymize.errors import EvaluationError
from dbt_anonymize.evaluation.splits import check_target, seeds, split_records


@given(seed=st.integers(0, 2**32 - 1), sizes=st.lists(st.integers(10, 30), min_size=2, max_size=3))
def test_a_split_is_disjoint_complete_and_has_every_class_in_proportion(
    seed: int, sizes: list[int]
) -> None:
    target = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    split = split_records(target, 0.3, seed)
    together = np.sort(np.concatenate([split.train, split.test]))
    assert np.array_equal(together, np.arange(len(target)))
    tested = np.bincount(target[split.test], minlength=len(sizes))
    assert np.all(np.abs(tested - 0.3 * np.array(sizes)) <= 1)


def test_repetitions_and_random_states_draw_differently_and_again_the_same() -> None:
    drawn = [seeds(state, repetition) for state in (1, 2) for repetition in (1, 2, 3)]
    assert len({seed for pair in drawn for seed in pair}) == 12
    assert drawn == [seeds(state, repetition) for state in (1, 2) for repetition in (1, 2, 3)]


@pytest.mark.parametrize(
    ("target", "classes", "rule"),
    [
        ([0, 0, 0, 0], 1, "at least 2 classes; got 1"),
        ([0, 0, 1, 1, -2], 2, "got 1 NULL of 5"),
        ([0, 0, 0, 0, 1], 2, "got 1 of 2 classes"),
        ([0, 0, 1, 1, 2, 2], 3, "got 4 and 2"),
    ],
)
def test_a_target_that_cannot_be_split_is_refused(
    target: list[int], classes: int, rule: str
) -> None:
    with pytest.raises(EvaluationError, match=rule):
        check_target(np.array(target), classes, 0.3, "label")


def test_a_test_share_beyond_the_table_is_refused() -> None:
    with pytest.raises(EvaluationError, match="test_share"):
        check_target(np.array([0, 0, 1, 1]), 2, 1.0, "label")
